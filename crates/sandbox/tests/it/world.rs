//! A running sandbox with a clock that is moved by hand, and a merchant who signs with own lines.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use florin_sandbox::{Clock, Settings, Sleep};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::Sha384;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const START: i64 = 1_700_000_000;
pub(crate) const KEY: &str = "test_key";
const SECRET: &str = "test_secret";

pub(crate) struct World {
    pub(crate) address: String,
    /// Where callbacks go; empty without callbacks.
    pub(crate) callback_url: String,
    pub(crate) clock: TestClock,
    pub(crate) http: reqwest::Client,
    pub(crate) shutdown: CancellationToken,
    pub(crate) server: JoinHandle<anyhow::Result<()>>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        // An error means that another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = TestClock::new(START);
        let settings = Settings {
            seed: 7,
            api_key: KEY.to_owned(),
            api_secret: SECRET.into(),
            clock: Arc::new(clock.clone()),
            ..settings
        };
        let callback_url = settings.callback_url.clone().unwrap_or_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let server = tokio::spawn(florin_sandbox::run(listener, settings, shutdown.clone()));
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self {
            address,
            callback_url,
            clock,
            http,
            shutdown,
            server,
        }
    }

    pub(crate) fn merchant(&self) -> Merchant<'_> {
        Merchant(self)
    }

    /// Opens an invoice over 20 USDT on Tron.
    pub(crate) async fn open(&self) -> String {
        let invoice = self.merchant().invoice().await;
        invoice["invoice_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn pay(&self, id: &str, amount: &str) -> Value {
        let body = json!({ "amount": amount }).to_string();
        self.control(&format!("invoices/{id}/pay"), &body).await
    }

    pub(crate) async fn mine(&self, blocks: u32) {
        let body = json!({ "blocks": blocks }).to_string();
        self.control("mine", &body).await;
    }

    /// An action on an invoice without a body.
    pub(crate) async fn act(&self, id: &str, action: &str) -> Value {
        self.control(&format!("invoices/{id}/{action}"), "").await
    }

    pub(crate) async fn inject(&self, fault: &Value) {
        self.control("faults", &fault.to_string()).await;
    }

    /// `transaction_status` of GET /invoice.
    pub(crate) async fn status(&self, id: &str) -> String {
        let record = self.merchant().record(id).await;
        record["transaction_status"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn control(&self, path: &str, body: &str) -> Value {
        let (status, response) = self.post(path, body).await;
        assert_eq!(status, 200, "{response}");
        response
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}/sandbox/{path}", self.address);
        let response = self
            .http
            .post(url)
            .body(body.to_owned())
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let url = format!("{}/sandbox/{path}", self.address);
        let response = self.http.get(url).send().await.unwrap();
        response.json().await.unwrap()
    }
}

/// Time that stands still until it is moved; a sleep is recorded and takes none.
#[derive(Clone, Debug)]
pub(crate) struct TestClock(Arc<Mutex<(i64, Vec<Duration>)>>);

impl TestClock {
    fn new(second: i64) -> Self {
        Self(Arc::new(Mutex::new((second, Vec::new()))))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.0.lock().unwrap().0 += seconds;
    }

    pub(crate) fn slept(&self) -> Vec<Duration> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.lock().unwrap().0).unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.0.lock().unwrap().1.push(duration);
        Box::pin(tokio::task::yield_now())
    }
}

pub(crate) struct Merchant<'a>(&'a World);

impl Merchant<'_> {
    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Call {
        self.post_text(path, &body.to_string())
    }

    pub(crate) fn post_text(&self, path: &str, body: &str) -> Call {
        self.call(Method::POST, path, body)
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Call {
        self.call(Method::PUT, path, &body.to_string())
    }

    fn call(&self, method: Method, path: &str, body: &str) -> Call {
        let signed = if method == Method::PUT { "" } else { body };
        let message = format!("/api/{START}{path}{signed}");
        let mac = Hmac::<Sha384>::new_from_slice(SECRET.as_bytes()).unwrap();
        let signature = hex::encode(mac.chain_update(message).finalize().into_bytes());
        let url = format!("{}/api{path}", self.0.address);
        let request = self.0.http.request(method, url);
        let request = request.header("apikey", KEY).header("nonce", START);
        let request = request.header("signature", signature);
        let request = request.header("content-type", "application/json");
        Call(request.body(body.to_owned()))
    }

    pub(crate) async fn prices(&self) -> Value {
        self.get("/prices").ok().await
    }

    /// An order of 20 USDT on Tron, whose price never moves.
    pub(crate) async fn order(&self) -> Value {
        let prices = self.prices().await;
        json!({
            "conversion_id": prices["USDTTRC20"]["conversion_id"],
            "amount_in_usd": "20.00",
            "amount_in_local_currency": "20.00",
            "amount_in_crypto": "20.00",
            "crypto_code": "USDTTRC20",
        })
    }

    pub(crate) async fn invoice(&self) -> Value {
        let order = self.order().await;
        self.post("/invoice", &order).ok().await
    }

    pub(crate) async fn record(&self, id: &str) -> Value {
        let mut response = self.get(&format!("/invoice?id={id}")).ok().await;
        response["data"].take()
    }
}

/// A signed call.
pub(crate) struct Call(pub(crate) RequestBuilder);

impl Call {
    pub(crate) async fn send(self) -> (u16, Value) {
        let response = self.0.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn ok(self) -> Value {
        let (status, body) = self.send().await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Sends a call that must be rejected; returns the message.
    #[track_caller]
    pub(crate) fn rejected(self, status: u16, code: &str) -> impl Future<Output = String> {
        let code = code.to_owned();
        async move {
            let (answered, body) = self.send().await;
            assert_eq!(
                (answered, body["code"].as_str()),
                (status, Some(code.as_str())),
                "{body}"
            );
            assert!(body["error"].is_string(), "{body}");
            body["message"]
                .as_str()
                .expect("a message for people")
                .to_owned()
        }
    }
}
