//! The developer's page: invoices as they live, a click for everything that can happen to them, and all that was asked.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::state::Sandbox;

/// Nothing inline, nothing from elsewhere, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// Path, media type and content of every file of the page.
const FILES: [(&str, &str, &str); 17] = [
    ("/sandbox", HTML, include_str!("page/page.html")),
    ("/sandbox/page.css", CSS, include_str!("page/page.css")),
    ("/sandbox/parts.css", CSS, include_str!("page/parts.css")),
    ("/sandbox/page.js", JS, include_str!("page/page.js")),
    ("/sandbox/ask.js", JS, include_str!("page/ask.js")),
    ("/sandbox/dom.js", JS, include_str!("page/dom.js")),
    ("/sandbox/world.js", JS, include_str!("page/world.js")),
    ("/sandbox/invoices.js", JS, include_str!("page/invoices.js")),
    ("/sandbox/row.js", JS, include_str!("page/row.js")),
    ("/sandbox/trail.js", JS, include_str!("page/trail.js")),
    (
        "/sandbox/scenarios.js",
        JS,
        include_str!("page/scenarios.js"),
    ),
    ("/sandbox/log.js", JS, include_str!("page/log.js")),
    ("/sandbox/call.js", JS, include_str!("page/call.js")),
    ("/sandbox/faults.js", JS, include_str!("page/faults.js")),
    ("/sandbox/controls.js", JS, include_str!("page/controls.js")),
    ("/sandbox/share.js", JS, include_str!("page/share.js")),
    ("/sandbox/keys.js", JS, include_str!("page/keys.js")),
];

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    const ICON: &str = include_str!("page/icon.svg");
    let icon = get(async || file(POLICY, "image/svg+xml", ICON));
    let router = Router::new().route("/sandbox/icon.svg", icon);
    let serve = |router: Router<Arc<Sandbox>>, (path, media_type, content)| {
        router.route(path, get(async move || file(POLICY, media_type, content)))
    };
    FILES.into_iter().fold(router, serve)
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
