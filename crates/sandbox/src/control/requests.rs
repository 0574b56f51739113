//! GET /sandbox/requests: the last calls to the service, newest first; GET /sandbox/requests/{number}: one as it went
//! over the wire.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

use super::ControlError;
use crate::request_log::{Exchange, LoggedCall};
use crate::state::Sandbox;

pub(super) async fn list(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<LoggedCall>> {
    Json(sandbox.act(|state, _| state.requests.newest_first()))
}

/// A call, opened.
#[derive(Debug, Serialize)]
pub(super) struct Opened {
    #[serde(flatten)]
    call: LoggedCall,
    #[serde(flatten)]
    exchange: Exchange,
}

pub(super) async fn show(
    State(sandbox): State<Arc<Sandbox>>,
    Path(number): Path<u64>,
) -> Result<Json<Opened>, ControlError> {
    let opened = sandbox.act(|state, _| {
        let (call, exchange) = state.requests.find(number)?;
        Some(Opened {
            call: call.clone(),
            exchange: exchange.clone(),
        })
    });
    opened.map(Json).ok_or_else(|| {
        ControlError::NotFound(format!(
            "The call {number} is not kept: see GET /sandbox/requests."
        ))
    })
}
