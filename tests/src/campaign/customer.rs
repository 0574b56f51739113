//! Customers, who repeat each request until the proxy answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use super::counters::Counters;
use super::invoice_index::InvoiceIndex;
use super::lost::Lost;
use super::random::SeededRandom;
use crate::sandbox_control::SandboxControl;
use crate::store_server::TokenSigner;
use crate::wait::pause;
use crate::world::secrets;

/// What a customer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    PayExactly,
    PayInTwoParts,
    Overpay,
    Underpay,
    PayLate,
    /// Opens a second attempt in another asset and pays the first.
    PayReplaced,
    /// Opens a second attempt in another asset and pays both.
    PayBoth,
    NeverPay,
    /// Pays after the store has cancelled the order.
    PayCancelled,
    StuckPayment,
    NoAttempt,
}

const BEHAVIOURS: [(u64, Behaviour, &str); 11] = [
    (30, Behaviour::PayExactly, "orders paid exactly"),
    (12, Behaviour::PayInTwoParts, "orders paid in two parts"),
    (9, Behaviour::Overpay, "orders overpaid"),
    (5, Behaviour::Underpay, "orders underpaid"),
    (9, Behaviour::PayLate, "orders paid late"),
    (
        8,
        Behaviour::PayReplaced,
        "orders paid on an attempt that was replaced",
    ),
    (8, Behaviour::PayBoth, "orders paid twice"),
    (5, Behaviour::NeverPay, "orders never paid"),
    (
        5,
        Behaviour::PayCancelled,
        "orders paid after they were cancelled",
    ),
    (5, Behaviour::StuckPayment, "orders whose payment got stuck"),
    (4, Behaviour::NoAttempt, "orders without an attempt"),
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
/// How an order is created.
#[derive(Clone, Copy, Debug)]
enum OrderSource {
    Server,
    Catalogue,
    OrderToken,
    Donation,
}

/// Percentage of orders that are paid on the gateway's hosted page.
const HOSTED: u64 = 12;
const ORDER_SOURCES: [(u64, OrderSource); 4] = [
    (40, OrderSource::Server),
    (25, OrderSource::Catalogue),
    (20, OrderSource::OrderToken),
    (15, OrderSource::Donation),
];
/// Pause between two status reads.
pub(super) const POLL_EVERY: Duration = Duration::from_millis(120);
const RETRY_EVERY: Duration = Duration::from_millis(25);
/// Requests for an attempt before the customer gives up.
pub(super) const MAX_TRIES: u32 = 60;
/// How long a customer waits for the status `paid`.
const WATCH_SECONDS: i64 = 6;
const FINAL_TIMEOUT: Duration = Duration::from_mins(1);

/// What all customers of a shard share.
#[derive(Clone, Debug)]
pub(super) struct Customers {
    pub(super) http: reqwest::Client,
    pub(super) proxy: String,
    /// Signs order tokens as the store's server does.
    pub(super) token_signer: TokenSigner,
    pub(super) sandbox: SandboxControl,
    pub(super) invoices: Arc<InvoiceIndex>,
    pub(super) counters: Arc<Counters>,
    /// Held exclusively while a block is mined.
    pub(super) mining: Arc<RwLock<()>>,
    /// Set when the shard closes: requests are not repeated any more.
    pub(super) is_closing: Arc<AtomicBool>,
    /// `true` while the proxy's clock is wrong: a token may be refused as too old or too new.
    pub(super) clock_is_wrong: Arc<AtomicBool>,
    /// What restored backups have lost.
    pub(super) lost: Arc<Lost>,
}

/// An order with its client token.
pub(super) struct Purchase {
    pub(super) id: String,
    token: String,
}

impl Customers {
    /// Runs one customer after the other until the shard closes.
    pub(super) async fn run(self, mut random: SeededRandom) {
        let mut number = 0;
        while self.is_open() {
            number += 1;
            let customer = random.split(number);
            // `None`: the shard closed meanwhile, or the customer gave up.
            let _ = self.buy_any(customer).await;
        }
    }

    fn tokens_can_be_refused(&self) -> bool {
        self.clock_is_wrong.load(Ordering::Relaxed)
    }

    fn is_open(&self) -> bool {
        !self.is_closing.load(Ordering::Relaxed)
    }

    /// Runs the last customers, after the last kill. They guarantee a payment to credit, a second payment, one on the
    /// hosted page, and an unpaid invoice, however the campaign went before.
    pub(super) async fn run_final(self, random: &mut SeededRandom) {
        let (customers, mut elsewhere) = (self.clone(), random.split(901));
        let pay_elsewhere = async move {
            let (_, page) = customers.open_hosted_order(&mut elsewhere).await?;
            customers.pay_hosted(&page, &mut elsewhere).await;
            Some(())
        };
        let pay_elsewhere = tokio::time::timeout(FINAL_TIMEOUT, pay_elsewhere);
        let last = |behaviour: Behaviour| {
            let (customers, mut random) = (self.clone(), random.split(900));
            async move {
                let buy = customers.buy(behaviour, "last customers", &mut random);
                tokio::time::timeout(FINAL_TIMEOUT, buy).await
            }
        };
        let behaviours = [
            Behaviour::PayExactly,
            Behaviour::PayBoth,
            Behaviour::NeverPay,
        ];
        // A customer who gave up matters to the auditor alone.
        let mut last: JoinSet<_> = behaviours.map(last).into_iter().collect();
        last.spawn(pay_elsewhere);
        let _ = last.join_all().await;
    }

    async fn buy_any(&self, mut random: SeededRandom) -> Option<()> {
        if random.percent(HOSTED) {
            return self.buy_hosted(&mut random).await;
        }
        let weighted = BEHAVIOURS.map(|(weight, behaviour, name)| (weight, (behaviour, name)));
        let (behaviour, name) = random.pick(&weighted);
        self.buy(behaviour, name, &mut random).await
    }

    async fn buy(
        &self,
        behaviour: Behaviour,
        name: &'static str,
        random: &mut SeededRandom,
    ) -> Option<()> {
        let order = self.open(random).await?;
        if behaviour == Behaviour::NoAttempt {
            self.counters.count(name);
            return Some(());
        }
        let asset = random.pick(&ASSETS);
        let invoice = self.open_invoice(&order, asset).await?;
        self.pay(&order, &invoice, behaviour, random).await?;
        self.counters.count(name);
        if random.percent(30) {
            let _ = self
                .page(&order, Method::POST, "/paid", Some(json!({})))
                .await?;
        }
        self.wait_until_paid(&order).await
    }

    async fn pay(
        &self,
        order: &Purchase,
        invoice: &str,
        behaviour: Behaviour,
        random: &mut SeededRandom,
    ) -> Option<()> {
        let pay =
            async |invoice: &str, amount: &str| self.sandbox.pay_invoice(invoice, amount).await;
        match behaviour {
            Behaviour::PayExactly => pay(invoice, "exact").await,
            Behaviour::PayInTwoParts => {
                pay(invoice, "half").await;
                pause(random.up_to(Duration::from_secs(2))).await;
                pay(invoice, "rest").await;
            }
            Behaviour::Overpay => pay(invoice, "double").await,
            Behaviour::Underpay => pay(invoice, "half").await,
            Behaviour::PayLate => {
                self.sandbox.expire_invoice(invoice).await;
                pause(random.up_to(Duration::from_secs(2))).await;
                pay(invoice, "exact").await;
            }
            Behaviour::PayReplaced | Behaviour::PayBoth => {
                let first = invoice;
                let other = if random.percent(50) { "LTC" } else { "TRX" };
                let second = self.open_invoice(order, other).await?;
                pay(first, "exact").await;
                if behaviour == Behaviour::PayBoth {
                    pause(random.up_to(Duration::from_secs(2))).await;
                    pay(&second, "exact").await;
                }
            }
            Behaviour::PayCancelled => {
                let path = format!("/v1/orders/{}/cancel", order.id);
                let cancel = Request {
                    token: Some(secrets::STORE_KEY),
                    body: None,
                    ..Request::post(&path, Value::Null)
                };
                self.send_until_answered(&cancel).await?;
                pause(random.up_to(Duration::from_secs(1))).await;
                pay(invoice, "exact").await;
            }
            Behaviour::StuckPayment => {
                // A block in between would complete the payment.
                let _no_block = self.mining.read().await;
                pay(invoice, "exact").await;
                self.sandbox.fail_invoice(invoice).await;
            }
            Behaviour::NeverPay | Behaviour::NoAttempt => {}
        }
        Some(())
    }

    /// Opens an order in one of the four ways, repeating the request until it is answered. With a reference, an order
    /// token or an idempotency key a repeated request finds the same order; otherwise the first order is lost with its
    /// response.
    pub(super) async fn open(&self, random: &mut SeededRandom) -> Option<Purchase> {
        let reference = format!("kill-{:016x}", random.next());
        let cents = 1000 + random.below(30_000);
        let amount = format!("{}.{:02}", cents / 100, cents % 100);
        let page = "/v1/checkout";
        let (path, key, body, name) = match random.pick(&ORDER_SOURCES) {
            OrderSource::Server => {
                let order = json!({"amount": amount, "currency": "USD", "reference": reference});
                let name = "orders opened by the store's server";
                ("/v1/orders", Some(secrets::STORE_KEY), order, name)
            }
            OrderSource::Catalogue => {
                let product = random.pick(&[(1, "ebook"), (1, "mug")]);
                let quantity = 1 + random.below(4);
                let source = json!({"store": "demo", "product": product, "quantity": quantity});
                (page, None, source, "orders opened by a product")
            }
            OrderSource::OrderToken => {
                let token = self.token_signer.token(&reference, &amount);
                let source = json!({ "order_token": token });
                (page, None, source, "orders opened by an order token")
            }
            OrderSource::Donation => {
                let source = json!({"store": "demo", "donation": "coffee", "amount": amount});
                (page, None, source, "donations opened")
            }
        };
        let idempotency_key = random
            .percent(15)
            .then(|| format!("once-{:016x}", random.next()));
        let request = Request {
            token: key,
            idempotency_key: idempotency_key.as_deref(),
            ..Request::post(path, body)
        };
        let response = self.send_until_answered(&request).await?;
        let purchase = Purchase::of(&response);
        let Some(opened) = &purchase else {
            self.counters.count("orders that were rejected");
            return None;
        };
        self.counters.count(name);
        if idempotency_key.is_some() && random.percent(50) {
            let again = self.send_until_answered(&request).await?;
            if self.lost.has_order(&opened.id) {
                self.counters.count("customers whose order a restore lost");
                return None;
            }
            let same = again["order"]["id"] == opened.id.as_str()
                || again["error"]["code"] == "rate_limited";
            assert!(
                same,
                "requested twice, {} is another order: {again}",
                opened.id
            );
            self.counters
                .count("order requests sent twice that opened one order");
        }
        purchase
    }

    /// Requests an attempt until its invoice is shown; returns the gateway's id of it.
    pub(super) async fn open_invoice(&self, order: &Purchase, asset: &str) -> Option<String> {
        for _ in 0..MAX_TRIES {
            let view = self.page(order, Method::GET, "", None).await?;
            let attempt = &view["attempt"];
            if attempt["crypto_code"] == asset
                && let Some(address) = attempt["address"].as_str()
            {
                return Some(self.invoices.id_of_address(address));
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
                    pause(POLL_EVERY).await;
                }
            } else {
                pause(POLL_EVERY).await;
            }
        }
        self.counters
            .count("customers who gave up without an invoice");
        None
    }

    /// Reads the order until it is paid, for [`WATCH_SECONDS`] at most.
    pub(super) async fn wait_until_paid(&self, order: &Purchase) -> Option<()> {
        let began = SystemClock.now();
        while SystemClock.now().duration_since(began).as_secs() < WATCH_SECONDS {
            let view = self.page(order, Method::GET, "", None).await?;
            if matches!(view["status"].as_str(), Some("paid" | "overpaid")) {
                self.counters.count("customers who saw their order paid");
                return Some(());
            }
            pause(POLL_EVERY).await;
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
        self.send_until_answered(&Request {
            method,
            path: &path,
            token,
            idempotency_key: None,
            body,
        })
        .await
    }

    /// Repeats a request until it is answered; `None` when the shard closes before.
    ///
    /// # Panics
    /// What the proxy had answered before is gone.
    pub(super) async fn send_until_answered(&self, request: &Request<'_>) -> Option<Value> {
        while self.is_open() {
            if let Ok(response) = request.send(&self.http, &self.proxy).await {
                let status = response.status().as_u16();
                let body = response.json::<Value>().await;
                let body = body.ok().filter(|_| status < 500);
                match body {
                    Some(_)
                        if matches!(status, 401 | 403 | 404) && self.tokens_can_be_refused() =>
                    {
                        self.counters.count("requests refused under a wrong clock");
                        pause(POLL_EVERY).await;
                    }
                    Some(_)
                        if matches!(status, 401 | 404)
                            && self.lost.explains(request.token, request.path) =>
                    {
                        self.counters.count("customers whose order a restore lost");
                        return None;
                    }
                    Some(body) if matches!(status, 401 | 404) => {
                        panic!("{}: it is gone: {body}", request.path)
                    }
                    // The process that carried it out was killed; its lease runs out later.
                    Some(body) if body["error"]["code"] == "request_in_progress" => {
                        self.counters.count("requests that were in progress");
                        pause(POLL_EVERY).await;
                    }
                    Some(body) => return Some(body),
                    None => {}
                }
            }
            pause(RETRY_EVERY).await;
        }
        None
    }
}

impl Purchase {
    pub(super) fn of(response: &Value) -> Option<Self> {
        Some(Self {
            id: response["order"]["id"].as_str()?.to_owned(),
            token: response["client_token"].as_str()?.to_owned(),
        })
    }
}

/// A request to the proxy that can be sent repeatedly.
pub(super) struct Request<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    pub(super) token: Option<&'a str>,
    /// `Idempotency-Key`
    pub(super) idempotency_key: Option<&'a str>,
    pub(super) body: Option<Value>,
}

impl<'a> Request<'a> {
    /// Without a token and without a key.
    pub(super) fn post(path: &'a str, body: Value) -> Self {
        Self {
            method: Method::POST,
            path,
            token: None,
            idempotency_key: None,
            body: Some(body),
        }
    }

    pub(super) async fn send(
        &self,
        http: &reqwest::Client,
        proxy: &str,
    ) -> reqwest::Result<reqwest::Response> {
        let mut request = http.request(self.method.clone(), format!("{proxy}{}", self.path));
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(idempotency_key) = self.idempotency_key {
            request = request.header("idempotency-key", idempotency_key);
        }
        if let Some(body) = &self.body {
            request = request.json(body);
        }
        request.send().await
    }
}
