//! Every other address.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::layout::{Checkout, page};
use crate::html::Html;
use crate::shop::Shop;

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    let main = Html::template(include_str!("../../site/not-found.html"), &[]);
    page(
        StatusCode::NOT_FOUND,
        &shop.settings,
        Checkout::Frame,
        "Not here",
        main,
    )
}
