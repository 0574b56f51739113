//! The operator's listener: health, readiness and the API reference. Never on the public listener.

mod docs;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use florin_gateway::Health;
use serde_json::{Value, json};

use crate::payments::currencies::Currencies;
use crate::state::AppState;
use crate::workers::storage_monitor;

/// The health pages, and the description to read.
pub(crate) fn admin_routes(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/health/live", get(|| async { "alive" }))
        .route("/health/ready", get(ready))
        .route("/docs", get(docs::reference))
        .with_state(app)
}

/// The gateway's currencies compared with ours; null until they were compared.
fn currencies(app: &AppState) -> Value {
    match app.currencies() {
        Currencies::NotAsked | Currencies::NotKnown => Value::Null,
        Currencies::Compared {
            at,
            unknown,
            not_offered,
            names: _,
        } => json!({
            "compared_at": at.to_string(),
            "unknown_here": unknown,
            "not_offered": not_offered,
        }),
    }
}

/// Whether the gateway answers, and the state of its limits.
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
    })
}

/// 200 while orders can be stored, the gateway does not ask for an excessive pause and the process is not ending, else 503.
/// The backlog of events and the rest of the gateway's state are for the operator to read and do not change the status.
async fn ready(State(app): State<Arc<AppState>>) -> (StatusCode, Json<Value>) {
    let stored = storage_monitor::probe(&app).await;
    let backlog = app.deps.storage.backlog().await;
    let ending = app.shutdown.is_cancelled();
    let gateway_health = app.deps.gateway.health();
    let database = stored.and_then(|()| backlog.as_ref().map(|_| ()).map_err(ToString::to_string));
    let status = if database.is_ok() && !ending && !gateway_health.is_pause_excessive {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let report = json!({
        "database": if database.is_ok() { "ok" } else { "failing" },
        "database_reason": database.err(),
        "gateway": gateway(&app, &gateway_health),
        "polling": polling(&app),
        "currencies": currencies(&app),
        "events_waiting": backlog.ok(),
        "ending": ending,
    });
    (status, Json(report))
}
