//! The layer of all routes: gives each request an id, writes failures, logs one line, and adds the headers of its routes.
//!
//! It is one layer and not those of `tower-http` (request id, trace, CORS, headers, panics): each needs boxes and a task state
//! for each request, and the line names the route and what was answered in the end.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::extract::{MatchedPath, Request};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use florin_orders::TraceParent;
use jiff::Timestamp;
use tower::{Layer, Service};
use tracing::Span;

use crate::http::error::ApiError;
use crate::http::middleware::cors::{allow_listed, listed_origin};
use crate::http::store_api::has_store_key;
use crate::metrics::{Route, Rule};
use crate::payments::error::PaymentError;
use crate::request_ids::RequestId;
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
#[derive(Clone)]
pub(crate) struct RequestLayer {
    pub app: Arc<AppState>,
    pub policy: ResponsePolicy,
}

impl<S> Layer<S> for RequestLayer {
    type Service = LoggedRoute<S>;

    fn layer(&self, inner: S) -> LoggedRoute<S> {
        let layer = self.clone();
        LoggedRoute { layer, inner }
    }
}

/// A route in a [`RequestLayer`].
#[derive(Clone)]
pub(crate) struct LoggedRoute<S> {
    layer: RequestLayer,
    inner: S,
}

impl<S, F> Service<Request> for LoggedRoute<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future = F>,
    F: Future<Output = Result<Response, Infallible>> + Unpin,
{
    type Response = Response;
    type Error = Infallible;
    type Future = LoggedResponse<F>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> LoggedResponse<F> {
        let RequestLayer { app, policy } = self.layer.clone();
        let id = app.request_ids.next();
        let started = app.now();
        let route = request.extensions().get::<MatchedPath>().cloned();
        let method = request.method().clone();
        let group = Route::of(&method, name_of(route.as_ref()));
        let span = if group == Route::ShowOrder {
            // Most of them log nothing: the span begins where the database is asked.
            request.extensions_mut().insert(id);
            Span::none()
        } else {
            id.span()
        };
        let name = name_of(route.as_ref());
        let headers = request.headers();
        let caller = (method == Method::POST && name == TRACED)
            .then(|| trace::of_headers(headers))
            .flatten()
            .filter(|_| has_store_key(&app, headers));
        let mut recording = app
            .spans
            .request(caller, id.draw(), || format!("{} {name}", known(&method)));
        if let Some(recording) = &mut recording {
            recording.set("http.request.method", known(&method).to_owned());
            recording.set("http.route", name.to_owned());
            recording.set("florin.request_id", id.as_str().to_owned());
        }
        let trace = recording.as_ref().map(Recording::trace).or(caller);
        let listed_origin = policy
            .is_for_pages
            .then(|| listed_origin(&app, request.headers()))
            .flatten();
        let progress = match reject_duplicate_headers(request.headers()) {
            Err(refusal) => Progress::Refused(Some(refusal)),
            Ok(()) if policy.is_for_pages && method == Method::OPTIONS => Progress::Preflight,
            Ok(()) => Progress::Handler(self.inner.call(request)),
        };
        LoggedResponse {
            progress,
            policy,
            listed_origin,
            request: LoggedRequest {
                app,
                id,
                started,
                route,
                method,
                group,
                span,
                trace,
                recording,
            },
        }
    }
}

pub(crate) struct LoggedResponse<F> {
    progress: Progress<F>,
    policy: ResponsePolicy,
    listed_origin: Option<HeaderValue>,
    request: LoggedRequest,
}

enum Progress<F> {
    Handler(F),
    Preflight,
    /// Empty once it was answered.
    Refused(Option<ApiError>),
}

impl<F> Future for LoggedResponse<F>
where
    F: Future<Output = Result<Response, Infallible>> + Unpin,
{
    type Output = Result<Response, Infallible>;

    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Response, Infallible>> {
        let this = &mut *self;
        let mut response = match &mut this.progress {
            Progress::Handler(handler) => {
                let LoggedRequest { span, trace, .. } = &this.request;
                let poll = || poll_handler(handler, context);
                let mut response = ready!(span.in_scope(|| trace::step(*trace, poll)));
                if this.policy.is_private {
                    let no_store = HeaderValue::from_static("no-store");
                    response.headers_mut().insert(CACHE_CONTROL, no_store);
                }
                response
            }
            Progress::Preflight => StatusCode::NO_CONTENT.into_response(),
            Progress::Refused(refusal) => {
                let refusal = refusal.take().expect("a response is made once");
                return Poll::Ready(Ok(this.request.complete(refusal.into_response())));
            }
        };
        if this.policy.is_for_pages {
            allow_listed(this.listed_origin.take(), response.headers_mut());
        }
        Poll::Ready(Ok(this.request.complete(response)))
    }
}

/// Polls a handler; without this, a panic would end the connection without a response.
fn poll_handler<F>(handler: &mut F, context: &mut Context<'_>) -> Poll<Response>
where
    F: Future<Output = Result<Response, Infallible>> + Unpin,
{
    let polled = AssertUnwindSafe(|| Pin::new(handler).poll(context));
    match catch_unwind(polled) {
        Ok(polled) => polled.map(|response| response.unwrap_or_else(|never| match never {})),
        Err(panic) => Poll::Ready(panicked(&*panic).into_response()),
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
    group: Route,
    span: Span,
    trace: Option<TraceParent>,
    recording: Option<Recording>,
}

impl LoggedRequest {
    /// Writes the failure that a response carries, counts and logs the request.
    fn complete(&mut self, mut response: Response) -> Response {
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
        if self.group == Route::ShowOrder && matches!(status, 200 | 304) {
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

/// The rate limit by which a request was refused; `None` if it was refused for another reason.
fn rule(route: Route, refusal: &ApiError) -> Option<Rule> {
    match refusal {
        ApiError::TooManyRequests { .. } if route == Route::OpenAttempt => Some(Rule::Attempts),
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

/// The refusal of a request with such a header.
pub(crate) fn reject_duplicate_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    let came_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    let Some(name) = SINGLE.iter().find(came_twice) else {
        return Ok(());
    };
    Err(ApiError::DuplicateHeader(name.clone()))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_handler_is_answered() {
        let handler = async || -> Result<Response, Infallible> { panic!("a bug") };
        let mut handler = std::pin::pin!(handler());
        let response = poll_fn(|context| poll_handler(&mut handler, context)).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let failure = response.extensions().get::<Arc<ApiError>>().unwrap();
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
