//! GET /sandbox/journal?after=0: all that happened after that number, oldest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;

use crate::journal::Entry;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    #[serde(default)]
    after: u64,
}

pub(super) async fn list(
    State(sandbox): State<Arc<Sandbox>>,
    Query(After { after }): Query<After>,
) -> Json<Vec<Entry>> {
    Json(sandbox.act(|state, _| state.journal.after(after)))
}
