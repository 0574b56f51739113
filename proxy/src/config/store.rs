//! A merchant's shop.

use std::fmt;

use ledger::{EndpointHash, StoreId};
use money::{Amount, Currency};
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::images;
use crate::webhooks::WebhookSecrets;

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
    /// What its server signs order tokens with: none, one, or two while one replaces the other.
    pub token_keys: Vec<TokenKey>,
    /// Where customers go afterwards.
    pub return_url: Option<String>,
    /// Where customers get help.
    pub support_url: Option<String>,
    /// A picture that is shown beside its name: https, in the environment test also http on loopback.
    pub logo_url: Option<Url>,
    /// Where pictures of order lines may be, as the logo's address.
    pub image_origins: Vec<Origin>,
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
    /// Its theme, by name.
    pub theme: String,
    /// What differs from the theme: CSS values by the names in [`checkout_api::TOKENS`].
    pub theme_tokens: Vec<(&'static str, String)>,
    /// What it sells.
    pub products: Vec<Product>,
    /// What it takes donations for.
    pub donations: Vec<Donation>,
}

/// A key of signed order tokens.
#[derive(Debug)]
pub struct TokenKey {
    /// Its name in a token's header.
    pub kid: KeyId,
    /// Its bytes: the text as it is written, 32 or more of them.
    pub secret: SecretString,
}

/// The name of a token key: 1 to 32 of `A–Z a–z 0–9 _ -`, unique within its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyId(String);

impl KeyId {
    /// Checks the shape.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let fits = (1..=32).contains(&text.len()) && text.bytes().all(plain);
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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
    /// Its picture, on one of the store's `image_origins`.
    pub image_url: Option<String>,
    /// The price of one, in the store's currency.
    pub price: Amount,
    /// The most that is sold at once.
    pub max_quantity: u32,
}

/// Something that customers give money for, without getting anything for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Donation {
    /// The store's name for it.
    pub id: String,
    /// What customers read.
    pub title: String,
    /// The least that is taken, in the store's currency; above zero.
    pub min: Amount,
    /// The most that is taken.
    pub max: Amount,
    /// Amounts that the checkout offers, within the bounds.
    pub suggested: Vec<Amount>,
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

    /// Whether a picture may be shown: it is on one of the `image_origins`, and its address is at most 2048 characters of
    /// ASCII.
    ///
    /// # Errors
    /// What is wrong with the address, in words that name the key.
    pub(crate) fn check_image_url(&self, address: &str) -> Result<(), String> {
        images::admitted(&self.image_origins, address)
    }

    /// Where pictures are loaded from: the `image_origins` and the logo's.
    pub(crate) fn picture_origins(&self) -> Vec<Origin> {
        let mut origins = self.image_origins.clone();
        origins.extend(self.logo_url.as_ref().map(Origin::of));
        origins
    }

    /// Whether a link leads back to the shop: to one of its origins, or to where its `return_url` is.
    pub(crate) fn is_allowed_return_url(&self, link: &str) -> bool {
        let Ok(url) = Url::parse(link) else {
            return false;
        };
        let is_web = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none();
        let home = self.return_url.as_deref().map(Url::parse);
        let is_home = matches!(home, Some(Ok(home)) if home.origin() == url.origin());
        is_web && (is_home || self.lists_origin(&url.origin().ascii_serialization()))
    }

    /// How much of a price in the store's currency may be missing: nothing of one that the tolerance would swallow.
    pub(crate) fn tolerance_of(&self, price: Amount) -> Amount {
        if self.tolerance < price {
            self.tolerance
        } else {
            Amount::ZERO
        }
    }

    /// How much of a price in any currency may be missing: nothing of one in another currency than the store's.
    pub(crate) fn tolerance_in(&self, currency: Currency, price: Amount) -> Amount {
        if currency == self.currency {
            self.tolerance_of(price)
        } else {
            Amount::ZERO
        }
    }

    /// The donation of an id.
    pub fn donation(&self, id: &str) -> Option<&Donation> {
        self.donations.iter().find(|donation| donation.id == id)
    }

    /// The product of a sku.
    pub fn product(&self, sku: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.sku == sku)
    }
}
