//! `GET /`: the products, and below them the orders that the shop's backend knows.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::layout::{Checkout, page};
use crate::html::Html;
use crate::shop::Shop;

/// Prices are written in the page, as a merchant would; a test holds them against the catalogue.
const STOREFRONT: &str = include_str!("../../site/storefront.html");

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    page(
        StatusCode::OK,
        &shop.settings,
        Checkout::Frame,
        "Quiet Goods",
        Html::template(
            STOREFRONT,
            &[("store", Html::text(&shop.settings.store_id))],
        ),
    )
}

#[cfg(test)]
mod tests {
    use money::Currency;

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::price::price;

    #[test]
    fn the_page_shows_every_product_at_the_price_that_is_charged() {
        for product in Catalogue::read().unwrap().products() {
            let card = STOREFRONT
                .split("<article")
                .find(|card| card.contains(&format!(" product=\"{}\"", product.sku)))
                .expect("a product without a card");
            assert!(
                card.contains(&format!(">{}<", product.title)),
                "{product:?}"
            );
            let price = format!(">{}<", price(product.price, Currency::USD));
            assert!(card.contains(&price), "{product:?}");
        }
    }
}
