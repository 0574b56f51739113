//! POST /sandbox/reset: a world in which nothing has happened yet.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Extract;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::journal::Event;
use crate::state::{Sandbox, State};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    /// Where ids, addresses and prices come from; the one of the start when it is not named.
    seed: Option<u64>,
}

/// Invoices, checkouts, records, faults, rules, prices and time begin anew; the journal goes on.
pub(super) async fn reset(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let Reset { seed } = read(&body)?;
    let seed = seed.unwrap_or(sandbox.settings.seed);
    let settings = &sandbox.settings;
    sandbox.act(|state, now| {
        let journal = core::mem::take(&mut state.journal);
        match State::new(settings, seed, journal) {
            Ok(new) => {
                let requests = core::mem::take(&mut state.requests);
                *state = new;
                state.requests = requests;
                state.journal.add(now, Event::Started { seed });
                Ok(Json(json!({"seed": seed})))
            }
            Err(error) => Err(ControlError::BadRequest(format!("{error:#}."))),
        }
    })
}
