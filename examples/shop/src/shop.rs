//! Everything the pages share.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use secrecy::ExposeSecret as _;

use crate::Settings;
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
            proxy: ProxyClient::new(&settings.proxy_url, settings.secret_key.clone())?,
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
