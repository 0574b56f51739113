//! A customer who wants to buy from a shop whose proxy dies all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proxy::clock::{Clock as _, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use super::counters::Tally;
use super::purchases::Register;
use super::random::Dice;
use super::request::Request;
use crate::sandbox_control::SandboxControl;
use crate::token_signer::TokenSigner;
use crate::wait::pause;
use crate::world::secrets;

/// How somebody buys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    PaysExactly,
    PaysInTwoParts,
    PaysTooMuch,
    PaysTooLittle,
    PaysTooLate,
    /// Takes another asset, and pays the first.
    PaysTheOther,
    /// Takes another asset, and pays both.
    PaysBoth,
    NeverPays,
    /// The store cancels, and the money comes all the same.
    PaysWhatWasCancelled,
    IsStuck,
    OnlyLooks,
}

const WAYS: [(u64, Way, &str); 11] = [
    (30, Way::PaysExactly, "orders paid exactly"),
    (12, Way::PaysInTwoParts, "orders paid in two parts"),
    (9, Way::PaysTooMuch, "orders overpaid"),
    (5, Way::PaysTooLittle, "orders underpaid"),
    (9, Way::PaysTooLate, "orders paid late"),
    (
        8,
        Way::PaysTheOther,
        "orders paid on an attempt that was replaced",
    ),
    (8, Way::PaysBoth, "orders paid twice"),
    (5, Way::NeverPays, "orders never paid"),
    (
        5,
        Way::PaysWhatWasCancelled,
        "orders paid after they were cancelled",
    ),
    (5, Way::IsStuck, "orders whose payment got stuck"),
    (4, Way::OnlyLooks, "orders without an attempt"),
];
const ASSETS: [(u64, &str); 9] = [
    (2, "BTC"),
    (2, "USDTTRC20"),
    (1, "USDTERC20"),
    (1, "ETH"),
    (1, "TRX"),
    (2, "LTC"),
    (1, "DOGE"),
    (1, "BCH"),
    (1, "BNB"),
];
/// The door that somebody comes in by.
#[derive(Clone, Copy, Debug)]
enum Door {
    Server,
    Catalogue,
    OrderToken,
    Donation,
}

/// Orders in a hundred that are paid on the service's own page.
const HOSTED: u64 = 12;
const DOORS: [(u64, Door); 4] = [
    (40, Door::Server),
    (25, Door::Catalogue),
    (20, Door::OrderToken),
    (15, Door::Donation),
];
/// Pauses between two looks at a page or two tries at one that does not answer.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(120);
const TRY_EVERY: Duration = Duration::from_millis(25);
/// How often somebody asks for an attempt before he comes back some other day.
pub(super) const TRIES: u32 = 60;
/// How long somebody watches a payment before he goes.
const WATCHES: i64 = 6;
const PATIENCE_OF_THE_LAST: Duration = Duration::from_mins(1);

/// What all customers of a lane share.
#[derive(Clone, Debug)]
pub(super) struct Street {
    pub(super) http: reqwest::Client,
    pub(super) proxy: String,
    /// The store's own server, which signs order tokens.
    pub(super) mint: TokenSigner,
    pub(super) chain: SandboxControl,
    pub(super) register: Arc<Register>,
    pub(super) tally: Arc<Tally>,
    /// Held by whoever finds a block.
    pub(super) mining: Arc<RwLock<()>>,
    /// Set when the shops close: whoever is at it lets it be.
    pub(super) is_closing: Arc<AtomicBool>,
}

/// One order in somebody's hands.
pub(super) struct Purchase {
    id: String,
    token: String,
}

impl Street {
    /// Customers come, one after the other, until the shops close.
    pub(super) async fn customers_come(self, mut dice: Dice) {
        let mut number = 0;
        while self.is_open() {
            number += 1;
            let guest = dice.split(number);
            // `None` means that the shops closed meanwhile, or that he had enough.
            let _ = self.somebody_buys(guest).await;
        }
    }

    fn is_open(&self) -> bool {
        !self.is_closing.load(Ordering::Relaxed)
    }

    /// The last customers before the shops close, whom no blow disturbs: whatever happened before, there is a payment to
    /// credit, a late one, one on the service's page, and an invoice that nobody pays.
    pub(super) async fn last_customers_come(self, dice: &mut Dice) {
        let (street, mut elsewhere) = (self.clone(), dice.split(901));
        let pays_elsewhere = async move {
            let (_, page) = street.is_sent_away(&mut elsewhere).await?;
            street.pays_there(&page, &mut elsewhere).await;
            Some(())
        };
        let pays_elsewhere = tokio::time::timeout(PATIENCE_OF_THE_LAST, pays_elsewhere);
        let last = |way: Way| {
            let (street, mut dice) = (self.clone(), dice.split(900));
            async move {
                let buys = street.buys(way, "last customers", &mut dice);
                tokio::time::timeout(PATIENCE_OF_THE_LAST, buys).await
            }
        };
        let ways = [Way::PaysExactly, Way::PaysBoth, Way::NeverPays];
        // Who gave up is missed by nobody but the auditor.
        let mut last: JoinSet<_> = ways.map(last).into_iter().collect();
        last.spawn(pays_elsewhere);
        let _ = last.join_all().await;
    }

    async fn somebody_buys(&self, mut dice: Dice) -> Option<()> {
        if dice.percent(HOSTED) {
            return self.somebody_buys_on_the_services_page(&mut dice).await;
        }
        let weighted = WAYS.map(|(weight, way, name)| (weight, (way, name)));
        let (way, name) = dice.pick(&weighted);
        self.buys(way, name, &mut dice).await
    }

    async fn buys(&self, way: Way, name: &'static str, dice: &mut Dice) -> Option<()> {
        let order = self.open(dice).await?;
        if way == Way::OnlyLooks {
            self.tally.count(name);
            return Some(());
        }
        let asset = dice.pick(&ASSETS);
        let invoice = self.gets_invoice(&order, asset).await?;
        self.pay(&order, &invoice, way, dice).await?;
        self.tally.count(name);
        if dice.percent(30) {
            let _ = self
                .page(&order, Method::POST, "/paid", Some(json!({})))
                .await?;
        }
        self.watches(&order).await
    }

    async fn pay(&self, order: &Purchase, invoice: &str, way: Way, dice: &mut Dice) -> Option<()> {
        let pays =
            async |invoice: &str, amount: &str| self.chain.pay_invoice(invoice, amount).await;
        match way {
            Way::PaysExactly => pays(invoice, "exact").await,
            Way::PaysInTwoParts => {
                pays(invoice, "half").await;
                pause(dice.up_to(Duration::from_secs(2))).await;
                pays(invoice, "rest").await;
            }
            Way::PaysTooMuch => pays(invoice, "double").await,
            Way::PaysTooLittle => pays(invoice, "half").await,
            Way::PaysTooLate => {
                self.chain.expire_invoice(invoice).await;
                pause(dice.up_to(Duration::from_secs(2))).await;
                pays(invoice, "exact").await;
            }
            Way::PaysTheOther | Way::PaysBoth => {
                let first = invoice;
                let other = if dice.percent(50) { "LTC" } else { "TRX" };
                let second = self.gets_invoice(order, other).await?;
                pays(first, "exact").await;
                if way == Way::PaysBoth {
                    pause(dice.up_to(Duration::from_secs(2))).await;
                    pays(&second, "exact").await;
                }
            }
            Way::PaysWhatWasCancelled => {
                let path = format!("/v1/orders/{}/cancel", order.id);
                let cancels = Request {
                    token: Some(secrets::STORE_KEY),
                    body: None,
                    ..Request::post(&path, Value::Null)
                };
                self.asks(&cancels).await?;
                pause(dice.up_to(Duration::from_secs(1))).await;
                pays(invoice, "exact").await;
            }
            Way::IsStuck => {
                // No block may come in between, which would complete it.
                let _no_block = self.mining.read().await;
                pays(invoice, "exact").await;
                self.chain.fail_invoice(invoice).await;
            }
            Way::NeverPays | Way::OnlyLooks => {}
        }
        Some(())
    }

    /// Opens an order by one of the doors: the same request again, until it is answered. By the store's server, by a token
    /// and by a key for the request it is the same order then; otherwise the first one is lost with its answer.
    async fn open(&self, dice: &mut Dice) -> Option<Purchase> {
        let reference = format!("kill-{:016x}", dice.roll());
        let cents = 1000 + dice.below(30_000);
        let amount = format!("{}.{:02}", cents / 100, cents % 100);
        let page = "/v1/checkout";
        let (path, key, body, name) = match dice.pick(&DOORS) {
            Door::Server => {
                let order = json!({"amount": amount, "currency": "USD", "reference": reference});
                let name = "orders opened by the store's server";
                ("/v1/orders", Some(secrets::STORE_KEY), order, name)
            }
            Door::Catalogue => {
                let product = dice.pick(&[(1, "ebook"), (1, "mug")]);
                let quantity = 1 + dice.below(4);
                let door = json!({"store": "demo", "product": product, "quantity": quantity});
                (page, None, door, "orders opened from the catalogue")
            }
            Door::OrderToken => {
                let token = self.mint.token(&reference, &amount);
                let door = json!({ "order_token": token });
                (page, None, door, "orders opened by an order token")
            }
            Door::Donation => {
                let door = json!({"store": "demo", "donation": "coffee", "amount": amount});
                (page, None, door, "donations begun")
            }
        };
        let once = dice
            .percent(15)
            .then(|| format!("once-{:016x}", dice.roll()));
        let request = Request {
            token: key,
            once: once.as_deref(),
            ..Request::post(path, body)
        };
        let answer = self.asks(&request).await?;
        let purchase = Purchase::of(&answer);
        let Some(opened) = &purchase else {
            self.tally.count("orders that were refused");
            return None;
        };
        self.tally.count(name);
        if once.is_some() && dice.percent(50) {
            let again = self.asks(&request).await?;
            let same = again["order"]["id"] == opened.id.as_str();
            assert!(same, "asked twice, {} is another order: {again}", opened.id);
            self.tally.count("orders asked for twice, which came once");
        }
        purchase
    }

    /// Chooses an asset until its invoice is shown, and answers the service's id of it.
    async fn gets_invoice(&self, order: &Purchase, asset: &str) -> Option<String> {
        for _ in 0..TRIES {
            let view = self.page(order, Method::GET, "", None).await?;
            let attempt = &view["attempt"];
            if attempt["crypto_code"] == asset
                && let Some(address) = attempt["address"].as_str()
            {
                return Some(self.register.invoice_at(address));
            }
            let quotes = self.page(order, Method::GET, "/quotes", None).await?;
            let quotes = quotes.as_array().map(Vec::as_slice).unwrap_or_default();
            let quote = quotes.iter().find(|quote| quote["crypto_code"] == asset);
            if quote.is_some_and(|quote| quote["available"] == false) {
                break;
            }
            if let Some(quote) = quote {
                let choice = json!({"crypto_code": asset, "quote_id": quote["quote_id"]});
                let view = self
                    .page(order, Method::POST, "/attempt", Some(choice))
                    .await?;
                if view["status"].is_null() {
                    pause(LOOK_EVERY).await;
                }
            } else {
                pause(LOOK_EVERY).await;
            }
        }
        self.tally.count("customers who got no invoice and went");
        None
    }

    /// Looks at the order until it is paid, or patience is at its end.
    pub(super) async fn watches(&self, order: &Purchase) -> Option<()> {
        let began = SystemClock.now();
        while SystemClock.now().duration_since(began).as_secs() < WATCHES {
            let view = self.page(order, Method::GET, "", None).await?;
            if matches!(view["status"].as_str(), Some("paid" | "overpaid")) {
                self.tally.count("customers who saw their order paid");
                return Some(());
            }
            pause(LOOK_EVERY).await;
        }
        Some(())
    }

    async fn page(
        &self,
        order: &Purchase,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Option<Value> {
        let path = format!("/v1/checkout{path}");
        let token = Some(&*order.token);
        self.asks(&Request {
            method,
            path: &path,
            token,
            once: None,
            body,
        })
        .await
    }

    /// Asks until there is an answer, whatever it says; `None` when the shops close before.
    ///
    /// # Panics
    /// When what was answered before is gone.
    pub(super) async fn asks(&self, request: &Request<'_>) -> Option<Value> {
        while self.is_open() {
            if let Ok(answer) = request.send(&self.http, &self.proxy).await {
                let status = answer.status().as_u16();
                let body = answer.json::<Value>().await;
                let body = body.ok().filter(|_| status < 500);
                match body {
                    Some(body) if matches!(status, 401 | 404) => {
                        panic!("{} of something that is gone: {body}", request.path)
                    }
                    // Whoever carried it out was killed meanwhile, which is noticed later.
                    Some(body) if body["error"]["code"] == "request_in_progress" => {
                        self.tally.count("requests that somebody was carrying out");
                        pause(LOOK_EVERY).await;
                    }
                    Some(body) => return Some(body),
                    None => {}
                }
            }
            pause(TRY_EVERY).await;
        }
        None
    }
}

impl Purchase {
    pub(super) fn of(answer: &Value) -> Option<Self> {
        Some(Self {
            id: answer["order"]["id"].as_str()?.to_owned(),
            token: answer["client_token"].as_str()?.to_owned(),
        })
    }
}
