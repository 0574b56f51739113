//! GET /sandbox/requests: the last calls to the service, newest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::request_log::LoggedCall;
use crate::state::Sandbox;

pub(super) async fn list(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<LoggedCall>> {
    Json(sandbox.act(|state, _| state.requests.newest_first()))
}
