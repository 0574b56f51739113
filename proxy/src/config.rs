//! The proxy's configuration: read from a file and the environment, checked whole, then valid for good.

mod check;
mod check_donation;
mod check_store;
mod check_theme;
mod check_token_keys;
mod client_settings;
mod images;
mod network;
mod reference;
mod secret;
mod source;
mod store;
mod web_address;

use std::net::SocketAddr;
use std::time::Duration;

use checkout_api::Environment;
use ledger::StoreId;
use secrecy::SecretString;
use service_api::NonceRule;
use url::Url;

pub use network::Network;
pub use reference::reference;
pub use source::load;
pub use store::{Donation, KeyId, Origin, Product, Store, TokenKey, Webhook};
pub(crate) use web_address::is_encrypted_or_loopback;

/// A configuration that passed every check.
#[derive(Debug)]
pub struct Config {
    /// Where browsers and stores call.
    pub listen: SocketAddr,
    /// Where the operator asks for health. Loopback unless said otherwise.
    pub admin_listen: SocketAddr,
    /// Where browsers reach `listen` from outside; without a trailing slash.
    pub public_url: PublicUrl,
    /// `sqlite://…`.
    pub database_url: String,
    /// Which money moves.
    pub environment: Environment,
    /// The payment service.
    pub service: Service,
    /// The stores, one at least.
    pub stores: Vec<Store>,
    /// Reverse proxies in front, whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Orders that one address may open in a minute by a product or a donation.
    pub opens_per_minute: u32,
    /// What is logged: `tracing` filter directives.
    pub log: String,
}

/// How the payment service is reached and asked.
#[derive(Debug)]
pub struct Service {
    /// Its base address, ending in `/api`.
    pub url: Url,
    /// Its name for the account.
    pub api_key: SecretString,
    /// What calls are signed with.
    pub api_secret: SecretString,
    /// The unguessable part of the callbacks' path.
    pub callback_token: SecretString,
    /// Where its hosted page is; customers are sent nowhere else. None: no hosted orders.
    pub checkout_url: Option<Url>,
    /// How long a price is offered after it was fetched.
    pub quote_lifetime: Duration,
    /// How often an attempt is asked about while somebody watches it.
    pub watch_interval: Duration,
    /// The most requests that are sent to it in a second, until it says 429.
    pub requests_per_second: u32,
    /// Whether it takes one nonce for several requests.
    pub nonces: NonceRule,
    /// Whether a PUT signs its body as a POST does.
    pub sign_put_body: bool,
}

/// Where browsers reach the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    base: String,
    origin: Origin,
}

impl PublicUrl {
    /// Takes a checked address.
    pub(crate) fn of(url: &Url) -> Self {
        let base = url.as_str().trim_end_matches('/').to_owned();
        Self {
            base,
            origin: Origin::of(url),
        }
    }

    /// The address without a trailing slash: `https://pay.shop.example`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The proxy's own origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl Config {
    /// The store of an id.
    pub fn store(&self, id: &StoreId) -> Option<&Store> {
        self.stores.iter().find(|store| store.id == *id)
    }

    /// Whether any store lists this origin.
    pub fn knows_origin(&self, origin: &str) -> bool {
        self.stores.iter().any(|store| store.lists_origin(origin))
    }
}

/// Everything that is wrong with a configuration, each by its key.
#[derive(Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, `service.url` or `store.demo.origins`, with the variable where there is one.
    pub key: String,
    /// What is wrong and what to write instead. Never a secret.
    pub message: String,
}

impl std::fmt::Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for Problem { key, message } in &self.0 {
            writeln!(f, "{key}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests;
