//! GET /v1/deliveries and POST /v1/events/{id}/redeliver: what was tried, and try again.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use ledger::{DeliveryFilter, DeliveryId, EventId, RecordedDelivery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MAX_PAGE, Merchant, page_size};
use crate::app::App;
use crate::http::error::ApiError;

/// Which tries.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Only tries at telling this event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}_[0-9]{1,10}$"))]
    event: Option<String>,
    /// The `next` of the page before: only what is older than this try.
    #[schemars(regex(pattern = "^dlv_[0-9a-f]{32}_[0-9]{1,10}_[0-9]{1,10}$"))]
    after: Option<String>,
    /// At most so many; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE))]
    limit: Option<u32>,
}

/// A page of tries, latest first.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "DeliveryPage")]
pub(crate) struct Page {
    /// The tries.
    deliveries: Vec<Try>,
    /// What to pass as `after` for the next page; absent on the last.
    next: Option<String>,
}

/// One try.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Delivery")]
pub(crate) struct Try {
    /// The try's own id.
    id: String,
    /// What was told.
    event: String,
    #[serde(rename = "type")]
    /// The event's type.
    event_type: &'static str,
    /// When it began.
    #[schemars(extend("format" = "date-time"))]
    tried_at: String,
    /// How long it took, in milliseconds.
    took_ms: u64,
    /// The store's HTTP status; absent when none came.
    http_status: Option<u16>,
    /// What happened, in words; for a refusal with the beginning of the store's own answer.
    note: String,
}

/// Lists the tries.
pub(crate) async fn deliveries(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Page>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("query", &error.body_text()))?;
    let event = wanted.event.as_deref().map(EventId::parse).transpose();
    let after = wanted.after.as_deref().map(DeliveryId::parse).transpose();
    let filter = DeliveryFilter {
        event: event.map_err(|error| ApiError::field("event", &error.to_string()))?,
        after: after.map_err(|error| ApiError::field("after", &error.to_string()))?,
        limit: page_size(wanted.limit)?,
    };
    let found = app.parts.ledger.deliveries(&merchant.0, &filter).await?;
    let found = found.ok_or_else(ApiError::not_found)?;
    let is_full = found.len() == filter.limit as usize;
    let next = found.last().filter(|_| is_full);
    let next = next.map(|last| last.id.to_string());
    let deliveries = found.into_iter().map(shown).collect();
    Ok(Json(Page { deliveries, next }))
}

fn shown(recorded: RecordedDelivery) -> Try {
    let RecordedDelivery {
        id,
        event_type,
        delivery,
    } = recorded;
    Try {
        id: id.to_string(),
        event: delivery.event_id.to_string(),
        event_type: event_type.as_str(),
        tried_at: delivery.tried_at.to_string(),
        took_ms: u64::try_from(delivery.took.as_millis()).unwrap_or(0),
        http_status: delivery.http_status,
        note: delivery.note,
    }
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
