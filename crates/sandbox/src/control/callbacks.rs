//! POST /sandbox/callbacks: sends a callback that nothing has caused.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::invoice::Final;
use crate::invoices::Announcement;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forged {
    /// Any text; that of a hosted checkout goes to its own URL.
    invoice_id: String,
    status: Word,
    #[serde(default = "one")]
    times: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Word {
    Completed,
    Failed,
}

fn one() -> u32 {
    1
}

/// Callbacks that are sent at once.
const MAX_TIMES: u32 = 100;

pub(super) async fn forge(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let forged: Forged = read(&body)?;
    if forged.times > MAX_TIMES {
        return Err(ControlError::BadRequest(format!(
            "The member times is at most {MAX_TIMES}."
        )));
    }
    sandbox.act(|state, _| {
        let session = state.sessions.find(&forged.invoice_id);
        let url = session.map(|session| session.callback_url.clone());
        let reached = match forged.status {
            Word::Completed => Final::Completed,
            Word::Failed => Final::Failed,
        };
        let callback = Announcement::new(forged.invoice_id.clone(), reached, url);
        for _ in 0..forged.times {
            state.outgoing.push(callback.clone());
        }
    });
    Ok(Json(json!({"sent": forged.times})))
}
