//! POST /sandbox/mine: blocks on every chain at once.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::journal::Event;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mine {
    #[serde(default = "one")]
    blocks: u32,
}

fn one() -> u32 {
    1
}

pub(super) async fn mine(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let Mine { blocks } = read(&body)?;
    sandbox.act(|state, now| {
        state.invoices.mine(blocks);
        state.journal.add(now, Event::Block { blocks });
    });
    Ok(Json(json!({"blocks": blocks})))
}
