//! GET and POST /sandbox/walk: prices that move by themselves.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;

use super::{ControlError, read};
use crate::prices::Walk;
use crate::state::Sandbox;

/// A step of more than a half would sooner or later be one to nothing.
const MAX_BASIS_POINTS: u32 = 5_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Seconds from step to step; 0 stops the walk.
    every_seconds: u32,
    /// How far a step goes at most, in hundredths of a per cent.
    #[serde(default = "a_half_per_cent")]
    basis_points: u32,
}

fn a_half_per_cent() -> u32 {
    50
}

/// `null` while prices hold still.
pub(super) async fn show(State(sandbox): State<Arc<Sandbox>>) -> Json<Option<Walk>> {
    Json(sandbox.act(|state, _| state.prices.walks()))
}

pub(super) async fn change(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Option<Walk>>, ControlError> {
    let change: Change = read(&body)?;
    if change.basis_points > MAX_BASIS_POINTS {
        return Err(ControlError::BadRequest(format!(
            "The member basis_points is at most {MAX_BASIS_POINTS}: half the price."
        )));
    }
    Ok(Json(sandbox.act(|state, now| {
        let prices = &mut state.prices;
        prices.walk_every(change.every_seconds, change.basis_points, now);
        prices.walks()
    })))
}
