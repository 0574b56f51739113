//! The doors through which a customer's order comes.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::decimal::text;
use crate::stores::{KEY_ID, PRODUCTS, PUBLIC_URL, Store};
use crate::timeline::Millis;
use crate::world::{Answer, World};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Door {
    Catalogue,
    OrderToken,
    Donation,
    StoreServer,
}

pub(crate) const DOORS: [Door; 4] = [
    Door::Catalogue,
    Door::OrderToken,
    Door::Donation,
    Door::StoreServer,
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
            Door::StoreServer => {
                let mut body = json!({
                    "amount": amount, "currency": store.currency, "reference": self.reference,
                });
                if let Some(seconds) = self.expires_in_seconds {
                    body["expires_in_seconds"] = seconds.into();
                }
                let key = store.secret_key();
                let path = "/v1/orders";
                return world.call("POST", path, Some(&key), Some(&body)).await;
            }
        };
        world.call("POST", "/v1/checkout", None, Some(&body)).await
    }

    /// The store's backend signs, by a library that shares nothing with the proxy.
    fn mint(&self, wall: Millis) -> String {
        let now = wall / 1000;
        let claims: Value = json!({
            "aud": PUBLIC_URL, "store": self.store.id, "ord": self.reference, "amt": text(self.price),
            "cur": self.store.currency, "iat": now, "exp": now + 3600,
        });
        let header = Header {
            kid: Some(KEY_ID.to_owned()),
            ..Header::new(Algorithm::HS256)
        };
        let key = EncodingKey::from_secret(self.store.token_secret().as_bytes());
        encode(&header, &claims, &key).expect("claims are JSON")
    }
}
