//! GET and POST /sandbox/time: what time it is here, and how it passes.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Extract;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::state::{Sandbox, State};
use crate::warp::{MAX_JUMP_SECONDS, MAX_SPEED};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Forward, at once.
    #[serde(default)]
    jump_seconds: u32,
    /// Seconds here for one of the clock; 0 stands still.
    speed: Option<u32>,
}

pub(super) async fn show(Extract(sandbox): Extract<Arc<Sandbox>>) -> Json<Value> {
    let clock = sandbox.clock().now();
    Json(sandbox.act(|state, _| view(state, clock)))
}

pub(super) async fn change(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let change: Change = read(&body)?;
    if change.jump_seconds > MAX_JUMP_SECONDS || change.speed.unwrap_or(1) > MAX_SPEED {
        return Err(ControlError::BadRequest(format!(
            "The time jumps by {MAX_JUMP_SECONDS} seconds at most, and runs {MAX_SPEED} times as fast."
        )));
    }
    let clock = sandbox.clock().now();
    Ok(Json(sandbox.act(|state, _| {
        if let Some(speed) = change.speed {
            state.warp.set_speed(speed, clock);
        }
        state.warp.jump(change.jump_seconds, clock);
        view(state, clock)
    })))
}

pub(super) fn view(state: &State, clock: jiff::Timestamp) -> Value {
    let here = state.warp.here(clock);
    json!({
        "now": here.to_string(),
        "ahead_seconds": here.duration_since(clock).as_secs(),
        "speed": state.warp.speed(),
    })
}
