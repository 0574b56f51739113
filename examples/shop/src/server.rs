//! The shop as a server.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Settings;
use crate::pages::{layout, orders, storefront, webhook};
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
        .route("/orders.json", get(webhook::orders_json))
        .route("/florin", post(webhook::receive))
        .route("/site/{file}", get(layout::file))
        .fallback(storefront::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(shop)
}
