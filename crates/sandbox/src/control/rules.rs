//! GET and POST /sandbox/rules: how strict the service is.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;

use super::{ControlError, read};
use crate::rules::{ChangedRules, Rules};
use crate::state::Sandbox;

pub(super) async fn show(State(sandbox): State<Arc<Sandbox>>) -> Json<Rules> {
    Json(sandbox.act(|state, _| state.rules.clone()))
}

/// Changes the rules that are named and shows all.
pub(super) async fn change(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Rules>, ControlError> {
    let changed: ChangedRules = read(&body)?;
    Ok(Json(sandbox.act(|state, _| {
        state.rules.change(&changed);
        state.rules.clone()
    })))
}
