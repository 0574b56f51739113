//! Customers, who repeat each request until the proxy answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use futures_util::FutureExt as _;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use crate::counters::Counters;
use crate::customer::HostedPage;
use crate::http_response::text_at;
use crate::random::SeededRandom;
use crate::sandbox_control::{Invoices, SandboxControl};
use crate::store_server::TokenSigner;
use crate::wait::pause;
use crate::world::secrets;

/// What a customer does. Names that the simulation has too mean the same there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Exactly,
    InTwoParts,
    More,
    MuchLess,
    Late,
    FirstAttempt,
    BothAttempts,
    Never,
    AfterCancellation,
    TooLowFee,
    Leave,
}

const BEHAVIOURS: [(u64, Behaviour); 11] = [
    (30, Behaviour::Exactly),
    (12, Behaviour::InTwoParts),
    (9, Behaviour::More),
    (5, Behaviour::MuchLess),
    (9, Behaviour::Late),
    (8, Behaviour::FirstAttempt),
    (8, Behaviour::BothAttempts),
    (5, Behaviour::Never),
    (5, Behaviour::AfterCancellation),
    (5, Behaviour::TooLowFee),
    (4, Behaviour::Leave),
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
#[derive(Clone, Copy, Debug)]
pub(super) enum OrderSource {
    StoreServer,
    Product,
    OrderToken,
    Donation,
}

pub(super) const ORDER_SOURCES: [(u64, OrderSource); 4] = [
    (40, OrderSource::StoreServer),
    (25, OrderSource::Product),
    (20, OrderSource::OrderToken),
    (15, OrderSource::Donation),
];
/// Percentage of orders that are paid on the gateway's hosted page.
const HOSTED: u64 = 12;
/// What customers do in every campaign.
pub(super) const MUST_HAPPEN: [&str; 3] = ["Exactly", "paid on the hosted page", "saw it paid"];
/// Pause between two status reads.
const POLL_EVERY: Duration = Duration::from_millis(120);
const RETRY_EVERY: Duration = Duration::from_millis(25);
/// Requests for an attempt before the customer gives up.
const MAX_TRIES: u32 = 60;
const WATCH_SECONDS: i64 = 6;
const FINAL_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
pub(super) struct Customers {
    pub(super) http: reqwest::Client,
    pub(super) proxy: String,
    pub(super) token_signer: TokenSigner,
    pub(super) sandbox: SandboxControl,
    pub(super) invoices: Arc<Invoices>,
    pub(super) counters: Arc<Counters>,
    /// Held exclusively while a block is mined.
    pub(super) mining: Arc<RwLock<()>>,
    pub(super) is_closing: Arc<AtomicBool>,
}

struct Purchase {
    id: String,
    token: String,
}

impl Customers {
    pub(super) async fn run(self, random: SeededRandom) {
        let mut number = 0;
        while self.is_open() {
            number += 1;
            let customer = random.split(number);
            // `None`: the shard closed meanwhile, or the customer gave up.
            let _ = self.buy_any(customer).await;
        }
    }

    fn count(&self, what: impl Into<String>) {
        self.counters.one("customers", what);
    }

    pub(super) fn is_open(&self) -> bool {
        !self.is_closing.load(Ordering::Relaxed)
    }

    /// Runs the last customers, after the last kill and fault. They guarantee a payment to credit, a second payment, one on the
    /// hosted page, and an unpaid invoice, however the campaign went before.
    pub(super) async fn run_final(self, random: &SeededRandom) {
        let (customers, elsewhere) = (self.clone(), random.split(901));
        let pay_elsewhere = async move {
            while customers.is_open() {
                if let Some((_, page)) = customers.open_hosted_order(&elsewhere).await {
                    customers.pay_hosted(&page, &elsewhere).await;
                    break;
                }
            }
        };
        // A customer who gave up matters to the auditor alone.
        let mut last = JoinSet::new();
        last.spawn(tokio::time::timeout(FINAL_TIMEOUT, pay_elsewhere));
        for behaviour in [
            Behaviour::Exactly,
            Behaviour::BothAttempts,
            Behaviour::Never,
        ] {
            let (customers, random) = (self.clone(), random.split(900));
            let buy = async move { customers.buy(behaviour, &random).map(|_| ()).await };
            last.spawn(tokio::time::timeout(FINAL_TIMEOUT, buy));
        }
        let _ = last.join_all().await;
    }

    async fn buy_any(&self, random: SeededRandom) -> Option<()> {
        if random.percent(HOSTED) {
            return self.buy_hosted(&random).await;
        }
        self.buy(random.weigh(&BEHAVIOURS), &random).await
    }

    async fn buy(&self, behaviour: Behaviour, random: &SeededRandom) -> Option<()> {
        let order = self.open(random).await?;
        if behaviour == Behaviour::Leave {
            self.count("Leave");
            return Some(());
        }
        let asset = random.weigh(&ASSETS);
        let invoice = self.open_invoice(&order, asset).await?;
        self.pay(&order, &invoice, behaviour, random).await?;
        self.count(format!("{behaviour:?}"));
        if random.percent(30) {
            let paid = self.page(&order, Method::POST, "/paid");
            self.send_until_answered(&paid.json(&json!({}))).await?;
        }
        self.wait_until_paid(&order).await
    }

    async fn pay(
        &self,
        order: &Purchase,
        invoice: &str,
        behaviour: Behaviour,
        random: &SeededRandom,
    ) -> Option<()> {
        let pay =
            async |invoice: &str, amount: &str| self.sandbox.pay_invoice(invoice, amount).await;
        match behaviour {
            Behaviour::Exactly => pay(invoice, "exact").await,
            Behaviour::InTwoParts => {
                pay(invoice, "half").await;
                pause(random.up_to(Duration::from_secs(2))).await;
                pay(invoice, "rest").await;
            }
            Behaviour::More => pay(invoice, "double").await,
            Behaviour::MuchLess => pay(invoice, "half").await,
            Behaviour::Late => {
                self.sandbox.expire_invoice(invoice).await;
                pause(random.up_to(Duration::from_secs(2))).await;
                pay(invoice, "exact").await;
            }
            Behaviour::FirstAttempt | Behaviour::BothAttempts => {
                let first = invoice;
                let other = if random.percent(50) { "LTC" } else { "TRX" };
                let second = self.open_invoice(order, other).await?;
                pay(first, "exact").await;
                if behaviour == Behaviour::BothAttempts {
                    pause(random.up_to(Duration::from_secs(2))).await;
                    pay(&second, "exact").await;
                }
            }
            Behaviour::AfterCancellation => {
                let path = format!("/v1/orders/{}/cancel", order.id);
                let cancel = self.request(Method::POST, &path);
                let cancel = cancel.bearer_auth(secrets::STORE_KEY);
                self.send_until_answered(&cancel).await?;
                pause(random.up_to(Duration::from_secs(1))).await;
                pay(invoice, "exact").await;
            }
            Behaviour::TooLowFee => {
                // A block in between would complete the payment.
                let _no_block = self.mining.read().await;
                pay(invoice, "exact").await;
                self.sandbox.fail_invoice(invoice).await;
            }
            Behaviour::Never | Behaviour::Leave => {}
        }
        Some(())
    }

    /// Opens an order in one of the four ways, repeating the request until it is answered. With a reference, an order
    /// token or an idempotency key a repeated request finds the same order; otherwise the first order is lost with its
    /// response.
    async fn open(&self, random: &SeededRandom) -> Option<Purchase> {
        let order = new_order(random);
        let page = "/v1/checkout";
        let source = random.weigh(&ORDER_SOURCES);
        let (path, key, mut body) = match source {
            OrderSource::StoreServer => ("/v1/orders", Some(secrets::STORE_KEY), order),
            OrderSource::Product => {
                let product = random.pick(&["ebook", "mug"]);
                let quantity = 1 + random.below(4);
                let body = json!({"store": "demo", "product": product, "quantity": quantity});
                (page, None, body)
            }
            OrderSource::OrderToken => {
                let (reference, amount) =
                    (text_at(&order, "/reference"), text_at(&order, "/amount"));
                let token = self.token_signer.token(&reference, &amount);
                (page, None, json!({ "order_token": token }))
            }
            OrderSource::Donation => {
                let amount = &order["amount"];
                let body = json!({"store": "demo", "donation": "coffee", "amount": amount});
                (page, None, body)
            }
        };
        // Quotes are those of all orders: a product's hold for a token as well.
        if path == page && random.percent(60) {
            let offer = self.request(Method::GET, &format!("{page}/offer?store=demo&product=mug"));
            let offer = self.send_until_answered(&offer).await?;
            let quotes = offer["quotes"].as_array().cloned().unwrap_or_default();
            if let Some(quote) = quotes.iter().find(|quote| quote["available"] == true) {
                body["crypto_code"] = quote["crypto_code"].clone();
                body["quote_id"] = quote["quote_id"].clone();
                self.count("chose with the order");
            }
        }
        let idempotency_key = random
            .percent(15)
            .then(|| format!("once-{:016x}", random.draw()));
        let mut request = self.request(Method::POST, path).json(&body);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if let Some(once) = &idempotency_key {
            request = request.header("idempotency-key", once);
        }
        let response = self.send_until_answered(&request).await?;
        let purchase = Purchase::of(&response);
        let Some(opened) = &purchase else {
            self.count("were rejected");
            return None;
        };
        self.counters.one("order sources", format!("{source:?}"));
        if idempotency_key.is_some() && random.percent(50) {
            let again = self.send_until_answered(&request).await?;
            let same = again["order"]["id"] == opened.id.as_str()
                || again["error"]["code"] == "rate_limited";
            assert!(
                same,
                "requested twice, {} is another order: {again}",
                opened.id
            );
            self.count("opened one order by two requests");
        }
        purchase
    }

    /// Requests an attempt until its invoice is shown; returns the gateway's id of it.
    async fn open_invoice(&self, order: &Purchase, asset: &str) -> Option<String> {
        for _ in 0..MAX_TRIES {
            let view = self.view(order).await?;
            let attempt = &view["attempt"];
            if attempt["crypto_code"] == asset
                && let Some(address) = attempt["address"].as_str()
            {
                return Some(self.invoices.id_of_address(address));
            }
            let quotes = self.page(order, Method::GET, "/quotes");
            let quotes = self.send_until_answered(&quotes).await?;
            let quotes = quotes.as_array().map(Vec::as_slice).unwrap_or_default();
            let quote = quotes.iter().find(|quote| quote["crypto_code"] == asset);
            if quote.is_some_and(|quote| quote["available"] == false) {
                break;
            }
            let mut is_chosen = false;
            if let Some(quote) = quote {
                let choice = json!({"crypto_code": asset, "quote_id": quote["quote_id"]});
                let choose = self.page(order, Method::POST, "/attempt").json(&choice);
                let view = self.send_until_answered(&choose).await?;
                is_chosen = !view["status"].is_null();
            }
            if !is_chosen {
                pause(POLL_EVERY).await;
            }
        }
        self.count("gave up without an invoice");
        None
    }

    /// Opens a hosted order, whose customer closes the page, only picks an asset, or pays.
    async fn buy_hosted(&self, random: &SeededRandom) -> Option<()> {
        let (order, page) = self.open_hosted_order(random).await?;
        if random.percent(15) {
            page.close().await;
        } else if random.percent(20) {
            page.pick("LTC").await;
        } else {
            self.pay_hosted(&page, random).await;
        }
        self.wait_until_paid(&order).await
    }

    async fn pay_hosted(&self, page: &HostedPage, random: &SeededRandom) {
        let asset = random.pick(&["LTC", "TRX", "DOGE"]);
        page.pick(asset).await;
        pause(random.up_to(Duration::from_secs(1))).await;
        page.pay().await;
        self.count("paid on the hosted page");
    }

    /// Opens a hosted order as the store's server, repeating the request until it has a page: when the gateway does not
    /// answer, the order is opened without one.
    async fn open_hosted_order(&self, random: &SeededRandom) -> Option<(Purchase, HostedPage)> {
        let mut order = new_order(random);
        order["flow"] = "hosted".into();
        order["customer_email"] = "ada@example.com".into();
        let open = self.request(Method::POST, "/v1/orders").json(&order);
        let open = open.bearer_auth(secrets::STORE_KEY);
        for _ in 0..MAX_TRIES {
            let response = self.send_until_answered(&open).await?;
            let page = response["payment_process_url"].as_str();
            if let (Some(order), Some(page)) = (Purchase::of(&response), page) {
                self.count("opened the hosted page");
                return Some((order, HostedPage::at(self.http.clone(), page)));
            }
            pause(POLL_EVERY).await;
        }
        self.count("gave up without an invoice");
        None
    }

    /// Reads the order until it is paid, for [`WATCH_SECONDS`] at most.
    async fn wait_until_paid(&self, order: &Purchase) -> Option<()> {
        let began = SystemClock.now();
        while SystemClock.now().duration_since(began).as_secs() < WATCH_SECONDS {
            let view = self.view(order).await?;
            if matches!(view["status"].as_str(), Some("paid" | "overpaid")) {
                self.count("saw it paid");
                return Some(());
            }
            pause(POLL_EVERY).await;
        }
        Some(())
    }

    async fn view(&self, order: &Purchase) -> Option<Value> {
        self.send_until_answered(&self.page(order, Method::GET, ""))
            .await
    }

    fn page(&self, order: &Purchase, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, &format!("/v1/checkout{path}"));
        request.bearer_auth(&order.token)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.proxy))
    }

    /// Repeats a request until it is answered; `None` when the shard closes before.
    async fn send_until_answered(&self, request: &RequestBuilder) -> Option<Value> {
        while self.is_open() {
            let request = request.try_clone().expect("its body is no stream");
            if let Ok(response) = request.send().await {
                let (status, url) = (response.status().as_u16(), response.url().clone());
                let body = response.json::<Value>().await;
                let body = body.ok().filter(|_| status < 500);
                match body {
                    Some(body) if matches!(status, 401 | 404) => {
                        panic!("{url}: it is gone: {body}")
                    }
                    // The process that carried it out was killed; its lease runs out later.
                    Some(body) if body["error"]["code"] == "request_in_progress" => {
                        self.count("found their request in progress");
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

/// The body of POST /v1/orders.
fn new_order(random: &SeededRandom) -> Value {
    let reference = format!("kill-{:016x}", random.draw());
    let cents = 1000 + random.below(30_000);
    let amount = format!("{}.{:02}", cents / 100, cents % 100);
    json!({"amount": amount, "currency": "USD", "reference": reference})
}

impl Purchase {
    fn of(response: &Value) -> Option<Self> {
        Some(Self {
            id: response["order"]["id"].as_str()?.to_owned(),
            token: response["client_token"].as_str()?.to_owned(),
        })
    }
}
