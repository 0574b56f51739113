//! The operator's listener: health, readiness, metrics, the operator's API and pages. Never on the public
//! listener; the pages for a store's staff there are made of the same parts.

mod api;
mod attention;
pub(crate) mod pages;

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::{FormRejection, JsonRejection, QueryRejection};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_gateway_client::Health;
use florin_storage::{DecideError, StorageError};
use serde_json::{Value, json};

use crate::admin::attention::{Finding, conditions};
use crate::admin::pages::Place;
use crate::metrics::scrape::scrape;
use crate::settlements::ReportError;
use crate::state::AppState;
use crate::workers::storage_monitor;

/// What a page may load: its own style sheet and script. It may send forms to itself, and nothing may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn admin_routes(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/health/live", get(|| async { "alive" }))
        .route("/health/ready", get(ready))
        .route("/metrics", get(scrape))
        .merge(api_routes(&app))
        .merge(page_routes(&app))
        .with_state(app)
}

fn api_routes(app: &Arc<AppState>) -> Router<Arc<AppState>> {
    use api::orders;
    Router::new()
        .route("/api/orders", get(orders::list))
        .route("/api/orders/{id}", get(orders::show))
        .route("/api/orders/{id}/decision", post(orders::decide))
        .route("/api/orders/{id}/refunds", post(orders::refund))
        .route("/api/audit", get(orders::audit))
        .route("/api/settlements", get(api::settlements))
        .route("/api/deliveries", get(api::deliveries))
        .route("/api/deliveries/{id}/redeliver", post(api::redeliver))
        .route("/api/webhooks/{store}/{webhook}/test", post(api::test))
        .route_layer(from_fn_with_state(app.clone(), api::require_token))
        .layer(map_response(guarded))
}

fn page_routes(app: &Arc<AppState>) -> Router<Arc<AppState>> {
    use pages::{orders, sign_in, stores};
    shared_routes(Place::Operator)
        .route("/gateway", get(stores::gateway))
        .route("/audit", get(orders::audit))
        .route("/configuration", get(stores::configuration))
        .route("/logout", post(sign_in::sign_out))
        .route_layer(from_fn_with_state(app.clone(), sign_in::require_operator))
        .route("/login", get(sign_in::page).post(sign_in::sign_in))
        .route("/operator.css", get(pages::style))
        .route("/operator.js", get(pages::script))
        .layer(map_response(guarded))
}

/// The pages that operators and stores' staff have. A layer of their place signs the [`pages::Viewer`] in.
pub(crate) fn shared_routes(place: Place) -> Router<Arc<AppState>> {
    use pages::{attention, orders, refunds, settlements, stores};
    let at = |path: &str| format!("{}{path}", place.base());
    Router::new()
        .route(&at("/"), get(attention::page))
        .route(&at("/orders"), get(orders::list))
        .route(&at("/orders/{id}"), get(orders::show))
        .route(&at("/orders/{id}/decision"), post(orders::decide))
        .route(&at("/orders/{id}/refunds"), post(refunds::refund))
        .route(&at("/orders/{id}/redeliver"), post(orders::redeliver))
        .route(&at("/settlements"), get(settlements::page))
        .route(&at("/stores"), get(stores::page))
        .route(&at("/stores/{id}/{webhook}/test"), post(stores::test))
        .route(&at("/stores/{id}/{webhook}/enable"), post(stores::enable))
}

async fn guarded(response: Response) -> Response {
    guard(Place::Operator, response)
}

/// Renders the failure that a response carries, and adds the headers of every page of a place.
pub(crate) fn guard(place: Place, mut response: Response) -> Response {
    if let Some(PageFailure { title, message }) = response.extensions_mut().remove() {
        let kept = std::mem::take(response.headers_mut());
        let status = response.status();
        response = (status, pages::failure(place, &title, &message)).into_response();
        response.headers_mut().extend(kept);
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The gateway's currencies compared with ours; null until they were compared.
fn currencies(app: &AppState) -> Value {
    app.currencies.lock().as_ref().map_or(Value::Null, |found| {
        json!({
            "compared_at": found.at.to_string(),
            "unknown_here": found.unknown,
            "not_offered": found.not_offered,
        })
    })
}

fn gateway(app: &AppState, health: &Health) -> Value {
    json!({
        "status": if app.gateway_unavailable() { "not answering" } else { "ok" },
        "circuit": if health.is_circuit_open { "open" } else { "closed" },
        "pause_seconds": health.pause.as_secs(),
        "pause_excessive": health.is_pause_excessive,
        "requests_per_minute": health.requests_per_minute,
        "clock_ahead_seconds": health.skew.map(|skew| skew.as_secs()),
    })
}

/// How late the polls are, and how far they are put off because of the gateway's limits: 100 is as planned.
fn polling(app: &AppState) -> Value {
    let pace = app.polling_pace();
    json!({
        "lag_seconds": pace.lag.as_secs(),
        "stretch_percent": pace.stretch.percent(),
        "watched_stretch_percent": pace.watched_stretch.percent(),
    })
}

/// The schema, the clock and the standbys of a PostgreSQL server; null for a file, and while the server does not answer.
async fn database_server(app: &AppState) -> Value {
    let Ok(Some(server)) = app.storage.server_state().await else {
        return Value::Null;
    };
    let ahead = server.now.duration_since(app.now());
    let standbys = server.standbys.map(|standbys| {
        json!({
            "connected": standbys.connected,
            "synchronous": standbys.synchronous,
        })
    });
    json!({
        "schema": server.schema,
        "clock_ahead_ms": i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX),
        "clocks_agree": ahead.abs() <= storage_monitor::MOST_SKEW,
        "standbys": standbys,
    })
}

/// 200 while orders can be stored, the gateway does not ask for an excessive pause and the process is not ending, else 503.
/// The backlog of events and the rest of the gateway's state are for the operator to read and do not change the status.
async fn ready(State(app): State<Arc<AppState>>) -> (StatusCode, Json<Value>) {
    let database = storage_monitor::probe(&app).await;
    let ending = app.shutdown.is_cancelled();
    let gateway_health = app.gateway.health();
    // A database that does not answer would be asked in vain.
    let (server, totals) = match &database {
        Ok(_) => (database_server(&app).await, app.storage.totals().await.ok()),
        Err(_) => (Value::Null, None),
    };
    let conditions = conditions(&app, totals.as_ref());
    let conditions = conditions.iter().map(|Finding { condition, detail }| {
        let [title, sentence, page] = condition.texts();
        json!({ "title": title, "detail": detail, "sentence": sentence, "page": page })
    });
    let status = if database.is_ok() && !ending && !gateway_health.is_pause_excessive {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let report = json!({
        "database": if database.is_ok() { "ok" } else { "failing" },
        "database_reason": database.as_ref().err(),
        "database_server": server,
        "gateway": gateway(&app, &gateway_health),
        "polling": polling(&app),
        "currencies": currencies(&app),
        "events_waiting": database.ok(),
        "ending": ending,
        "conditions": conditions.collect::<Vec<_>>(),
    });
    (status, Json(report))
}

// Failures of the operator's API, and of the pages and forms of operators and staff, which their place renders. The public
// API's are in `http/error.rs`.

#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorError {
    /// 401: no operator sent the request.
    #[error(
        "send the token of an operator as `Authorization: Bearer …`: [[operator]] in the configuration has it"
    )]
    Unauthorized,
    /// 403: the operator's role is `read`.
    #[error("{0} has the role read: this needs role = \"write\" in the configuration")]
    ReadOnly(String),
    /// 403: the session of a store's staff sees alone.
    #[error(
        "this session sees orders and changes nothing: the shop makes links for people who decide"
    )]
    ReadOnlyStaff,
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// 400: a member or parameter of the request.
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    /// 409: the decision was not carried out, or the refund not recorded.
    #[error(transparent)]
    Decision(#[from] DecideError),
    /// 409: the store has no webhook.
    #[error(
        "the store {0} has no webhook {1}: [[store.webhook]] in the configuration has its address"
    )]
    NoWebhook(String, String),
    /// 503: the database.
    #[error("the database cannot be used: {0}")]
    Storage(#[from] StorageError),
}

impl OperatorError {
    pub(crate) fn invalid(field: &'static str, message: &(impl ToString + ?Sized)) -> Self {
        Self::Invalid {
            field,
            message: message.to_string(),
        }
    }

    pub(crate) fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::ReadOnly(_) | Self::ReadOnlyStaff => (StatusCode::FORBIDDEN, "read_only"),
            Self::NotFound(_) | Self::Decision(DecideError::NoOrder(_)) => {
                (StatusCode::NOT_FOUND, "not_found")
            }
            Self::Invalid { .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::Decision(DecideError::Changed { .. }) => (StatusCode::CONFLICT, "order_changed"),
            Self::Decision(DecideError::Refused(_)) => (StatusCode::CONFLICT, "decision_refused"),
            Self::Decision(DecideError::Refund(_)) => (StatusCode::CONFLICT, "refund_refused"),
            Self::NoWebhook(..) => (StatusCode::CONFLICT, "no_webhook"),
            Self::Storage(_) | Self::Decision(DecideError::Storage(_)) => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
        }
    }

    /// Logs what the operator's own request did not cause.
    pub(crate) fn log(&self) {
        if let Self::Storage(error) | Self::Decision(DecideError::Storage(error)) = self
            && error.outage().is_none()
        {
            tracing::error!(%error, "a request of an operator or of staff failed");
        }
    }
}

impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        self.log();
        let (status, code) = self.status();
        let mut error = json!({ "code": code, "message": self.to_string() });
        if let Self::Invalid { field, .. } = self {
            error["field"] = field.into();
        }
        let mut response = (status, Json(json!({ "error": error }))).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<ReportError> for OperatorError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Query(field, message) => Self::invalid(field, message),
            ReportError::Storage(error) => error.into(),
        }
    }
}

impl From<QueryRejection> for OperatorError {
    fn from(error: QueryRejection) -> Self {
        Self::invalid("query", cause(&error.body_text()))
    }
}

impl From<JsonRejection> for OperatorError {
    fn from(error: JsonRejection) -> Self {
        Self::invalid("body", cause(&error.body_text()))
    }
}

impl From<FormRejection> for OperatorError {
    fn from(error: FormRejection) -> Self {
        Self::invalid("form", cause(&error.body_text()))
    }
}

/// What is wrong with a query, a form or a body, without the words of axum before it: the member, and what it may be.
fn cause(text: &str) -> &str {
    let of_axum = ["Failed to deserialize ", "Failed to parse "];
    let is_of_axum = of_axum.iter().any(|words| text.starts_with(words));
    let cause = text.split_once(": ").filter(|_| is_of_axum);
    cause.map_or(text, |(_, cause)| cause)
}

pub(crate) enum PageError {
    Forged,
    /// As in the API.
    Operator(OperatorError),
}

impl<E: Into<OperatorError>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self::Operator(error.into())
    }
}

/// A failure in words, which a response carries until its place renders it.
#[derive(Clone, Debug)]
pub(crate) struct PageFailure {
    pub(crate) title: String,
    pub(crate) message: String,
}

impl PageFailure {
    pub(crate) fn of(error: &OperatorError, message: &str) -> Response {
        error.log();
        let (status, _) = error.status();
        Self::response(status, heading(status), message)
    }

    pub(crate) fn response(status: StatusCode, title: &str, message: &str) -> Response {
        let mut answer = status.into_response();
        answer.extensions_mut().insert(Self {
            title: title.to_owned(),
            message: message.to_owned(),
        });
        answer
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let Self::Operator(error) = self else {
            return PageFailure::response(
                StatusCode::FORBIDDEN,
                "The form is out of date",
                "It was not sent by a page of this session, and nothing was done. Go back, reload the page, and try again.",
            );
        };
        PageFailure::of(&error, &error.to_string())
    }
}

fn heading(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::CONFLICT => "Nothing was done",
        StatusCode::SERVICE_UNAVAILABLE => "The database does not answer",
        _ => "The request is not valid",
    }
}

#[cfg(test)]
mod tests {
    use super::cause;

    #[test]
    fn the_words_of_a_library_are_left_out() {
        for row in [
            "Failed to deserialize form body: missing field `csrf` -> missing field `csrf`",
            "Failed to parse the request body as JSON: EOF at line 1 -> EOF at line 1",
            "Form requests must have `Type: x` -> Form requests must have `Type: x`",
        ] {
            let (text, expected) = row.split_once(" -> ").unwrap();
            assert_eq!(cause(text), expected);
        }
    }
}
