//! GET, POST and DELETE /sandbox/faults: shows, plans and forgets what goes wrong; DELETE /sandbox/faults/{number} forgets
//! one.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::faults::{Plan, Planned};
use crate::state::Sandbox;

pub(super) async fn list(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<Planned>> {
    Json(sandbox.act(|state, _| state.faults.plans().to_vec()))
}

pub(super) async fn plan(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Planned>, ControlError> {
    let plan: Plan = read(&body)?;
    let planned = sandbox.act(|state, _| state.faults.plan(plan));
    planned
        .map(Json)
        .map_err(|sentence| ControlError::BadRequest(sentence.to_owned()))
}

pub(super) async fn clear(State(sandbox): State<Arc<Sandbox>>) -> Json<Value> {
    sandbox.act(|state, _| state.faults.clear());
    Json(json!({}))
}

pub(super) async fn forget(
    State(sandbox): State<Arc<Sandbox>>,
    Path(number): Path<u64>,
) -> Result<Json<Value>, ControlError> {
    if sandbox.act(|state, _| state.faults.forget(number)) {
        return Ok(Json(json!({})));
    }
    Err(ControlError::NotFound(format!(
        "No fault {number} is to come: see GET /sandbox/faults."
    )))
}
