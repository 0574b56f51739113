//! The ways to create an order.

use florin_invariants::amount::text;
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{AlgorithmExt as _, Claims, Header};
use serde_json::{Value, json};

use crate::proxy::{Proxy, Response};
use crate::stores::{KEY_ID, ORIGIN, PUBLIC_URL, Store};
use crate::timeline::Millis;

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
    /// The asset that is chosen with the order, and its quote.
    pub(crate) choice: Option<(Value, Value)>,
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
        let mut body = body;
        if let Some((crypto_code, quote_id)) = &self.choice {
            body["crypto_code"] = crypto_code.clone();
            body["quote_id"] = quote_id.clone();
        }
        self.send(proxy, "/v1/checkout", None, &body).await
    }

    /// Chooses an asset, at a quote of the store's product: quotes are those of all orders.
    pub(crate) async fn choose(&mut self, proxy: &Proxy) {
        let (store, product) = (self.store.id, self.product);
        let path = format!("/v1/checkout/offer?store={store}&product={product}");
        let offer = proxy.call_once("GET", &path, None, None, None).await;
        let quotes = offer.and_then(|(_, offer)| offer["quotes"].as_array().cloned());
        let mut quotes = quotes.unwrap_or_default();
        quotes.retain(|quote| quote["available"] == true);
        let quotes: Vec<&Value> = quotes.iter().collect();
        if !quotes.is_empty() {
            let quote = proxy.world().random.pick(&quotes);
            self.choice = Some((quote["crypto_code"].clone(), quote["quote_id"].clone()));
        }
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
