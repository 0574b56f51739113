//! A store's backend that signs order tokens, by a library that shares nothing with the proxy.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::clock::MovableClock;

/// A token key in a store's backend.
#[derive(Clone, Debug)]
pub struct TokenSigner {
    pub(crate) audience: String,
    pub(crate) clock: MovableClock,
    pub(crate) store: String,
    pub(crate) kid: String,
    pub(crate) secret: String,
}

impl TokenSigner {
    /// The same backend with another key.
    pub fn with_key(&self, kid: &str, secret: &str) -> Self {
        let (kid, secret) = (kid.to_owned(), secret.to_owned());
        Self {
            kid,
            secret,
            ..self.clone()
        }
    }

    /// The same key in the name of another store.
    pub fn for_store(&self, store: &str) -> Self {
        let store = store.to_owned();
        Self {
            store,
            ..self.clone()
        }
    }

    /// What a token says that is made at this moment and lives an hour.
    pub fn claims(&self, reference: &str, amount: &str) -> Value {
        let now = self.clock.now().as_second();
        json!({
            "aud": self.audience, "store": self.store, "reference": reference, "amount": amount,
            "currency": "USD", "iat": now, "exp": now + 3600,
        })
    }

    /// Signs claims.
    pub fn sign(&self, claims: &Value) -> String {
        let header = Header {
            kid: Some(self.kid.clone()),
            ..Header::new(Algorithm::HS256)
        };
        let key = EncodingKey::from_secret(self.secret.as_bytes());
        encode(&header, claims, &key).expect("claims are JSON")
    }

    /// A token for an order.
    pub fn token(&self, reference: &str, amount: &str) -> String {
        self.sign(&self.claims(reference, amount))
    }
}
