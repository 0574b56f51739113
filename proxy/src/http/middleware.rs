//! Middleware: what happens to every request before and after its handler.

pub(crate) mod client_address;
pub(crate) mod request_log;

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue};

use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::state::AppState;

// CORS: pages on the stores' origins, compared as they are written, and the proxy's own.
//
// It is written here and not with `tower-http`: its layer names methods and headers to every page, and this one shows a
// page that is not listed nothing.

pub(crate) fn listed_origin(app: &AppState, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    let is_listed = app.config().knows_origin(origin.to_str().ok()?);
    is_listed.then(|| origin.clone())
}

/// Lets a page of a listed origin read the response, refusals included. Credentials are never allowed: there are no cookies.
pub(crate) fn allow_listed(origin: Option<HeaderValue>, headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("origin"));
    let Some(origin) = origin else {
        return;
    };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, if-none-match",
        ),
        (
            ACCESS_CONTROL_EXPOSE_HEADERS,
            "etag, idempotency-replayed, retry-after, x-request-id",
        ),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Rejects a page that the order's store does not list. A request without an origin comes from no page.
pub(crate) fn require_listed_origin(
    config: &Config,
    store: &Store,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or("");
    if store.lists_origin(origin) || origin == config.public_url.origin().as_str() {
        return Ok(());
    }
    Err(ApiError::OriginNotAllowed)
}
