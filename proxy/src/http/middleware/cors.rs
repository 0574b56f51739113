//! CORS: pages on the stores' origins, compared as they are written, and the proxy's own.
//!
//! It is written here and not with `tower-http`: its layer names methods and headers to every page, and this one tells a
//! page that is not listed nothing.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::state::AppState;

/// Answers preflights, and lets listed pages read every answer, refusals included. Credentials are never allowed: there
/// are no cookies.
pub(crate) async fn cors(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let listed = origin.filter(|value| {
        value
            .to_str()
            .is_ok_and(|text| app.config().knows_origin(text))
    });
    let mut answer = match *request.method() {
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => next.run(request).await,
    };
    let headers = answer.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = listed {
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
    answer
}

/// Rejects a page that the order's store does not list. A request without an origin comes from no page.
///
/// # Errors
/// [`ApiError::OriginNotAllowed`].
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
