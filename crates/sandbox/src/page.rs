//! The developer's page: invoices as they live, with a button for everything that can happen to them.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::state::Sandbox;

/// Nothing inline, nothing from elsewhere, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    const HTML: &str = include_str!("page/page.html");
    const CSS: &str = include_str!("page/page.css");
    const JS: &str = include_str!("page/page.js");
    const ICON: &str = include_str!("page/icon.svg");
    Router::new()
        .route(
            "/sandbox",
            get(async || file(POLICY, "text/html; charset=utf-8", HTML)),
        )
        .route(
            "/sandbox/page.css",
            get(async || file(POLICY, "text/css; charset=utf-8", CSS)),
        )
        .route(
            "/sandbox/page.js",
            get(async || file(POLICY, "text/javascript; charset=utf-8", JS)),
        )
        .route(
            "/sandbox/icon.svg",
            get(async || file(POLICY, "image/svg+xml", ICON)),
        )
}

/// A file of a page, under that page's policy.
pub(crate) fn file(
    policy: &'static str,
    media_type: &'static str,
    content: &'static str,
) -> Response {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, content).into_response()
}
