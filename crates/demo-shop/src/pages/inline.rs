//! `GET /inline?product=…`: the same checkout as a part of the page, in the shop's own type and colours.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::layout::{Checkout, page};
use super::not_found;
use crate::html::Html;
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default = "ebook")]
    product: String,
}

fn ebook() -> String {
    "ebook".to_owned()
}

pub(crate) async fn show(State(shop): State<Arc<Shop>>, Query(wanted): Query<Wanted>) -> Response {
    let Some(product) = shop.catalogue.find(&wanted.product) else {
        return not_found::show(State(Arc::clone(&shop))).await;
    };
    let price = format!("{} {}", product.price.padded(2), shop.settings.currency);
    let main = Html::template(
        include_str!("../../site/inline.html"),
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
        Checkout::Inline,
        &product.title,
        main,
    )
}
