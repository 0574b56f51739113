//! GET /v1/events: the same events as the webhooks, in the order in which they happened.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use ledger::{Event, EventId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_PAGE, Merchant, page_size};
use crate::app::App;
use crate::http::error::ApiError;

/// Which events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The `next` of the page before: only what happened after this event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}_[0-9]{1,10}$"))]
    after: Option<String>,
    /// At most so many; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE))]
    limit: Option<u32>,
}

/// A page of events.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "EventPage")]
pub(crate) struct Page {
    #[schemars(schema_with = "crate::http::openapi::events")]
    events: Vec<Told>,
    /// What to pass as `after` for what follows; absent when there is nothing yet.
    next: Option<String>,
}

/// An event as its webhook tells it, with the webhook's id.
#[derive(Serialize)]
pub(crate) struct Told {
    id: String,
    #[serde(flatten)]
    body: Value,
}

/// A page of events.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Page>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("query", &error.body_text()))?;
    let after = wanted.after.as_deref().map(EventId::parse).transpose();
    let after = after.map_err(|error| ApiError::field("after", &error.to_string()))?;
    let limit = page_size(wanted.limit)?;
    let found = app
        .parts
        .ledger
        .events(&merchant.0, after.as_ref(), limit)
        .await?;
    let unknown = || ApiError::field("after", "The store has no such event.");
    let found = found.ok_or_else(unknown)?;
    let next = found.last().map(|event| event.id.to_string());
    let events = found.iter().map(told).collect::<Result<_, _>>()?;
    Ok(Json(Page { events, next }))
}

fn told(event: &Event) -> Result<Told, ApiError> {
    let body = serde_json::from_str(&event.payload).map_err(|error| ApiError::internal(&error))?;
    Ok(Told {
        id: event.id.to_string(),
        body,
    })
}
