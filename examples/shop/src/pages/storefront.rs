//! Pages that need nothing but the catalogue: the storefront, one product, a donation, the theme builder, the page after
//! the checkout, and every address without a page.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use super::layout::{Checkout, Html, page};
use crate::catalogue::price;
use crate::shop::Shop;

/// Prices are written in the page, as a merchant would; a test holds them against the catalogue.
const STOREFRONT: &str = include_str!("../../site/storefront.html");

/// A page with nothing in it but the store's id.
fn plain(shop: &Shop, checkout: Checkout, title: &str, site: &'static str) -> Response {
    page(shop, checkout, title, shop.fill(site, &[]))
}

/// `GET /`: the products, and below them the orders that the shop's backend knows.
pub(crate) async fn storefront(State(shop): State<Arc<Shop>>) -> Response {
    plain(&shop, Checkout::Frame, "Quiet Goods", STOREFRONT)
}

#[derive(Deserialize)]
pub(crate) struct ProductQuery {
    #[serde(default = "ebook")]
    product: String,
}

fn ebook() -> String {
    "ebook".to_owned()
}

/// `GET /inline?product=…`: the page of one product, with the checkout as a part of it, in the shop's own type and colours.
pub(crate) async fn inline(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<ProductQuery>,
) -> Response {
    let site = include_str!("../../site/inline.html");
    product_page(shop, &wanted, Checkout::Inline, site).await
}

/// `GET /dialog?product=…`: the page of one product, with the checkout in a dialog above it.
pub(crate) async fn dialog(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<ProductQuery>,
) -> Response {
    let site = include_str!("../../site/dialog.html");
    product_page(shop, &wanted, Checkout::Frame, site).await
}

async fn product_page(
    shop: Arc<Shop>,
    wanted: &ProductQuery,
    checkout: Checkout,
    site: &'static str,
) -> Response {
    let Some(product) = shop.catalogue.find(&wanted.product) else {
        return not_found(State(shop)).await;
    };
    let price = price(product.price, shop.settings.currency);
    let values = [
        ("sku", Html::text(&product.sku)),
        ("title", Html::text(&product.title)),
        ("price", Html::text(&price)),
    ];
    page(&shop, checkout, &product.title, shop.fill(site, &values))
}

/// `GET /donate`: the one page where the customer names the amount, within bounds that the proxy holds.
pub(crate) async fn donate(State(shop): State<Arc<Shop>>) -> Response {
    let site = include_str!("../../site/donate.html");
    plain(&shop, Checkout::Frame, "A coffee for the shop", site)
}

/// `GET /thanks`: where the checkout sends the customer back to.
///
/// The address proves nothing: anyone can type it. The page shows the shop's own record and reloads it.
pub(crate) async fn thanks(State(shop): State<Arc<Shop>>) -> Response {
    let site = include_str!("../../site/thanks.html");
    plain(&shop, Checkout::Frame, "Thank you", site)
}

/// `GET /theme-builder`: a checkout to dress, and what to copy for one's own.
pub(crate) async fn theme_builder(State(shop): State<Arc<Shop>>) -> Response {
    let site = include_str!("../../site/theme-builder.html");
    plain(&shop, Checkout::Inline, "Theme builder", site)
}

/// Every other address.
pub(crate) async fn not_found(State(shop): State<Arc<Shop>>) -> Response {
    let site = include_str!("../../site/not-found.html");
    let page = plain(&shop, Checkout::Frame, "Not here", site);
    (StatusCode::NOT_FOUND, page).into_response()
}

#[cfg(test)]
mod tests {
    use florin_money::Currency;

    use super::*;
    use crate::catalogue::Catalogue;

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
