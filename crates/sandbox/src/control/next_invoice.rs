//! POST /sandbox/next-invoice: the next POST /invoice answers with another address or QR string.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::invoices::NextInvoice;
use crate::state::Sandbox;

pub(super) async fn lie(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let next: NextInvoice = read(&body)?;
    let answer = json!({"address": next.address, "qr_string": next.qr_string});
    sandbox.act(|state, _| state.invoices.lie_next(next));
    Ok(Json(answer))
}
