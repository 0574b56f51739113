//! `GET /inline?product=…` and `GET /dialog?product=…`: the page of one product, with the same checkout as a part of it, in
//! the shop's own type and colours, or in a dialog above it.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::layout::{Checkout, page};
use super::not_found;
use crate::html::Html;
use crate::price::price;
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default = "ebook")]
    product: String,
}

fn ebook() -> String {
    "ebook".to_owned()
}

pub(crate) async fn inline(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let site = include_str!("../../site/inline.html");
    show(shop, &wanted, Checkout::Inline, site).await
}

pub(crate) async fn dialog(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let site = include_str!("../../site/dialog.html");
    show(shop, &wanted, Checkout::Frame, site).await
}

async fn show(
    shop: Arc<Shop>,
    wanted: &Wanted,
    checkout: Checkout,
    site: &'static str,
) -> Response {
    let Some(product) = shop.catalogue.find(&wanted.product) else {
        return not_found::show(State(shop)).await;
    };
    let price = price(product.price, shop.settings.currency);
    let main = Html::template(
        site,
        &[
            ("store", Html::text(&shop.settings.store_id)),
            ("sku", Html::text(&product.sku)),
            ("title", Html::text(&product.title)),
            ("price", Html::text(&price)),
        ],
    );
    page(
        StatusCode::OK,
        &shop.settings,
        checkout,
        &product.title,
        main,
    )
}
