//! POST /checkout/close: the customer has left the page.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Refusal, read};
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Close {
    id: String,
}

/// Before the QR code, closing cancels; after it, the invoice runs on.
pub(super) async fn close(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    let Close { id } = read(&body)?;
    sandbox.act(|state, now| {
        let session = state
            .sessions
            .find_mut(&id)
            .ok_or_else(Refusal::no_session)?;
        session.close(now);
        Ok(Json(json!({"status": session.status(now).as_str()})))
    })
}
