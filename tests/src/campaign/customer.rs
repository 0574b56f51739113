//! Customers, who repeat each request until the proxy answers. In how many ways a customer can pay is the simulation's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::counters::Counters;
use crate::customer::HostedPage;
use crate::random::SeededRandom;
use crate::real_chains::{RealChains, share};
use crate::sandbox_control::SandboxControl;
use crate::wait::pause;
use crate::world::secrets;

/// What a customer does. Names that the simulation has too mean the same there.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    Exactly,
    InTwoParts,
    Late,
    BothAttempts,
    Never,
}

const BEHAVIOURS: [(u64, Behaviour); 5] = [
    (50, Behaviour::Exactly),
    (15, Behaviour::InTwoParts),
    (12, Behaviour::Late),
    (15, Behaviour::BothAttempts),
    (8, Behaviour::Never),
];
/// What the nodes of real chains pay in.
const REAL_ASSETS: [&str; 3] = ["ETH", "USDTERC20", "LTC"];
const ASSETS: [&str; 5] = ["BTC", "USDTTRC20", "ETH", "LTC", "DOGE"];
/// Of a second attempt: none of [`ASSETS`].
const SECOND_ASSET: &str = "TRX";
/// Percentage of orders that are paid on the gateway's hosted page.
const HOSTED: u64 = 12;
/// What customers do in every campaign.
pub(super) const MUST_HAPPEN: [&str; 4] = [
    "Exactly",
    "paid on the hosted page",
    "opened one order by two requests",
    "saw it paid",
];
/// Pause between two status reads.
const POLL_EVERY: Duration = Duration::from_millis(120);
const RETRY_EVERY: Duration = Duration::from_millis(25);
const BETWEEN_PAYMENTS: Duration = Duration::from_secs(2);
/// Requests for an attempt before the customer gives up.
const MAX_TRIES: u32 = 60;
const WATCH_SECONDS: i64 = 6;
const FINAL_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
pub(super) struct Customers {
    pub(super) http: reqwest::Client,
    pub(super) proxy: String,
    pub(super) sandbox: SandboxControl,
    pub(super) counters: Arc<Counters>,
    pub(super) is_closing: Arc<AtomicBool>,
    /// The nodes that customers pay on; `None` for the sandbox.
    pub(super) chains: Option<Arc<RealChains>>,
}

/// An invoice as a customer sees it.
struct Invoice {
    id: String,
    asset: String,
    address: String,
    amount: String,
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
            let random = random.split(number);
            // `None`: the shard closed meanwhile, or the customer gave up.
            let _ = if self.chains.is_none() && random.percent(HOSTED) {
                self.buy_hosted(&random).await
            } else {
                self.buy(random.weigh(&BEHAVIOURS), &random).await
            };
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
        // A customer who gave up matters to the auditor alone.
        let mut last = JoinSet::new();
        for behaviour in [
            None,
            Some(Behaviour::Exactly),
            Some(Behaviour::BothAttempts),
            Some(Behaviour::Never),
        ] {
            let (customers, random) = (self.clone(), random.split(900));
            let buy = async move {
                match behaviour {
                    Some(behaviour) => customers.buy(behaviour, &random).await,
                    None if customers.chains.is_none() => customers.buy_hosted(&random).await,
                    None => customers.buy(Behaviour::InTwoParts, &random).await,
                }
            };
            last.spawn(tokio::time::timeout(FINAL_TIMEOUT, buy));
        }
        let _ = last.join_all().await;
    }

    async fn buy(&self, behaviour: Behaviour, random: &SeededRandom) -> Option<()> {
        let order = self.open(random).await?;
        let is_real = self.chains.is_some();
        let assets = if is_real {
            &REAL_ASSETS[..]
        } else {
            &ASSETS[..]
        };
        let asset = random.pick(assets);
        let invoice = self.open_invoice(&order, asset).await?;
        let pay = async |invoice: &Invoice, amount: &str| self.pay(invoice, amount).await;
        match behaviour {
            Behaviour::Exactly => pay(&invoice, "exact").await,
            Behaviour::InTwoParts => {
                pay(&invoice, "half").await;
                pause(random.up_to(BETWEEN_PAYMENTS)).await;
                pay(&invoice, "rest").await;
            }
            Behaviour::Late => {
                self.expire(&invoice).await?;
                pause(random.up_to(BETWEEN_PAYMENTS)).await;
                pay(&invoice, "exact").await;
            }
            Behaviour::BothAttempts => {
                let second = REAL_ASSETS.into_iter().find(|second| *second != asset);
                let second = second.filter(|_| is_real).unwrap_or(SECOND_ASSET);
                let second = self.open_invoice(&order, second).await?;
                pay(&invoice, "exact").await;
                pause(random.up_to(BETWEEN_PAYMENTS)).await;
                pay(&second, "exact").await;
            }
            Behaviour::Never => {}
        }
        self.count(format!("{behaviour:?}"));
        if random.percent(30) {
            let paid = self.page(&order, Method::POST, "/paid");
            self.send_until_answered(&paid.json(&json!({}))).await?;
        }
        self.wait_until_paid(&order).await
    }

    /// Opens an order as the store's server or for a product, repeating the request until it is answered. With a reference or
    /// an idempotency key a repeated request finds the same order; otherwise the first order is lost with its response.
    async fn open(&self, random: &SeededRandom) -> Option<Purchase> {
        let (page, mut key) = ("/v1/checkout", None);
        let mut request = if random.percent(60) {
            let order = self.request(Method::POST, "/v1/orders");
            let order = order.bearer_auth(secrets::STORE_KEY);
            order.json(&new_order(random))
        } else {
            let mut body = json!({"store": "demo", "product": random.pick(&["ebook", "mug"])});
            if random.percent(60) {
                let offer = format!("{page}/offer?store=demo&product=mug");
                let offer = self.request(Method::GET, &offer);
                let offer = self.send_until_answered(&offer).await?;
                let quotes = offer["quotes"].as_array().cloned().unwrap_or_default();
                if let Some(quote) = quotes.iter().find(|quote| quote["available"] == true) {
                    body["crypto_code"] = quote["crypto_code"].clone();
                    body["quote_id"] = quote["quote_id"].clone();
                    self.count("chose with the order");
                }
            }
            self.request(Method::POST, page).json(&body)
        };
        if random.percent(15) {
            key = Some(format!("once-{:016x}", random.draw()));
        }
        if let Some(key) = &key {
            request = request.header("idempotency-key", key);
        }
        let response = self.send_until_answered(&request).await?;
        let purchase = Purchase::of(&response);
        let Some(opened) = &purchase else {
            self.count("were rejected");
            return None;
        };
        if key.is_some() {
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

    /// Pays on the simulated chain, or on the node: there the second part is a little more than the rest.
    async fn pay(&self, invoice: &Invoice, amount: &str) {
        let Some(chains) = &self.chains else {
            return self.sandbox.pay_invoice(&invoice.id, amount).await;
        };
        let amount = match amount {
            "half" => share(&invoice.amount, 1, 2),
            "rest" => share(&invoice.amount, 51, 100),
            _ => invoice.amount.clone(),
        };
        chains.pay(&invoice.asset, &invoice.address, &amount).await;
    }

    /// Ends an invoice's time on the simulated chain; waits for the end on real ones.
    async fn expire(&self, invoice: &Invoice) -> Option<()> {
        let Some(chains) = &self.chains else {
            self.sandbox.expire_invoice(&invoice.id).await;
            return Some(());
        };
        for _ in 0..60 * chains.invoice_minutes + 5 {
            pause(Duration::from_secs(1)).await;
            self.is_open().then_some(())?;
        }
        Some(())
    }

    /// Requests an attempt until its invoice is shown.
    async fn open_invoice(&self, order: &Purchase, asset: &str) -> Option<Invoice> {
        for _ in 0..MAX_TRIES {
            let view = self.view(order).await?;
            if view["attempt"]["crypto_code"] == asset && view["attempt"]["address"].is_string() {
                let path = format!("/v1/orders/{}", order.id);
                let stored = self.request(Method::GET, &path);
                let stored = stored.bearer_auth(secrets::STORE_KEY);
                let stored = self.send_until_answered(&stored).await?;
                let invoice = stored["attempt"]["invoice_id"].as_str();
                let text = |name: &str| view["attempt"][name].as_str().map(str::to_owned);
                return Some(Invoice {
                    id: invoice?.to_owned(),
                    asset: asset.to_owned(),
                    address: text("address")?,
                    amount: text("amount_in_crypto")?,
                });
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

    /// Pays a hosted order of the store's server, whose opening is repeated until it has a page: when the gateway does not
    /// answer, the order is opened without one.
    async fn buy_hosted(&self, random: &SeededRandom) -> Option<()> {
        let mut order = new_order(random);
        order["flow"] = "hosted".into();
        order["customer_email"] = "ada@example.com".into();
        let open = self.request(Method::POST, "/v1/orders").json(&order);
        let open = open.bearer_auth(secrets::STORE_KEY);
        for _ in 0..MAX_TRIES {
            let response = self.send_until_answered(&open).await?;
            let page = response["payment_process_url"].as_str();
            if let (Some(order), Some(page)) = (Purchase::of(&response), page) {
                let page = HostedPage::at(self.http.clone(), page);
                page.pick(random.pick(&["LTC", "TRX", "DOGE"])).await;
                pause(random.up_to(Duration::from_secs(1))).await;
                page.pay().await;
                self.count("paid on the hosted page");
                return self.wait_until_paid(&order).await;
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
                break;
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
