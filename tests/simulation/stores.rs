//! The stores of every world, the ways to create an order of them, the deliveries that they accepted, and their endpoints with
//! injected faults, between one process of the proxy and the model.

use std::fmt::Write as _;

use async_trait::async_trait;
use florin_invariants::Delivery;
use florin_invariants::amount::text;
use florin_orders::Event;
use florin_proxy::config::Webhook;
use florin_proxy::webhooks::{SendOutcome, Webhooks};
use jiff::Timestamp;
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{AlgorithmExt as _, Claims, Header};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::disaster::Step;
use crate::process::Process;
use crate::proxy::{Proxy, Response};
use crate::timeline::Millis;

pub(crate) const ORIGIN: &str = "https://shop.example";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub(crate) id: &'static str,
    pub(crate) currency: &'static str,
    pub(crate) tolerance: &'static str,
    pub(crate) has_webhook: bool,
}

pub(crate) const STORES: [Store; 4] = [
    Store::new("demo", "USD", "0", true),
    Store::new("kind", "USD", "0.40", true),
    Store::new("euro", "EUR", "0", true),
    Store::new("mute", "USD", "0", false),
];

pub(crate) const PRODUCTS: [(&str, &str); 3] =
    [("card", "4.50"), ("ebook", "19.90"), ("chair", "349.00")];

pub(crate) const PUBLIC_URL: &str = "http://127.0.0.1:8080";

pub(crate) const CHECKOUT_URL: &str = "https://checkout.example/pay";

/// The kid of every store's token key; a store still cannot sign for another one.
pub(crate) const KEY_ID: &str = "k1";

pub(crate) const CALLBACK_TOKEN: &str = "simulated-callback-token-of-32-characters";

impl Store {
    const fn new(
        id: &'static str,
        currency: &'static str,
        tolerance: &'static str,
        has_webhook: bool,
    ) -> Self {
        Self {
            id,
            currency,
            tolerance,
            has_webhook,
        }
    }

    pub(crate) fn token_secret(self) -> String {
        format!("simulated-token-secret-of-{}-0123456789", self.id)
    }

    pub(crate) fn secret_key(self) -> String {
        format!("simulated-secret-key-of-{}-0123456789", self.id)
    }
}

pub(crate) fn florin_toml(database: &str) -> String {
    let mut text = format!(
        r#"public_url = "{PUBLIC_URL}"
database_url = "{database}"
environment = "test"

[gateway]
url = "http://127.0.0.1:1/api"
checkout_url = "{CHECKOUT_URL}"
api_key = "simulated-key"
api_secret = "simulated-secret"
callback_token = "{CALLBACK_TOKEN}"
"#
    );
    for store in STORES {
        let _ = write!(
            text,
            r#"
[[store]]
id = "{}"
name = "A simulated shop"
origins = ["{ORIGIN}"]
currency = "{}"
secret_key = "{}"
underpayment_tolerance = "{}"
token_keys = [{{ kid = "{KEY_ID}", secret = "{}" }}]
[[store.donation]]
id = "tip"
title = "A tip"
min = "1"
max = "9999"
"#,
            store.id,
            store.currency,
            store.secret_key(),
            store.tolerance,
            store.token_secret()
        );
        for (sku, price) in PRODUCTS {
            let _ = write!(
                text,
                "[[store.product]]\nsku = \"{sku}\"\ntitle = \"{sku}\"\nprice = \"{price}\"\nmax_quantity = 5\n"
            );
        }
        if store.has_webhook {
            text += "[store.webhook]\nurl = \"https://shop.example/florin\"\n\
                     secret = \"whsec_Y2FuYXJ5LXdlYmhvb2stc2VjcmV0LTkzZDc=\"\n";
        }
    }
    text
}

/// Deliveries that the stores accepted, including those whose response was lost.
#[derive(Debug, Default)]
pub(crate) struct Shop(Mutex<Vec<Delivery>>);

impl Shop {
    pub(crate) fn accept(&self, event: &Event, at: Millis) {
        let delivery = Delivery {
            at,
            id: event.id.as_str().to_owned(),
            body: event.payload.clone(),
            is_accepted: true,
            signature: None,
        };
        self.0.lock().push(delivery);
    }

    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        self.0.lock().clone()
    }
}

pub(crate) struct SimulatedSender(pub(crate) Process);

#[derive(Clone, Copy, Debug)]
pub(crate) enum EndpointFault {
    Refused,
    Error,
    Redirect,
    LostBefore,
    LostAfter,
    ErrorAfter,
    Gone,
    Slow,
    CrashBefore,
    CrashAfter,
}

pub(crate) const ENDPOINT_FAULTS: [(u64, EndpointFault); 10] = [
    (15, EndpointFault::Refused),
    (25, EndpointFault::Error),
    (5, EndpointFault::Redirect),
    (10, EndpointFault::LostBefore),
    (15, EndpointFault::LostAfter),
    (10, EndpointFault::ErrorAfter),
    (1, EndpointFault::Gone),
    (10, EndpointFault::Slow),
    (3, EndpointFault::CrashBefore),
    (4, EndpointFault::CrashAfter),
];

#[async_trait]
impl Webhooks for SimulatedSender {
    async fn send(&self, _: &Webhook, event: &Event, _: Timestamp) -> SendOutcome {
        let (process, world) = (&self.0, &self.0.world);
        process.sleep(world.random.between(5, 300)).await;
        world.step(Step::Webhook);
        world.log(|| format!("store: {} {:?}", event.id, event.event_type));
        let fault = world.draw_fault("faults of the store", 250, &ENDPOINT_FAULTS);
        let accept = || world.shop.accept(event, world.timeline.now());
        let failed = |why: &str| SendOutcome::Failed(format!("injected: {why}"));
        let sent = match fault {
            None => {
                accept();
                SendOutcome::status(world.random.pick(&[200, 204]))
            }
            Some(EndpointFault::Refused) => failed("refused"),
            Some(EndpointFault::Error) => {
                SendOutcome::status(world.random.pick(&[500, 503, 404, 429]))
            }
            Some(EndpointFault::Redirect) => SendOutcome::status(301),
            Some(EndpointFault::LostBefore) => {
                process.sleep(15_000).await;
                failed("no response in time")
            }
            Some(EndpointFault::LostAfter) => {
                accept();
                process.sleep(15_000).await;
                failed("no response in time")
            }
            Some(EndpointFault::ErrorAfter) => {
                accept();
                SendOutcome::status(500)
            }
            Some(EndpointFault::Gone) => SendOutcome::status(410),
            Some(EndpointFault::Slow) => {
                process.sleep(world.random.between(1000, 14_000)).await;
                accept();
                SendOutcome::status(200)
            }
            Some(EndpointFault::CrashBefore) => process.crash("before a delivery").await,
            Some(EndpointFault::CrashAfter) => {
                accept();
                process
                    .crash("after a delivery and before it is recorded")
                    .await
            }
        };
        process.sleep(world.random.between(5, 300)).await;
        sent
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum OrderSource {
    Product,
    OrderToken,
    Donation,
    StoreServer,
    Hosted,
}

pub(crate) const ORDER_SOURCES: [OrderSource; 5] = [
    OrderSource::Product,
    OrderSource::OrderToken,
    OrderSource::Donation,
    OrderSource::StoreServer,
    OrderSource::Hosted,
];

pub(crate) struct OrderRequest {
    pub(crate) store: Store,
    pub(crate) source: OrderSource,
    pub(crate) product: &'static str,
    pub(crate) quantity: i64,
    pub(crate) price: i128,
    pub(crate) reference: String,
    pub(crate) expires_in_seconds: Option<i64>,
    pub(crate) key: Option<String>,
}

impl OrderRequest {
    /// Sends the request once; repeating it is harmless for every source.
    pub(crate) async fn open(&self, proxy: &Proxy) -> Option<Response> {
        let (store, amount) = (self.store, text(self.price));
        let body = match self.source {
            OrderSource::Product => {
                json!({ "store": store.id, "product": self.product, "quantity": self.quantity })
            }
            OrderSource::Donation => {
                json!({ "store": store.id, "donation": "tip", "amount": amount })
            }
            OrderSource::OrderToken => json!({ "order_token": self.sign(proxy.world().wall()) }),
            OrderSource::StoreServer | OrderSource::Hosted => {
                let mut body = json!({
                    "amount": amount, "currency": store.currency, "reference": self.reference,
                });
                if let Some(seconds) = self.expires_in_seconds {
                    body["expires_in_seconds"] = seconds.into();
                }
                if matches!(self.source, OrderSource::Hosted) {
                    body["flow"] = "hosted".into();
                    body["customer_email"] = self.email().into();
                    body["return_url"] = format!("{ORIGIN}/thanks").into();
                }
                let secret = store.secret_key();
                return self.send(proxy, "/v1/orders", Some(&secret), &body).await;
            }
        };
        self.send(proxy, "/v1/checkout", None, &body).await
    }

    async fn send(
        &self,
        proxy: &Proxy,
        path: &str,
        bearer: Option<&str>,
        body: &Value,
    ) -> Option<Response> {
        let key = self.key.as_deref();
        proxy.call_once("POST", path, bearer, Some(body), key).await
    }

    pub(crate) async fn reuse_key(&self, proxy: &Proxy) -> Option<Response> {
        let body = json!({
            "amount": text(self.price), "currency": self.store.currency,
            "reference": format!("{}-other", self.reference),
        });
        let secret = self.store.secret_key();
        self.send(proxy, "/v1/orders", Some(&secret), &body).await
    }

    /// The customer's e-mail address, by which the gateway knows the order.
    pub(crate) fn email(&self) -> String {
        format!("{}@example.com", self.reference)
    }

    /// Signs an order token by a library that shares no code with the proxy.
    fn sign(&self, wall: Millis) -> String {
        let now = wall / 1000;
        let claims: Value = json!({
            "aud": PUBLIC_URL, "store": self.store.id, "reference": self.reference, "amount": text(self.price),
            "currency": self.store.currency, "iat": now, "exp": now + 3600,
        });
        let header = Header::empty().with_key_id(KEY_ID);
        let key = Hs256Key::new(self.store.token_secret());
        let token = Hs256.token(&header, &Claims::new(claims), &key);
        token.expect("claims are JSON")
    }
}
