//! The layer of all routes: gives each request an id, writes failures, logs one line, and adds the headers of its routes.
//!
//! It is one layer and not those of `tower-http` (request id, trace, CORS, headers, panics): each needs boxes and a task state
//! for each request, and the line names the route and what was answered in the end.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::Route;
use florin_orders::TraceParent;
use futures_util::FutureExt as _;
use jiff::Timestamp;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};
use tracing::{Instrument as _, Span};

use crate::http::error::ApiError;
use crate::http::middleware::{allow_listed, listed_origin};
use crate::http::store_api::has_store_key;
use crate::log::RequestId;
use crate::metrics::{Route as RouteGroup, Rule};
use crate::payments::error::PaymentError;
use crate::spans::Recording;
use crate::state::AppState;
use crate::trace;

/// The route whose requests may name a trace, by POST and with the key of a store: the client that names one decides that it is
/// recorded.
const TRACED: &str = "/v1/orders";

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResponsePolicy {
    /// Pages of the stores' origins may read them, and preflights are answered.
    pub is_for_pages: bool,
    /// Caches keep none of them: they are about orders.
    pub is_private: bool,
}

/// Names and logs each request of a group of routes. A panic of a handler is answered as an internal error.
pub(crate) fn request_layer(
    app: &Arc<AppState>,
    policy: ResponsePolicy,
) -> impl Layer<
    Route,
    Service: Service<Request, Response = Response, Error = Infallible, Future: Send>
                 + Clone
                 + Send
                 + Sync
                 + 'static,
> + Clone
+ Send
+ Sync
+ 'static {
    let app = app.clone();
    layer_fn(move |mut route: Route| {
        let app = app.clone();
        service_fn(move |mut request: Request| {
            let logged = LoggedRequest::begin(&app, &mut request);
            let listed_origin = policy
                .is_for_pages
                .then(|| listed_origin(&app, request.headers()))
                .flatten();
            let is_preflight = policy.is_for_pages && logged.method == Method::OPTIONS;
            let handler = match reject_duplicate_headers(request.headers()) {
                Err(refusal) => Err(refusal),
                Ok(()) => Ok((!is_preflight).then(|| route.call(request))),
            };
            async move {
                let mut response = match handler {
                    Err(refusal) => return Ok(logged.complete(refusal.into_response())),
                    Ok(None) => StatusCode::NO_CONTENT.into_response(),
                    Ok(Some(handler)) => {
                        let handler = answered(handler).instrument(logged.span.clone());
                        let mut response = trace::within(logged.trace, handler).await;
                        if policy.is_private {
                            let no_store = HeaderValue::from_static("no-store");
                            response.headers_mut().insert(CACHE_CONTROL, no_store);
                        }
                        response
                    }
                };
                if policy.is_for_pages {
                    allow_listed(listed_origin, response.headers_mut());
                }
                Ok(logged.complete(response))
            }
        })
    })
}

/// The response of a handler; without this, a panic would end the connection without one.
async fn answered(handler: impl Future<Output = Result<Response, Infallible>>) -> Response {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(Ok(response)) => response,
        Err(panic) => panicked(&*panic).into_response(),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> ApiError {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    ApiError::Panicked(text.unwrap_or_default())
}

/// What is logged of a request. The log names the route, never the path: a path may hold the callback token.
struct LoggedRequest {
    app: Arc<AppState>,
    id: RequestId,
    started: Timestamp,
    route: Option<MatchedPath>,
    method: Method,
    group: RouteGroup,
    span: Span,
    trace: Option<TraceParent>,
    recording: Option<Recording>,
}

impl LoggedRequest {
    fn begin(app: &Arc<AppState>, request: &mut Request) -> Self {
        let (id, started) = (app.request_ids.next(), app.now());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let (method, name) = (request.method().clone(), name_of(route.as_ref()));
        let group = RouteGroup::of(&method, name);
        let headers = request.headers();
        let caller = (method == Method::POST && name == TRACED)
            .then(|| trace::of_headers(headers))
            .flatten()
            .filter(|_| has_store_key(app, headers));
        let span_name = || format!("{} {name}", known(&method));
        let mut recording = app.spans.request(caller, id.draw(), span_name);
        if let Some(recording) = &mut recording {
            recording.set("http.request.method", known(&method).to_owned());
            recording.set("http.route", name.to_owned());
            recording.set("florin.request_id", id.as_str().to_owned());
        }
        let span = if group == RouteGroup::ShowOrder {
            // Most of them log nothing: the span begins where the database is asked.
            request.extensions_mut().insert(id);
            Span::none()
        } else {
            id.span()
        };
        Self {
            app: app.clone(),
            id,
            started,
            method,
            group,
            span,
            trace: recording.as_ref().map(Recording::trace).or(caller),
            recording,
            route,
        }
    }

    /// Writes the failure that a response carries, counts and logs the request.
    fn complete(mut self, mut response: Response) -> Response {
        let recording = self.recording.take();
        let (app, id, method) = (&*self.app, self.id.as_str(), &self.method);
        let refusal = response.extensions_mut().remove::<Arc<ApiError>>();
        if let Some(refusal) = refusal.or_else(|| Self::unrouted(&response).map(Arc::new)) {
            if refusal.is_internal() {
                tracing::error!(request_id = id, error = %refusal, "a request failed");
            }
            if let Some(rule) = rule(self.group, &refusal) {
                app.metrics.rate_limited(rule);
            }
            let kept = std::mem::take(response.headers_mut());
            response = refusal.response(id, app.config().environment);
            for (name, value) in &kept {
                let is_ours = [VARY, CACHE_CONTROL].contains(name);
                if is_ours || name.as_str().starts_with("access-control-") {
                    response.headers_mut().append(name.clone(), value.clone());
                }
            }
        }
        let value = HeaderValue::from_str(id).expect("an id is plain ASCII");
        response.headers_mut().insert(REQUEST_ID.clone(), value);
        let status = response.status().as_u16();
        let elapsed = app.now().duration_since(self.started);
        app.metrics.request(self.group, status, elapsed);
        if let Some(mut recording) = recording {
            recording.set_status(status);
            if status >= 500 {
                recording.fail();
            }
            recording.end();
        }
        let (elapsed_ms, route) = (elapsed.as_millis(), name_of(self.route.as_ref()));
        // An open page reads its order every few seconds: a line for each read would hide all others, and cost as much as
        // the read.
        if self.group == RouteGroup::ShowOrder && matches!(status, 200 | 304) {
            tracing::debug!(request_id = id, %method, route, status, elapsed_ms, "request");
        } else {
            tracing::info!(request_id = id, %method, route, status, elapsed_ms, "request");
        }
        response
    }

    /// What the router and its extractors refuse by themselves gets the same shape as every other refusal.
    fn unrouted(response: &Response) -> Option<ApiError> {
        let failure = match response.status() {
            StatusCode::NOT_FOUND => ApiError::NoSuchAddress,
            StatusCode::METHOD_NOT_ALLOWED => ApiError::MethodNotAllowed,
            StatusCode::BAD_REQUEST => ApiError::UnreadableAddress,
            _ => return None,
        };
        let content_type = response.headers().get(CONTENT_TYPE);
        let is_plain = content_type.is_none_or(|value| value.as_bytes().starts_with(b"text/plain"));
        is_plain.then_some(failure)
    }
}

/// The name of a method in a span: a client may send any word.
///
/// Source: OpenTelemetry, "Semantic conventions for HTTP spans", `http.request.method`.
fn known(method: &Method) -> &str {
    let is_known = matches!(
        *method,
        Method::GET
            | Method::HEAD
            | Method::POST
            | Method::PUT
            | Method::PATCH
            | Method::DELETE
            | Method::OPTIONS
            | Method::CONNECT
            | Method::TRACE
    );
    if is_known { method.as_str() } else { "_OTHER" }
}

fn name_of(route: Option<&MatchedPath>) -> &str {
    route.map_or("(none)", MatchedPath::as_str)
}

fn rule(route: RouteGroup, refusal: &ApiError) -> Option<Rule> {
    match refusal {
        ApiError::TooManyRequests { .. } if route == RouteGroup::OpenAttempt => {
            Some(Rule::Attempts)
        }
        ApiError::TooManyRequests { .. } => Some(Rule::Orders),
        ApiError::TooManyStreams => Some(Rule::StreamsOfOrder),
        ApiError::Payment(PaymentError::TooManyAttempts) => Some(Rule::AttemptsOfOrder),
        _ => None,
    }
}

/// Source for `Host`: RFC 9112, section 3.2.
static SINGLE: [HeaderName; 5] = [
    HOST,
    AUTHORIZATION,
    CONTENT_TYPE,
    ORIGIN,
    HeaderName::from_static("idempotency-key"),
];

pub(crate) fn reject_duplicate_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    let came_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    let Some(name) = SINGLE.iter().find(came_twice) else {
        return Ok(());
    };
    Err(ApiError::DuplicateHeader(name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_handler_is_answered() {
        let response = answered(async { panic!("a bug") }).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let failure = response.extensions().get::<Arc<ApiError>>().unwrap();
        assert!(matches!(&**failure, ApiError::Panicked(text) if text == "a bug"));
    }

    #[test]
    fn a_header_that_may_come_once_may_come_once_and_any_other_twice() {
        for name in &SINGLE {
            let mut headers = HeaderMap::new();
            headers.append(name, HeaderValue::from_static("a"));
            assert!(reject_duplicate_headers(&headers).is_ok());
            headers.append(name, HeaderValue::from_static("a"));
            let refused = reject_duplicate_headers(&headers);
            assert!(matches!(refused, Err(ApiError::DuplicateHeader(found)) if found == *name));
        }
        let mut headers = HeaderMap::new();
        for value in ["a", "b"] {
            headers.append("accept", HeaderValue::from_static(value));
        }
        assert!(reject_duplicate_headers(&headers).is_ok());
    }
}
