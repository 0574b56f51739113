//! The shop as a server.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Settings;
use crate::pages;
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
        .route("/", get(pages::storefront::show))
        .route("/inline", get(pages::single::inline))
        .route("/dialog", get(pages::single::dialog))
        .route("/cart", get(pages::cart::show).post(pages::cart::check_out))
        .route("/cart/{reference}", get(pages::cart_checkout::show))
        .route("/members", get(pages::members::begin))
        .route("/members/{reference}", get(pages::members::show))
        .route("/donate", get(pages::donate::show))
        .route(
            "/hosted",
            get(pages::hosted::show).post(pages::hosted::check_out),
        )
        .route("/theme-builder", get(pages::theme_builder::show))
        .route("/thanks", get(pages::thanks::show))
        .route("/orders.json", get(pages::orders_json::show))
        .route("/florin", post(pages::webhook::receive))
        .route("/site/{file}", get(pages::files::show))
        .fallback(pages::not_found::show)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(shop)
}
