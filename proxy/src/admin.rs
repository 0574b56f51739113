//! The operator's listener: health, readiness, metrics, the operator's API and pages. Never on the public
//! listener; the pages for a store's staff there are made of the same parts.

mod api;
mod attention;
pub(crate) mod error;
pub(crate) mod pages;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_gateway::Health;
use serde_json::{Value, json};

use crate::admin::attention::{Finding, conditions};
use crate::admin::error::PageFailure;
use crate::admin::pages::sign_in::SignedInOperator;
use crate::admin::pages::viewer::Place;
use crate::metrics::scrape::scrape;
use crate::payments::currencies::Currencies;
use crate::state::AppState;
use crate::workers::storage_monitor;

/// What a page may load: its own style sheet. It may send forms to itself, and nothing may frame it.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

pub(crate) fn admin_routes(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/health/live", get(|| async { "alive" }))
        .route("/health/ready", get(ready))
        .route("/metrics", get(scrape))
        .merge(api_routes())
        .merge(page_routes())
        .with_state(app)
}

fn api_routes() -> Router<Arc<AppState>> {
    use api::{deliveries, orders};
    Router::new()
        .route("/api/orders", get(orders::list))
        .route("/api/orders/{id}", get(orders::show))
        .route("/api/orders/{id}/decision", post(orders::decide))
        .route("/api/audit", get(orders::audit))
        .route("/api/deliveries", get(deliveries::list))
        .route(
            "/api/deliveries/{id}/redeliver",
            post(deliveries::redeliver),
        )
        .route("/api/webhooks/{store}/test", post(deliveries::test))
        .layer(map_response(guarded))
}

fn page_routes() -> Router<Arc<AppState>> {
    use pages::{attention, layout, orders, proxy, settlements, sign_in, stores};
    Router::new()
        .route("/", get(attention::page::<SignedInOperator>))
        .route("/login", get(sign_in::page).post(sign_in::sign_in))
        .route("/logout", post(sign_in::sign_out))
        .route("/orders", get(orders::list::<SignedInOperator>))
        .route("/orders/{id}", get(orders::show::<SignedInOperator>))
        .route(
            "/orders/{id}/decision",
            post(orders::decide::<SignedInOperator>),
        )
        .route(
            "/orders/{id}/redeliver",
            post(orders::redeliver::<SignedInOperator>),
        )
        .route("/stores", get(stores::page::<SignedInOperator>))
        .route("/stores/{id}/test", post(stores::test::<SignedInOperator>))
        .route(
            "/stores/{id}/enable",
            post(stores::enable::<SignedInOperator>),
        )
        .route("/gateway", get(proxy::gateway))
        .route("/settlements", get(settlements::page::<SignedInOperator>))
        .route(
            "/settlements.csv",
            get(settlements::csv::<SignedInOperator>),
        )
        .route("/audit", get(orders::audit::<SignedInOperator>))
        .route("/configuration", get(proxy::configuration))
        .route("/operator.css", get(layout::style))
        .layer(map_response(guarded))
}

/// Renders a failure, and adds the headers of every page and of the API.
async fn guarded(response: Response) -> Response {
    guard(Place::Operator, response)
}

/// Renders the failure that a response carries, and adds the headers of every page of a place.
pub(crate) fn guard(place: Place, mut response: Response) -> Response {
    if let Some(PageFailure { title, message }) = response.extensions_mut().remove() {
        let kept = std::mem::take(response.headers_mut());
        let status = response.status();
        response = (status, pages::layout::failure(place, &title, &message)).into_response();
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
    match app.currencies() {
        Currencies::NotAsked | Currencies::NotKnown => Value::Null,
        Currencies::Compared {
            at,
            unknown,
            not_offered,
        } => json!({
            "compared_at": at.to_string(),
            "unknown_here": unknown,
            "not_offered": not_offered,
        }),
    }
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
    let Ok(Some(server)) = app.deps.storage.server_state().await else {
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
    let gateway_health = app.deps.gateway.health();
    // A database that does not answer would be asked in vain.
    let (server, totals) = match &database {
        Ok(_) => (
            database_server(&app).await,
            app.deps.storage.totals().await.ok(),
        ),
        Err(_) => (Value::Null, None),
    };
    let conditions = conditions(&app, totals.as_ref());
    let conditions = conditions.iter().map(|Finding { condition, detail }| {
        json!({
            "title": condition.title(),
            "detail": detail,
            "sentence": condition.sentence(),
            "page": condition.page(),
        })
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
