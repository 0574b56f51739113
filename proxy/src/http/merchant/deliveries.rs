//! GET /v1/deliveries and POST /v1/events/{id}/redeliver: what was tried, and try again.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use ledger::EventId;
use serde::{Deserialize, Serialize};

use super::Merchant;
use crate::app::App;
use crate::http::error::ApiError;

/// Of which event.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    event: String,
}

/// The tries at telling one event, first one first.
#[derive(Serialize)]
pub(crate) struct Tries {
    deliveries: Vec<Try>,
}

/// One try.
#[derive(Serialize)]
pub(crate) struct Try {
    tried_at: String,
    /// The store's HTTP status; absent when none came.
    http_status: Option<u16>,
    note: String,
}

/// Lists the tries.
pub(crate) async fn deliveries(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Tries>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("event", &error.body_text()))?;
    let event = EventId::parse(&wanted.event)
        .map_err(|error| ApiError::field("event", &error.to_string()))?;
    let found = app.parts.ledger.deliveries(&merchant.0, &event).await?;
    let tries = found
        .ok_or_else(ApiError::not_found)?
        .into_iter()
        .map(|delivery| Try {
            tried_at: delivery.tried_at.to_string(),
            http_status: delivery.http_status,
            note: delivery.note,
        });
    Ok(Json(Tries {
        deliveries: tries.collect(),
    }))
}

/// Plans to tell an event again.
pub(crate) async fn redeliver(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let event = EventId::parse(&id).map_err(|_| ApiError::not_found())?;
    if !app
        .parts
        .ledger
        .redeliver(&merchant.0, &event, app.now())
        .await?
    {
        return Err(ApiError::not_found());
    }
    app.deliveries_due.send_replace(());
    Ok(StatusCode::ACCEPTED)
}
