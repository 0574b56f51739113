//! `[[store]]`: a merchant's shop.

use florin_money::{Amount, Currency, Price};
use florin_orders::StoreId;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::config::catalog::{self, Donation, DonationTable, Product, ProductTable, donations};
use crate::config::keys::Key;
use crate::config::problems::Findings;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};
use crate::config::theme::{ThemeTable, theme};
use crate::config::token_keys::{TokenKey, TokenKeyTable, token_keys};
use crate::config::web_address::{Origin, admitted, origin, picture, web_address};
use crate::config::webhook::{Webhook, WebhookTable, webhook};

/// The keys of the section itself.
pub(crate) const KEYS: &[Key] = &[
    (
        "id",
        "",
        "required",
        "1 to 32 small letters, digits and hyphens",
    ),
    ("name", "", "the id", "what customers read"),
    (
        "origins",
        "",
        "none",
        "pages that may embed the checkout and call, like https://shop.example",
    ),
    (
        "currency",
        "",
        "USD",
        "ISO 4217 code of the catalogue's prices",
    ),
    (
        "secret_key",
        "",
        "none",
        "32 or more characters for the store's server; or secret_key_file",
    ),
    (
        "return_url",
        "",
        "none",
        "where customers go afterwards; gets ?order_id=…, never a status",
    ),
    (
        "support_url",
        "",
        "none",
        "https: or mailto: where customers get help",
    ),
    (
        "logo_url",
        "",
        "none",
        "a picture beside the store's name; https, in the environment test also http on loopback",
    ),
    (
        "image_origins",
        "",
        "none",
        "where pictures of order lines and products may be: [\"https://cdn.shop.example\"]; a checkout loads from no other",
    ),
    (
        "merchant_id",
        "",
        "none",
        "the store's name at the service, on a platform with several merchants; it can act for no other",
    ),
    (
        "service_access",
        "",
        "true for an only store, else false",
        "whether its server may change wallets and settings at the service: they are all stores' together",
    ),
    (
        "underpayment_tolerance",
        "",
        "0",
        "how much may be missing, in the store's currency",
    ),
    (
        "confirmations_required",
        "",
        "3",
        "blocks shown as required until the service states its own",
    ),
];

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
    /// Where its events are delivered.
    pub webhook: Option<Webhook>,
    /// Its theme, by name.
    pub theme: String,
    /// What differs from the theme: CSS values by the names in [`florin_checkout_api::TOKENS`].
    pub theme_tokens: Vec<(&'static str, String)>,
    /// What it sells.
    pub products: Vec<Product>,
    /// What it takes donations for.
    pub donations: Vec<Donation>,
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
        admitted(&self.image_origins, address)
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

    /// How much of a price may be missing: nothing of one that the tolerance would swallow, and nothing of one in another
    /// currency than the store's.
    pub(crate) fn tolerance_of(&self, price: Price) -> Amount {
        if price.currency() == self.currency && self.tolerance < price.amount() {
            self.tolerance
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreTable {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    pub(crate) currency: Option<String>,
    pub(crate) secret_key: Option<String>,
    pub(crate) secret_key_file: Option<String>,
    #[serde(default)]
    pub(crate) token_keys: Vec<TokenKeyTable>,
    pub(crate) return_url: Option<String>,
    pub(crate) support_url: Option<String>,
    pub(crate) logo_url: Option<String>,
    #[serde(default)]
    pub(crate) image_origins: Vec<String>,
    pub(crate) merchant_id: Option<String>,
    pub(crate) service_access: Option<bool>,
    pub(crate) underpayment_tolerance: Option<String>,
    pub(crate) confirmations_required: Option<u32>,
    pub(crate) webhook: Option<WebhookTable>,
    #[serde(default)]
    pub(crate) theme: ThemeTable,
    #[serde(default)]
    pub(crate) product: Vec<ProductTable>,
    #[serde(default)]
    pub(crate) donation: Vec<DonationTable>,
}

/// Checks a store, all of it.
pub(crate) fn store(findings: &mut Findings, table: StoreTable, is_test: bool) -> Option<Store> {
    let key = |name: &str| format!("store.{}.{name}", table.id);
    let id = StoreId::parse(&table.id).map_err(|error| error.to_string());
    let id = findings.take(&key("id"), id);
    let currency = Currency::parse(table.currency.as_deref().unwrap_or("USD"));
    let currency = findings.take(
        &key("currency"),
        currency.map_err(|error| error.to_string()),
    );
    let mut origins = Vec::new();
    for text in &table.origins {
        origins.extend(findings.take(&key("origins"), origin(text)));
    }
    let logo_url = table.logo_url.as_deref();
    let logo_url = logo_url.map(|text| picture(text, is_test));
    let logo_url = findings.take(&key("logo_url"), logo_url.transpose());
    let mut image_origins = Vec::new();
    for text in &table.image_origins {
        let found = picture(text, is_test).and_then(|_| origin(text));
        image_origins.extend(findings.take(&key("image_origins"), found));
    }
    let secret_key = if table.secret_key.is_some() || table.secret_key_file.is_some() {
        let found = secret(table.secret_key, table.secret_key_file, MIN_GUESSABLE_CHARS);
        findings.take(&key("secret_key"), found)
    } else {
        None
    };
    let token_keys = token_keys(findings, &table.id, table.token_keys);
    for (name, link) in [
        ("return_url", &table.return_url),
        ("support_url", &table.support_url),
    ] {
        if let Some(text) = link {
            findings.take(&key(name), link_address(text, name == "support_url"));
        }
    }
    let tolerance = Amount::parse(table.underpayment_tolerance.as_deref().unwrap_or("0"));
    let tolerance = findings.take(
        &key("underpayment_tolerance"),
        tolerance.map_err(|error| error.to_string()),
    );
    let confirmations_required = table.confirmations_required.unwrap_or(3);
    if !(1..=100).contains(&confirmations_required) {
        findings.add(&key("confirmations_required"), "write 1 to 100 blocks");
    }
    let merchant_id = table.merchant_id.map(merchant_id).transpose();
    let merchant_id = findings.take(&key("merchant_id"), merchant_id);
    let (theme, theme_tokens) = theme(findings, &table.id, table.theme);
    let webhook = table.webhook.and_then(|hook| {
        let found = webhook(hook, is_test);
        findings.take(&key("webhook"), found)
    });
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
        let found = findings.take(&sku_key, found);
        products.extend(found);
    }
    for (n, product) in products.iter().enumerate() {
        if products[..n]
            .iter()
            .any(|earlier: &Product| earlier.sku == product.sku)
        {
            findings.add(
                &key(&format!("product.{}", product.sku)),
                "there are two of this sku",
            );
        }
    }
    let donations = donations(findings, &table.id, table.donation, currency);
    Some(Store {
        name: table.name.unwrap_or_else(|| table.id.clone()),
        id: id?,
        origins,
        currency: currency?,
        secret_key,
        token_keys,
        return_url: table.return_url,
        support_url: table.support_url,
        logo_url: logo_url?,
        image_origins,
        merchant_id: merchant_id?,
        service_access: table.service_access.unwrap_or(false),
        tolerance: tolerance?,
        confirmations_required,
        webhook,
        theme,
        theme_tokens,
        products,
        donations,
    })
}

/// `Assumed:` a merchant's name at the service is visible ASCII, as its other identifiers are.
fn merchant_id(text: String) -> Result<String, String> {
    if (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(text);
    }
    Err("write 1 to 128 visible characters, as the service gave them".into())
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
