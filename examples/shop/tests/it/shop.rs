//! A shop on a free port, and how a proxy would speak to it.

use std::sync::atomic::{AtomicU64, Ordering};

use florin_money::Currency;
use florin_shop::Settings;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const TOKEN_KEY: &str = "token-key-of-a-shop-in-a-test-0123456789";
pub(crate) const SECRET_KEY: &str = "sk_of_the_demo_store";
const WEBHOOK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A running shop; dropping it ends it.
pub(crate) struct Shop {
    pub(crate) url: String,
    pub(crate) http: Client,
    _stop: DropGuard,
}

impl Shop {
    pub(crate) async fn start(proxy_url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let settings = Settings {
            proxy_url: proxy_url.to_owned(),
            store_id: "demo".to_owned(),
            secret_key: SECRET_KEY.into(),
            webhook_secret: WEBHOOK_SECRET.into(),
            token_key: TOKEN_KEY.into(),
            currency: Currency::USD,
            new_reference,
            now: Box::new(|| 1_700_000_000),
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        tokio::spawn(florin_shop::run(listener, settings, stop.clone()));
        let http = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            url,
            http,
            _stop: stop.drop_guard(),
        }
    }

    /// Delivers an event as the proxy would, signed at `age_seconds` before this moment.
    pub(crate) async fn deliver(&self, delivery: &Delivery<'_>) -> StatusCode {
        let body = serde_json::to_vec(&delivery.event).unwrap();
        let timestamp = unix_now() - delivery.age_seconds;
        let signature = Webhook::new(delivery.secret)
            .unwrap()
            .sign(delivery.id, timestamp, &body)
            .unwrap();
        let sent = if delivery.altered {
            String::from_utf8(body)
                .unwrap()
                .replace("12.50", "12.51")
                .into_bytes()
        } else {
            body
        };
        self.http
            .post(format!("{}/florin", self.url))
            .header("webhook-id", delivery.id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(sent)
            .send()
            .await
            .unwrap()
            .status()
    }

    pub(crate) async fn orders(&self) -> Value {
        let response = self.http.get(format!("{}/orders.json", self.url)).send();
        let body = response.await.unwrap().text().await.unwrap();
        serde_json::from_str::<Value>(&body).unwrap()["orders"].take()
    }

    pub(crate) async fn page(&self, path: &str) -> (StatusCode, String) {
        let url = format!("{}{path}", self.url);
        let response = self.http.get(url).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }
}

/// One delivery, valid unless a test changes it.
pub(crate) struct Delivery<'a> {
    pub(crate) id: &'a str,
    pub(crate) event: Value,
    pub(crate) secret: &'a str,
    pub(crate) age_seconds: i64,
    pub(crate) altered: bool,
}

pub(crate) fn delivery<'a>(id: &'a str, kind: &str) -> Delivery<'a> {
    let order = json!({
        "id": "ord_1",
        "reference": "r-1",
        "title": "Enamel mug",
        "amount": "12.50",
        "currency": "USD",
        "status": "paid",
    });
    Delivery {
        id,
        event: json!({
            "type": kind,
            "timestamp": "2026-11-21T09:00:00Z",
            "data": { "sequence": 1, "order": order },
        }),
        secret: WEBHOOK_SECRET,
        age_seconds: 0,
        altered: false,
    }
}

fn new_reference() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("cart-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the standardwebhooks crate reads the system's clock, so the signer has to as well"
)]
fn unix_now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_secs()).unwrap()
}
