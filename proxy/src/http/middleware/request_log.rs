//! The outermost layer: gives each request an id, writes failures, logs one line.
//!
//! It is one layer and not the three of `tower-http` (request id, trace, error body): a failure is written with the id, and
//! the line names the route and what was answered in the end.

use std::any::Any;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument as _;

use crate::http::error::ApiError;
use crate::state::AppState;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Names and logs a request. The log names the route, never the path: a path may hold the callback token.
pub(crate) async fn log_request(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let request_id = app.request_ids.next();
    let id = request_id.as_str();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let started = app.now();
    let route = route.as_ref().map_or("(none)", MatchedPath::as_str);
    let is_status_read = is_status_read(&method, route);
    let span = if is_status_read {
        // Most of them log nothing: the span begins where the database is asked.
        request.extensions_mut().insert(request_id);
        tracing::Span::none()
    } else {
        request_id.span()
    };
    let mut answer = match reject_duplicate_headers(request.headers()) {
        Ok(()) => next.run(request).instrument(span).await,
        Err(refusal) => refusal.into_response(),
    };
    let refusal = answer.extensions_mut().remove::<Arc<ApiError>>();
    if let Some(refusal) = refusal.or_else(|| unrouted(uri.path(), &answer).map(Arc::new)) {
        if refusal.is_internal() {
            tracing::error!(request_id = id, error = %refusal, "a request failed");
        }
        let kept = std::mem::take(answer.headers_mut());
        answer = refusal.answer(id);
        for (name, value) in &kept {
            let is_ours = [VARY, CACHE_CONTROL].contains(name);
            if is_ours || name.as_str().starts_with("access-control-") {
                answer.headers_mut().append(name.clone(), value.clone());
            }
        }
    }
    let value = HeaderValue::from_str(id).expect("an id is plain ASCII");
    answer.headers_mut().insert(REQUEST_ID.clone(), value);
    let status = answer.status().as_u16();
    let elapsed_ms = || app.now().duration_since(started).as_millis();
    if is_status_read && matches!(status, 200 | 304) {
        tracing::debug!(request_id = id, %method, route, status, elapsed_ms = elapsed_ms(), "request");
    } else {
        tracing::info!(request_id = id, %method, route, status, elapsed_ms = elapsed_ms(), "request");
    }
    answer
}

/// An open page reads its order every few seconds: a line for each read would hide all others, and cost as much as the read.
fn is_status_read(method: &Method, route: &str) -> bool {
    *method == Method::GET && route == "/v1/checkout"
}

/// The beginning that some addresses had in early versions, and today's.
const RENAMED: (&str, &str) = ("/v1/service/", "/v1/gateway/");
/// Answers a panic of a handler as an internal error; else the connection ends without a response.
pub(crate) fn catch_panics() -> CatchPanicLayer<fn(Box<dyn Any + Send>) -> Response> {
    CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        ApiError::Panicked(text.unwrap_or_default()).into_response()
    })
}

/// What the router and its extractors refuse by themselves gets the same shape as every other refusal.
fn unrouted(path: &str, answer: &Response) -> Option<ApiError> {
    let content_type = answer.headers().get(CONTENT_TYPE);
    let is_plain = content_type.is_none_or(|value| value.as_bytes().starts_with(b"text/plain"));
    let failure = match answer.status() {
        StatusCode::NOT_FOUND => match path.strip_prefix(RENAMED.0) {
            Some(rest) => ApiError::RenamedAddress {
                new: format!("{}{rest}", RENAMED.1),
            },
            None => ApiError::NoSuchAddress,
        },
        StatusCode::METHOD_NOT_ALLOWED => ApiError::MethodNotAllowed,
        StatusCode::BAD_REQUEST => ApiError::UnreadableAddress,
        _ => return None,
    };
    is_plain.then_some(failure)
}

/// Source for `Host`: RFC 9112, section 3.2.
static SINGLE: [HeaderName; 5] = [
    HOST,
    AUTHORIZATION,
    CONTENT_TYPE,
    ORIGIN,
    HeaderName::from_static("idempotency-key"),
];

/// The refusal of a request with such a header.
///
/// # Errors
/// It names the header.
pub(crate) fn reject_duplicate_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    let came_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    let Some(name) = SINGLE.iter().find(came_twice) else {
        return Ok(());
    };
    Err(ApiError::DuplicateHeader(name.clone()))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::HeaderValue;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    async fn panics() {
        panic!("a bug");
    }

    #[tokio::test]
    async fn a_panic_of_a_handler_is_answered() {
        let routes = Router::new().route("/", get(panics)).layer(catch_panics());
        let answer = routes.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let failure = answer.extensions().get::<Arc<ApiError>>().unwrap();
        assert!(matches!(&**failure, ApiError::Panicked(text) if text == "a bug"));
    }

    #[test]
    fn a_header_that_may_come_once_may_come_once() {
        for name in &SINGLE {
            let mut headers = HeaderMap::new();
            headers.append(name, HeaderValue::from_static("a"));
            assert!(reject_duplicate_headers(&headers).is_ok());
            headers.append(name, HeaderValue::from_static("a"));
            let refused = reject_duplicate_headers(&headers);
            assert!(matches!(refused, Err(ApiError::DuplicateHeader(found)) if found == *name));
        }
    }

    #[test]
    fn any_other_header_may_come_twice() {
        let mut headers = HeaderMap::new();
        headers.append("accept", HeaderValue::from_static("a"));
        headers.append("accept", HeaderValue::from_static("b"));
        assert!(reject_duplicate_headers(&headers).is_ok());
    }
}
