//! A merchant's shop.

use std::fmt;

use ledger::{EndpointHash, StoreId};
use money::{Amount, Currency};
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::webhook::WebhookSecrets;

/// A store of the configuration.
#[derive(Debug)]
pub struct Store {
    /// Its id.
    pub id: StoreId,
    /// What customers read.
    pub name: String,
    /// Pages that may embed its checkout and call the proxy.
    pub origins: Vec<Origin>,
    /// The currency of its catalogue.
    pub currency: Currency,
    /// What its server calls the merchant API with; none without a server.
    pub secret_key: Option<SecretString>,
    /// Where customers go afterwards.
    pub return_url: Option<String>,
    /// Where customers get help.
    pub support_url: Option<String>,
    /// Its name at the service, on a platform with several merchants.
    pub merchant_id: Option<String>,
    /// Whether its server may call the service's account endpoints: wallets and settings belong to all stores together.
    pub service_access: bool,
    /// How much may be missing and still count as paid, in `currency`.
    pub tolerance: Amount,
    /// Confirmations that are shown as required until the service states its own.
    pub confirmations_required: u32,
    /// Where it is told of events.
    pub webhook: Option<Webhook>,
    /// The preset of its theme.
    pub theme: String,
    /// What it sells.
    pub products: Vec<Product>,
}

/// Where a store is told of events.
#[derive(Debug)]
pub struct Webhook {
    /// The endpoint.
    pub url: Url,
    /// What deliveries are signed with.
    pub secrets: WebhookSecrets,
    /// Whether the endpoint may be on a private or loopback address.
    pub dangerous_allow_private_targets: bool,
}

impl Webhook {
    /// Names the endpoint without its address.
    pub(crate) fn endpoint(&self) -> EndpointHash {
        EndpointHash(Sha256::digest(self.url.as_str().as_bytes()).into())
    }
}

/// Something a store sells at a fixed price.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The store's name for it.
    pub sku: String,
    /// What customers read.
    pub title: String,
    /// The price of one, in the store's currency.
    pub price: Amount,
    /// The most that is sold at once.
    pub max_quantity: u32,
}

/// Scheme, host and port of a page, as browsers write it in `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin of an address.
    pub fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    /// As in the header `Origin`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Store {
    /// Whether pages of this origin may embed and call.
    pub fn lists_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known.as_str() == origin)
    }

    /// How much of a price in the store's currency may be missing: nothing of one that the tolerance would swallow.
    pub(crate) fn tolerance_of(&self, price: Amount) -> Amount {
        if self.tolerance < price {
            self.tolerance
        } else {
            Amount::ZERO
        }
    }

    /// The product of a sku.
    pub fn product(&self, sku: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.sku == sku)
    }
}
