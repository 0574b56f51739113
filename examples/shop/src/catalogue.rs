//! What the shop sells.

use florin_money::Amount;
use serde::Deserialize;

/// The catalogue as it stands in the proxy's configuration, below its `[[store]]`.
pub const PRODUCTS_TOML: &str = include_str!("../products.toml");

/// What the shop takes donations for, in the same place.
pub const DONATIONS_TOML: &str = include_str!("../donations.toml");

/// One thing to buy.
#[derive(Debug)]
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
        let products = file.store.product.into_iter().map(|row| {
            Ok(Product {
                price: Amount::parse(&row.price)?,
                sku: row.sku,
                title: row.title,
                max_quantity: row.max_quantity,
            })
        });
        Ok(Self(products.collect::<anyhow::Result<_>>()?))
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
    product: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    sku: String,
    title: String,
    price: String,
    max_quantity: u32,
}
