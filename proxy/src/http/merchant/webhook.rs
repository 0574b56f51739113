//! GET /v1/webhook and POST /v1/webhook/enable: how telling the store goes, and to go on after its endpoint was gone.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::Merchant;
use crate::app::App;
use crate::http::error::ApiError;

/// How telling a store goes.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Telling {
    /// `enabled`; `disabled` after the endpoint has answered 410; `none` for a store without one.
    #[schemars(extend("enum" = ["enabled", "disabled", "none"]))]
    state: &'static str,
    /// Since when it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    disabled_at: Option<String>,
    /// Events that wait to be told.
    events_waiting: u64,
}

/// How it goes.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    merchant: Merchant,
) -> Result<Json<Telling>, ApiError> {
    telling(&app, &merchant).await
}

/// Sends again to an endpoint that had said it is gone. Asking it of one that has not changes nothing.
pub(crate) async fn enable(
    State(app): State<Arc<App>>,
    merchant: Merchant,
) -> Result<Json<Telling>, ApiError> {
    let ledger = &app.parts.ledger;
    if ledger.restore_endpoint(&merchant.0, app.now()).await? {
        tracing::info!(store = %merchant.0, "the store enabled its endpoint: events are sent again");
        app.deliveries_due.send_replace(());
    }
    telling(&app, &merchant).await
}

async fn telling(app: &App, merchant: &Merchant) -> Result<Json<Telling>, ApiError> {
    let telling = app.parts.ledger.telling(&merchant.0).await?;
    let state = match (&merchant.store(app).webhook, telling.gone) {
        (None, _) => "none",
        (Some(_), None) => "enabled",
        (Some(_), Some(_)) => "disabled",
    };
    Ok(Json(Telling {
        state,
        disabled_at: telling.gone.map(|gone| gone.since.to_string()),
        events_waiting: telling.waiting,
    }))
}
