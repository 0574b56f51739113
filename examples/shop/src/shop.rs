//! Everything the pages share, and the settings that it is made from.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use florin_money::Currency;
use secrecy::{ExposeSecret as _, SecretString};

use crate::catalogue::Catalogue;
use crate::order_book::OrderBook;
use crate::proxy_client::ProxyClient;
use crate::webhook::Verifier;

/// The shop: what it sells, what it knows of its orders, and how it talks with the proxy.
pub(crate) struct Shop {
    pub(crate) settings: Settings,
    pub(crate) catalogue: Catalogue,
    pub(crate) proxy: ProxyClient,
    pub(crate) verifier: Verifier,
    orders: Mutex<OrderBook>,
    checkouts: Mutex<BTreeMap<String, Checkout>>,
}

/// A cart on its way to be paid.
#[derive(Clone)]
pub(crate) struct Checkout {
    /// `1 × Enamel mug`.
    pub(crate) title: String,
    /// `$12.50`.
    pub(crate) price: String,
    pub(crate) client_token: String,
}

impl Shop {
    /// # Errors
    /// A setting is unusable; the error names it.
    pub(crate) fn new(settings: Settings) -> anyhow::Result<Self> {
        Ok(Self {
            catalogue: Catalogue::read()?,
            proxy: ProxyClient::new()?,
            verifier: Verifier::new(settings.webhook_secret.expose_secret())?,
            settings,
            orders: Mutex::default(),
            checkouts: Mutex::default(),
        })
    }

    pub(crate) fn orders(&self) -> MutexGuard<'_, OrderBook> {
        self.orders.lock().expect("no holder of the lock panics")
    }

    pub(crate) fn checkouts(&self) -> MutexGuard<'_, BTreeMap<String, Checkout>> {
        self.checkouts.lock().expect("no holder of the lock panics")
    }
}

/// Where the proxy is, and what the shop shares with it.
pub struct Settings {
    /// The proxy's public address without a slash at the end: `https://pay.shop.example`.
    pub proxy_url: String,
    /// The store's `id` in the proxy's configuration.
    pub store_id: String,
    /// The store's `secret_key`: opens orders. Stays in the backend.
    pub secret_key: SecretString,
    /// The store's webhook secret, `whsec_` and base64 of at least 24 bytes.
    pub webhook_secret: SecretString,
    /// The secret of the store's token key `k1`: signs order tokens. Stays in the backend.
    pub token_key: SecretString,
    /// The store's `currency`: what the prices of the catalogue are written in.
    pub currency: Currency,
    /// Makes the reference of a new cart: 1 to 64 letters, digits and dashes, never the same twice, and not to be
    /// guessed, since the address of a cart's checkout contains it.
    pub new_reference: fn() -> String,
    /// Seconds since 1970: when an order token is made.
    pub now: Box<dyn Fn() -> u64 + Send + Sync>,
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;

    pub(crate) const SECRET_KEY: &str = "sk_of_the_demo_store";
    pub(crate) const TOKEN_KEY: &str = "token-key-of-a-shop-in-a-test-0123456789";
    pub(crate) const WEBHOOK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    /// The reference of every cart is `cart-1`.
    pub(crate) fn shop_at(proxy_url: &str) -> Arc<Shop> {
        let shop = Shop::new(Settings {
            proxy_url: proxy_url.to_owned(),
            store_id: "demo".to_owned(),
            secret_key: SECRET_KEY.into(),
            webhook_secret: WEBHOOK_SECRET.into(),
            token_key: TOKEN_KEY.into(),
            currency: Currency::USD,
            new_reference: || "cart-1".to_owned(),
            now: Box::new(|| 1_700_000_000),
        });
        Arc::new(shop.unwrap())
    }
}
