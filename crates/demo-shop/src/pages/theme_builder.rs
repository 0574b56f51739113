//! `GET /theme-builder`: a checkout to dress, and what to copy for one's own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::layout::{Checkout, page};
use crate::html::Html;
use crate::shop::Shop;

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    let main = Html::template(
        include_str!("../../site/theme-builder.html"),
        &[("store", Html::text(&shop.settings.store_id))],
    );
    page(
        StatusCode::OK,
        &shop.settings,
        Checkout::Inline,
        "Theme builder",
        main,
    )
}
