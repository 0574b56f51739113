//! The shop as a server: its routes, and `POST /florin`, where the proxy delivers events. The only way an order becomes paid.
//!
//! Verify, store once by `webhook-id`, answer. Whatever takes long (shipping, mail) belongs behind the response: the
//! proxy waits 15 seconds, then counts a failure and comes back.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Settings;
use crate::order_book::Stored;
use crate::pages::{layout, orders, storefront};
use crate::shop::Shop;

/// An event is below 20 kB; nothing larger is read.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Serves the shop on `listener` until `shutdown`.
///
/// # Errors
/// A setting is unusable, or the listener fails.
pub async fn run(
    listener: TcpListener,
    settings: Settings,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let router = router(Arc::new(Shop::new(settings)?));
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
        .context("the shop's listener failed")
}

fn router(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/", get(storefront::storefront))
        .route("/inline", get(storefront::inline))
        .route("/dialog", get(storefront::dialog))
        .route("/donate", get(storefront::donate))
        .route("/theme-builder", get(storefront::theme_builder))
        .route("/thanks", get(storefront::thanks))
        .route("/cart", get(orders::cart).post(orders::check_out_cart))
        .route("/cart/{reference}", get(orders::cart_checkout))
        .route("/members", get(orders::members))
        .route("/members/{reference}", get(orders::members_checkout))
        .route(
            "/hosted",
            get(orders::hosted).post(orders::check_out_hosted),
        )
        .route("/orders.json", get(orders_json))
        .route("/florin", post(receive))
        .route("/site/{file}", get(layout::file))
        .fallback(storefront::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(shop)
}

/// `POST /florin`: an event of the proxy.
async fn receive(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> StatusCode {
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
        Stored::Duplicate => tracing::info!(webhook_id, kind, "event known already"),
    }
    StatusCode::NO_CONTENT
}

/// `GET /orders.json`: the shop's own orders, newest first.
///
/// Public, because this is a demonstration; a real shop shows customers only their own orders.
async fn orders_json(State(shop): State<Arc<Shop>>) -> Response {
    let orders = json!({ "orders": shop.orders().newest_first() });
    ([(header::CACHE_CONTROL, "no-store")], Json(orders)).into_response()
}
