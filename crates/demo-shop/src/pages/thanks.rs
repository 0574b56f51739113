//! `GET /thanks`: where the checkout sends the customer back to.
//!
//! The address proves nothing: anybody can type it. The page shows what the shop's own list says, and keeps looking.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::layout::{Checkout, page};
use crate::html::Html;
use crate::shop::Shop;

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    let main = Html::template(include_str!("../../site/thanks.html"), &[]);
    page(
        StatusCode::OK,
        &shop.settings,
        Checkout::Frame,
        "Thank you",
        main,
    )
}
