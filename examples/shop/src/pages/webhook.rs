//! `POST /florin`: where the proxy delivers events. The only way an order becomes paid.
//!
//! Verify, store once by `webhook-id`, answer. Whatever takes long (shipping, mail) belongs behind the answer: the
//! proxy waits 15 seconds, then counts a failure and comes back.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use serde_json::json;

use crate::order_book::Stored;
use crate::shop::Shop;

pub(crate) async fn receive(
    State(shop): State<Arc<Shop>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let (webhook_id, event) = match shop.verifier.verify(&headers, &body) {
        Ok(verified) => verified,
        Err(refusal) => {
            tracing::warn!(
                error = &refusal as &dyn std::error::Error,
                "webhook refused"
            );
            return StatusCode::BAD_REQUEST;
        }
    };
    let kind = event.r#type.clone();
    match shop.orders().apply(&webhook_id, event) {
        Stored::Fresh => tracing::info!(webhook_id, kind, "event stored"),
        Stored::Known => tracing::info!(webhook_id, kind, "event known already"),
    }
    StatusCode::NO_CONTENT
}

/// `GET /orders.json`: the shop's own orders, newest first.
///
/// Public, because this is a demonstration; a real shop shows customers only their own orders.
pub(crate) async fn orders_json(State(shop): State<Arc<Shop>>) -> Response {
    let orders = json!({ "orders": shop.orders().newest_first() });
    ([(header::CACHE_CONTROL, "no-store")], Json(orders)).into_response()
}
