//! The stores of every world, and the deliveries that they accepted.

use std::fmt::Write as _;

use florin_invariants::Delivery;
use florin_orders::Event;
use parking_lot::Mutex;

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
            text += "[[store.webhook]]\nurl = \"https://shop.example/florin\"\n\
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
