//! A cart: how many of what. It lives in the page's address (`/cart?mug=1&sticker=2`), so the shop needs no session.

use florin_money::{Amount, AmountError};

use crate::catalogue::{Catalogue, Product};

/// The products with a quantity of at least one, within what the catalogue sells at once.
#[derive(Debug)]
pub(crate) struct Cart<'a>(Vec<Line<'a>>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) product: &'a Product,
    pub(crate) quantity: u32,
}

impl<'a> Cart<'a> {
    /// Takes what the catalogue knows from `wanted`; unknown skus, other words and what exceeds the most that is sold
    /// at once are left out.
    pub(crate) fn of(catalogue: &'a Catalogue, wanted: &[(String, String)]) -> Self {
        let quantity = |product: &Product| {
            wanted
                .iter()
                .find(|(sku, _)| *sku == product.sku)
                .and_then(|(_, quantity)| quantity.parse::<u32>().ok())
                .map_or(0, |quantity| quantity.min(product.max_quantity))
        };
        let lines = catalogue.products().iter().map(|product| Line {
            product,
            quantity: quantity(product),
        });
        Self(lines.filter(|line| line.quantity > 0).collect())
    }

    pub(crate) fn lines(&self) -> &[Line<'a>] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn quantity_of(&self, sku: &str) -> u32 {
        self.0
            .iter()
            .find(|line| line.product.sku == sku)
            .map_or(0, |line| line.quantity)
    }

    pub(crate) fn total(&self) -> Result<Amount, AmountError> {
        self.0.iter().try_fold(Amount::ZERO, |sum, line| {
            sum.checked_add(line.product.price.checked_mul(line.quantity)?)
        })
    }

    /// `1 × Enamel mug, 2 × Sticker`.
    pub(crate) fn title(&self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|line| format!("{} × {}", line.quantity, line.product.title))
            .collect();
        lines.join(", ")
    }

    /// The query of the same cart with another quantity of one product: `mug=1&sticker=3`.
    pub(crate) fn query_with(&self, catalogue: &Catalogue, sku: &str, quantity: u32) -> String {
        let parts: Vec<String> = catalogue
            .products()
            .iter()
            .map(|product| {
                let quantity = if product.sku == sku {
                    quantity
                } else {
                    self.quantity_of(&product.sku)
                };
                format!("{}={quantity}", product.sku)
            })
            .collect();
        parts.join("&")
    }
}
