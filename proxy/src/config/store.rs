//! `[[store]]`: a merchant's shop.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use florin_money::{Amount, Currency, Price};
use florin_orders::{EndpointHash, EventType, StoreId, WebhookId};
use florin_storage::Endpoint;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use strum::VariantArray as _;
use url::Url;

use crate::config::Errors;
use crate::config::catalog::{
    self, Donation, DonationTable, Product, ProductTable, ThemeTable, donations, is_tolerable,
    theme,
};
use crate::config::secrets::{
    MIN_GUESSABLE_CHARS, OneOrMore, SecretPair, TokenKey, TokenKeyTable, secret_pair, secrets,
    token_keys,
};
use crate::config::sections::Role;
use crate::config::web_address::{Origin, admitted, is_loopback, origin, picture, web_address};
use crate::webhooks::address_filter::names_a_private_address;
use crate::webhooks::sign::WebhookSecrets;

#[derive(Debug)]
pub struct Store {
    pub id: StoreId,
    pub(crate) name: String,
    pub(crate) origins: Vec<Origin>,
    pub(crate) currency: Currency,
    pub(crate) secret_key: Option<SecretPair>,
    /// None, one, or two while one replaces the other.
    pub(crate) token_keys: Vec<TokenKey>,
    pub(crate) return_url: Option<String>,
    pub(crate) cancel_url: Option<String>,
    pub(crate) support_url: Option<String>,
    /// https, in the environment test also http on loopback.
    pub(crate) logo_url: Option<Url>,
    pub(crate) image_origins: Vec<Origin>,
    pub(crate) merchant_id: Option<String>,
    pub(crate) gateway_access: bool,
    /// `None` if there are no pages for its staff.
    pub(crate) staff_pages: Option<Role>,
    /// Of its days and months.
    pub(crate) time_zone: TimeZone,
    /// In `currency`.
    pub(crate) tolerance: Amount,
    pub webhooks: Vec<Webhook>,
    pub(crate) theme: String,
    /// What differs from the theme: CSS values by the names in [`florin_checkout_api::TOKENS`].
    pub(crate) theme_tokens: Vec<(&'static str, String)>,
    pub(crate) products: Vec<Product>,
    pub(crate) donations: Vec<Donation>,
}

impl Store {
    pub(crate) fn lists_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known.as_str() == origin)
    }

    /// The line `origins = […]` that lists these pages beside the ones that are listed, or why one of them cannot be listed.
    pub(crate) fn origins_with(&self, pages: &[&str]) -> Result<String, String> {
        let mut origins = self.origins.clone();
        for page in pages {
            origins.push(origin(page)?);
        }
        let origins = origins.iter().map(|origin| format!("\"{origin}\""));
        Ok(format!(
            "origins = [{}]",
            origins.collect::<Vec<_>>().join(", ")
        ))
    }

    /// Whether a picture may be shown: it is on one of the `image_origins`, and its address is at most 2048 characters of
    /// ASCII.
    pub(crate) fn check_image_url(&self, address: &str) -> Result<(), String> {
        admitted(&self.image_origins, address)
    }

    pub(crate) fn picture_origins(&self) -> Vec<Origin> {
        let mut origins = self.image_origins.clone();
        origins.extend(self.logo_url.as_ref().map(Origin::of));
        origins
    }

    /// Whether a link leads back to the shop: to one of its origins, or to where its `return_url` or `cancel_url` is.
    pub(crate) fn is_allowed_return_url(&self, link: &str) -> bool {
        let Ok(url) = Url::parse(link) else {
            return false;
        };
        let is_web = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none();
        let mut homes = [&self.return_url, &self.cancel_url].into_iter().flatten();
        let is_home =
            homes.any(|home| Url::parse(home).is_ok_and(|home| home.origin() == url.origin()));
        is_web && (is_home || self.lists_origin(&url.origin().ascii_serialization()))
    }

    /// How much of a price may be missing: nothing of one of which the tolerance is more than a tenth, and nothing of one
    /// in another currency than the store's.
    pub(crate) fn tolerance_of(&self, price: Price) -> Amount {
        if price.currency() == self.currency && is_tolerable(self.tolerance, price.amount()) {
            self.tolerance
        } else {
            Amount::ZERO
        }
    }

    pub(crate) fn donation(&self, id: &str) -> Option<&Donation> {
        self.donations.iter().find(|donation| donation.id == id)
    }

    pub(crate) fn product(&self, sku: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.sku == sku)
    }
}

/// A merchant's shop. One is required.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreTable {
    /// 1 to 32 small letters, digits and hyphens.
    pub(crate) id: String,
    /// What customers read.
    #[schemars(extend("x-default" = "the id"))]
    pub(crate) name: Option<String>,
    /// Pages that may embed the checkout and call the proxy, like `https://shop.example`.
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    /// ISO 4217 code of the catalogue's prices.
    #[schemars(extend("x-default" = "USD"))]
    pub(crate) currency: Option<String>,
    /// 32 or more characters for the store's server; or a list of two while one replaces the other: both are accepted.
    pub(crate) secret_key: Option<OneOrMore>,
    pub(crate) secret_key_file: Option<OneOrMore>,
    #[serde(default)]
    pub(crate) token_keys: Vec<TokenKeyTable>,
    /// Where customers go afterwards. Gets `?order_id=…`, never a status.
    pub(crate) return_url: Option<String>,
    /// Where customers go instead from an order that is not paid: cancelled, expired, failed. Gets `?order_id=…` too.
    #[schemars(extend("x-default" = "the return_url"))]
    pub(crate) cancel_url: Option<String>,
    /// Where customers get help: `https:` or `mailto:`.
    pub(crate) support_url: Option<String>,
    /// A picture beside the store's name: https, in the environment `test` also http on loopback.
    pub(crate) logo_url: Option<String>,
    /// Origins of the pictures of order lines and products, like `["https://cdn.shop.example"]`. A checkout loads from no
    /// other.
    #[serde(default)]
    pub(crate) image_origins: Vec<String>,
    /// The store's name at the gateway, on a platform with several merchants. It can act for no other.
    pub(crate) merchant_id: Option<String>,
    /// Whether its server may change wallets and settings at the gateway. All stores share them.
    #[schemars(extend("x-default" = "true for a single store, else false"))]
    pub(crate) gateway_access: Option<bool>,
    /// What the store's staff may do on the pages below `/staff`, to which the store's server makes links: `none`, `read` to
    /// see the store's orders, or `write` to decide about them too, as an operator does.
    #[schemars(extend("enum" = ["none", "read", "write"]))]
    pub(crate) staff_pages: Option<String>,
    /// The time zone of the store's days and months in its settlements, by its IANA name, like `Europe/Berlin`. Its rules are
    /// those of this machine (`tzdata`).
    #[schemars(extend("x-default" = "UTC"))]
    pub(crate) time_zone: Option<String>,
    /// How much may be missing and still count as paid: an amount in the store's currency, as a string. At most a tenth of
    /// each product's price; of another order that is cheaper, nothing may be missing.
    #[schemars(extend("x-default" = "0"))]
    pub(crate) underpayment_tolerance: Option<String>,
    #[serde(default)]
    pub(crate) webhook: Vec<WebhookTable>,
    #[serde(default)]
    pub(crate) theme: ThemeTable,
    #[serde(default)]
    pub(crate) product: Vec<ProductTable>,
    #[serde(default)]
    pub(crate) donation: Vec<DonationTable>,
}

pub(crate) fn store(errors: &mut Errors, table: StoreTable, is_test: bool) -> Option<Store> {
    let key = |name: &str| format!("store.{}.{name}", table.id);
    let id = errors.record(&key("id"), StoreId::parse(&table.id));
    let currency = Currency::parse(table.currency.as_deref().unwrap_or("USD"));
    let currency = errors.record(&key("currency"), currency);
    let mut origins = Vec::new();
    for text in &table.origins {
        origins.extend(errors.record(&key("origins"), origin(text)));
    }
    let logo_url = table.logo_url.as_deref();
    let logo_url = logo_url.map(|text| picture(text, is_test));
    let logo_url = errors.record(&key("logo_url"), logo_url.transpose());
    let mut image_origins = Vec::new();
    for text in &table.image_origins {
        let found = picture(text, is_test).and_then(|_| origin(text));
        image_origins.extend(errors.record(&key("image_origins"), found));
    }
    let secret_key = if table.secret_key.is_some() || table.secret_key_file.is_some() {
        let found = secret_pair(table.secret_key, table.secret_key_file, MIN_GUESSABLE_CHARS);
        errors.record(&key("secret_key"), found)
    } else {
        None
    };
    let staff_pages = match table.staff_pages.as_deref() {
        Some("read") => Some(Role::Read),
        Some("write") => Some(Role::Write),
        _ => None,
    };
    let token_keys = token_keys(errors, &table.id, table.token_keys);
    for (name, link) in [
        ("return_url", &table.return_url),
        ("cancel_url", &table.cancel_url),
        ("support_url", &table.support_url),
    ] {
        if let Some(text) = link {
            errors.record(&key(name), link_address(text, name == "support_url"));
        }
    }
    let time_zone = table.time_zone.as_deref().unwrap_or("UTC");
    let time_zone = TimeZone::get(time_zone).map_err(|_| {
        "write the IANA name of a time zone, like Europe/Berlin; its rules need the package tzdata"
    });
    let time_zone = errors.record(&key("time_zone"), time_zone);
    let tolerance = Amount::parse(table.underpayment_tolerance.as_deref().unwrap_or("0"));
    let tolerance = errors.record(&key("underpayment_tolerance"), tolerance);
    let merchant_id = table.merchant_id.map(merchant_id).transpose();
    let merchant_id = errors.record(&key("merchant_id"), merchant_id);
    let (theme, theme_tokens) = theme(errors, &table.id, table.theme);
    let ids = table.webhook.iter().map(|hook| &hook.id);
    errors.require_distinct(&key("webhook"), "id", ids);
    let mut webhooks = Vec::new();
    for hook in table.webhook {
        let key = key(&format!("webhook.{}", hook.id));
        let found = webhook(&table.id, hook, is_test);
        webhooks.extend(errors.record(&key, found));
    }
    let skus = table.product.iter().map(|product| &product.sku);
    errors.require_distinct(&key("product"), "sku", skus);
    let mut products = Vec::new();
    for product in table.product {
        let sku_key = key(&format!("product.{}", product.sku));
        let found = currency.ok_or_else(String::new).and_then(|currency| {
            if let Some(image) = &product.image_url {
                admitted(&image_origins, image)
                    .map_err(|message| format!("image_url: {message}"))?;
            }
            catalog::product(product, currency, tolerance.unwrap_or(Amount::ZERO))
        });
        let found = errors.record(&sku_key, found);
        products.extend(found);
    }
    let donations = donations(errors, &table.id, table.donation, currency);
    Some(Store {
        name: table.name.unwrap_or_else(|| table.id.clone()),
        id: id?,
        origins,
        currency: currency?,
        secret_key,
        token_keys,
        return_url: table.return_url,
        cancel_url: table.cancel_url,
        support_url: table.support_url,
        logo_url: logo_url?,
        image_origins,
        merchant_id: merchant_id?,
        gateway_access: table.gateway_access.unwrap_or(false),
        staff_pages,
        time_zone: time_zone?,
        tolerance: tolerance?,
        webhooks,
        theme,
        theme_tokens,
        products,
        donations,
    })
}

/// `Assumed:` a merchant's name at the gateway is visible ASCII, as its other identifiers are.
fn merchant_id(text: String) -> Result<String, String> {
    if (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(text);
    }
    Err("write 1 to 128 visible characters, as the gateway gave them".into())
}

fn link_address(text: &str, may_be_mail: bool) -> Result<(), String> {
    if may_be_mail
        && text
            .strip_prefix("mailto:")
            .is_some_and(|to| to.contains('@'))
    {
        return Ok(());
    }
    web_address(text).map(|_| ())
}

// `[[store.webhook]]`: where a store's events are delivered.

/// Bytes of a webhook secret. Source: Standard Webhooks 1.0.0, "Signature scheme": between 24 and 64.
const WEBHOOK_SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

#[derive(Debug)]
pub struct Webhook {
    /// Its store, and its id there.
    pub key: Endpoint,
    /// The types of events that are for it; `None` for all.
    pub(crate) events: Option<Vec<String>>,
    pub url: Url,
    pub secrets: WebhookSecrets,
    /// Whether the endpoint may be on a private or loopback address.
    pub dangerous_allow_private_targets: bool,
}

impl Webhook {
    pub(crate) fn endpoint(&self) -> EndpointHash {
        EndpointHash(Sha256::digest(self.url.as_str().as_bytes()).into())
    }
}

/// Where the store's events are delivered; several are independent of each other. Without this section, events are not delivered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookTable {
    /// 1 to 32 small letters, digits and hyphens: its name in lists of deliveries. One with another id is another webhook: it gets
    /// the events that happen from then on.
    #[serde(default = "default_webhook")]
    pub(crate) id: String,
    /// The types of events that it gets, like `["order.paid", "order.reverted"]`.
    #[schemars(extend("x-default" = "all"))]
    pub(crate) events: Option<Vec<String>>,
    /// Where events are delivered: https, or http on loopback.
    #[schemars(extend("x-shown" = "origin"))]
    pub(crate) url: String,
    /// `whsec_` and 24 to 64 bytes in base64; or a list of two while one replaces the other, the new one first.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) secret: Option<OneOrMore>,
    pub(crate) secret_file: Option<OneOrMore>,
    /// Whether the endpoint may be on a loopback or private address, in the environment `test` alone.
    #[serde(default)]
    pub(crate) dangerous_allow_private_targets: bool,
}

fn default_webhook() -> String {
    WebhookId::default().to_string()
}

fn webhook(store: &str, table: WebhookTable, is_test: bool) -> Result<Webhook, String> {
    let webhook = WebhookId::parse(&table.id).map_err(|error| format!("id: {error}"))?;
    let mut events = table.events.iter().flatten();
    if let Some(event) = events.find(|event| EventType::parse(event).is_none()) {
        let known: Vec<&str> = EventType::VARIANTS.iter().map(|it| (*it).into()).collect();
        let known = known.join(", ");
        let message = "or the same with donation. in place of order.";
        return Err(format!(
            "events: {event:?} is unknown: write some of {known}, {message}"
        ));
    }
    let private = table.dangerous_allow_private_targets;
    if private && !is_test {
        return Err("dangerous_allow_private_targets is for the environment test alone".into());
    }
    let url = web_address(&table.url).map_err(|message| format!("url: {message}"))?;
    if !private && (is_loopback(&url) || names_a_private_address(&url)) {
        return Err(format!(
            "url: {} is a private address; for a test on one machine set \
             dangerous_allow_private_targets = true",
            table.url
        ));
    }
    let store = StoreId::parse(store).map_err(|_| "the id of its store is wrong")?;
    Ok(Webhook {
        key: Endpoint { store, webhook },
        events: table.events.filter(|events| !events.is_empty()),
        url,
        secrets: webhook_secrets(table.secret, table.secret_file)?,
        dangerous_allow_private_targets: private,
    })
}

fn webhook_secrets(
    values: Option<OneOrMore>,
    files: Option<OneOrMore>,
) -> Result<WebhookSecrets, String> {
    let texts = secrets(values, files, 1).map_err(|message| format!("secret: {message}"))?;
    let secrets: Vec<_> = texts.iter().map(webhook_secret).collect::<Result<_, _>>()?;
    Ok(WebhookSecrets::new(secrets))
}

fn webhook_secret(text: &SecretString) -> Result<Vec<u8>, String> {
    let shape = "secret: write whsec_ and 24 to 64 random bytes in base64";
    let encoded = text.expose_secret().strip_prefix("whsec_").ok_or(shape)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| shape)?;
    if !WEBHOOK_SECRET_BYTES.contains(&bytes.len()) {
        return Err(shape.into());
    }
    Ok(bytes)
}
