//! `GET /orders.json`: the shop's own orders, newest first.
//!
//! Open to everybody, so that the demonstration can be watched; a real shop shows its customers their own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Json, Response};
use serde_json::json;

use crate::shop::Shop;

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    let orders = json!({ "orders": shop.orders().newest_first() });
    ([(header::CACHE_CONTROL, "no-store")], Json(orders)).into_response()
}
