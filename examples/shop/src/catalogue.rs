//! The shop's products, and their prices as the shop writes them.

use florin_money::{Amount, Currency};
use serde::Deserialize;

/// The catalogue as it stands in the proxy's configuration, below its `[[store]]`.
pub const PRODUCTS_TOML: &str = include_str!("../products.toml");

/// What the shop takes donations for, in the same place.
pub const DONATIONS_TOML: &str = include_str!("../donations.toml");

/// One thing to buy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Product {
    /// Its name between shop and proxy: lower-case letters.
    pub(crate) sku: String,
    /// Its name for people.
    pub(crate) title: String,
    /// Of one piece, in the store's currency.
    pub(crate) price: Amount,
    /// The most pieces in one order.
    pub(crate) max_quantity: u32,
}

/// All products, in the order of the shelf.
#[derive(Debug)]
pub(crate) struct Catalogue(Vec<Product>);

impl Catalogue {
    /// Reads [`PRODUCTS_TOML`].
    ///
    /// # Errors
    /// The file is no TOML of that shape, or a price in it is no amount.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let file: File = toml::from_str(PRODUCTS_TOML)?;
        Ok(Self(file.store.product))
    }

    pub(crate) fn products(&self) -> &[Product] {
        &self.0
    }

    pub(crate) fn find(&self, sku: &str) -> Option<&Product> {
        self.0.iter().find(|product| product.sku == sku)
    }
}

#[derive(Deserialize)]
struct File {
    store: StoreSection,
}

#[derive(Deserialize)]
struct StoreSection {
    product: Vec<Product>,
}

/// Signs that stand before an amount in English.
const SIGNS: [(&str, &str); 4] = [("USD", "$"), ("EUR", "€"), ("GBP", "£"), ("JPY", "¥")];

/// `$5,200.00`; `5,200.00 CHF` in a currency without a sign.
pub(crate) fn price(amount: Amount, currency: Currency) -> String {
    let amount = grouped(&amount.with_min_decimals(currency.decimals()).to_string());
    match SIGNS.iter().find(|(code, _)| *code == currency.as_str()) {
        Some((_, sign)) => format!("{sign}{amount}"),
        None => format!("{amount}\u{a0}{currency}"),
    }
}

/// Commas between the thousands.
fn grouped(amount: &str) -> String {
    let whole = amount.find('.').unwrap_or(amount.len());
    let mut text = String::new();
    for (at, digit) in amount.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
