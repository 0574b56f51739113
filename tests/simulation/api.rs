//! The doors through which a customer's order comes.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::decimal::text;
use crate::stores::{KEY_ID, ORIGIN, PRODUCTS, PUBLIC_URL, Store};
use crate::timeline::Millis;
use crate::world::{Answer, World};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Door {
    Catalogue,
    OrderToken,
    Donation,
    StoreServer,
    Hosted,
}

pub(crate) const DOORS: [Door; 5] = [
    Door::Catalogue,
    Door::OrderToken,
    Door::Donation,
    Door::StoreServer,
    Door::Hosted,
];

/// What a customer wants, and how the store calls it.
pub(crate) struct Wanted {
    pub(crate) store: Store,
    pub(crate) door: Door,
    pub(crate) product: usize,
    pub(crate) quantity: i64,
    /// In units.
    pub(crate) price: i128,
    pub(crate) reference: String,
    pub(crate) expires_in_seconds: Option<i64>,
    /// What the store or the page calls this request, if it does.
    pub(crate) key: Option<String>,
}

impl Wanted {
    /// Knocks once; the same again is harmless at every door.
    pub(crate) async fn knock(&self, world: &World) -> Option<Answer> {
        let (store, amount) = (self.store, text(self.price));
        let body = match self.door {
            Door::Catalogue => {
                let (sku, _) = PRODUCTS[self.product];
                json!({ "store": store.id, "product": sku, "quantity": self.quantity })
            }
            Door::Donation => json!({ "store": store.id, "donation": "tip", "amount": amount }),
            Door::OrderToken => json!({ "order_token": self.mint(world.wall()) }),
            Door::StoreServer | Door::Hosted => {
                let mut body = json!({
                    "amount": amount, "currency": store.currency, "reference": self.reference,
                });
                if let Some(seconds) = self.expires_in_seconds {
                    body["expires_in_seconds"] = seconds.into();
                }
                if matches!(self.door, Door::Hosted) {
                    body["flow"] = "hosted".into();
                    body["customer_email"] = self.email().into();
                    body["return_url"] = format!("{ORIGIN}/thanks").into();
                }
                let secret = store.secret_key();
                return self.asks(world, "/v1/orders", Some(&secret), &body).await;
            }
        };
        self.asks(world, "/v1/checkout", None, &body).await
    }

    async fn asks(
        &self,
        world: &World,
        path: &str,
        bearer: Option<&str>,
        body: &Value,
    ) -> Option<Answer> {
        let key = self.key.as_deref();
        world.call_once("POST", path, bearer, Some(body), key).await
    }

    /// The store's server sends another order with the key that it used for this one.
    pub(crate) async fn knocks_with_a_used_key(&self, world: &World) -> Option<Answer> {
        let body = json!({
            "amount": text(self.price), "currency": self.store.currency,
            "reference": format!("{}-other", self.reference),
        });
        let secret = self.store.secret_key();
        self.asks(world, "/v1/orders", Some(&secret), &body).await
    }

    /// What the service knows the customer by.
    pub(crate) fn email(&self) -> String {
        format!("{}@example.com", self.reference)
    }

    /// The store's backend signs, by a library that shares nothing with the proxy.
    fn mint(&self, wall: Millis) -> String {
        let now = wall / 1000;
        let claims: Value = json!({
            "aud": PUBLIC_URL, "store": self.store.id, "reference": self.reference, "amount": text(self.price),
            "currency": self.store.currency, "iat": now, "exp": now + 3600,
        });
        let header = Header {
            kid: Some(KEY_ID.to_owned()),
            ..Header::new(Algorithm::HS256)
        };
        let key = EncodingKey::from_secret(self.store.token_secret().as_bytes());
        encode(&header, &claims, &key).expect("claims are JSON")
    }
}
