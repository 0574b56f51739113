//! POST /callbacks/{token}: the gateway hints that an invoice changed. The callback is unsigned: a hint, never a fact. It
//! only brings the next poll forward.
//!
//! Source: payment-service.md, "Events", rules 2 and 4: answer 200 with an empty body, act on GET /invoice alone.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use florin_checkout_api::ErrorCode;
use florin_orders::InvoiceId;
use serde::Deserialize;
use serde_json::json;

use crate::http::body::read;
use crate::http::error::ApiError;
use crate::http::openapi::GATEWAY;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::state::AppState;

/// A callback names an invoice and a word.
const MAX_BODY_BYTES: usize = 4 * 1024;

#[derive(Deserialize)]
struct CallbackBody {
    invoice_id: String,
    /// `COMPLETED` or `FAILED`; anything is let pass.
    #[serde(default)]
    status: serde_json::Value,
}

pub(crate) async fn callback(
    State(app): State<Arc<AppState>>,
    Path(token): Path<String>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    if !app.config().gateway.callback_token.is_one(&token) {
        return Err(ApiError::NoSuchAddress);
    }
    let body = read(request.into_body(), MAX_BODY_BYTES).await?;
    let hint: CallbackBody = serde_json::from_slice(&body).map_err(|_| {
        ApiError::invalid(
            "invoice_id",
            "Send a JSON object with invoice_id, a string.",
        )
    })?;
    if let Ok(id) = InvoiceId::parse(&hint.invoice_id)
        && schedule_poll(&app, &id, &hint).await?
    {
        app.poller_wakeup.notify_one();
    }
    Ok(StatusCode::OK)
}

pub(crate) fn describe_callback(_: &mut Types) -> Operation {
    let shape = json!({
        "type": "object",
        "required": ["invoice_id"],
        "additionalProperties": true,
        "properties": { "invoice_id": { "type": "string", "description": "The invoice that something happened to.", "examples": ["inv_51"] } },
    });
    Operation::new("receive_callback", GATEWAY, Auth::None)
        .summary(
            "A hint that an invoice changed",
            "It is unsigned, so nothing in it is believed: the proxy asks the gateway. Known and unknown invoices get the \
             same response. Any content type is read as JSON.",
        )
        .path("token", "The `callback_token` of the configuration.", &json!({ "type": "string", "minLength": 1 }))
        .takes_json(&shape, &json!({ "invoice_id": "inv_1", "status": "COMPLETED" }))
        .errors(&[ErrorCode::NotFound, ErrorCode::Internal, ErrorCode::StorageUnavailable])
        .responds_empty(200, "Received. The body is empty.")
}

/// Schedules a poll. Returns `true` if one is due sooner: of a settled invoice, only after a callback that says `FAILED`.
async fn schedule_poll(
    app: &AppState,
    id: &InvoiceId,
    hint: &CallbackBody,
) -> Result<bool, ApiError> {
    let (storage, now) = (&app.storage, app.now());
    if storage.schedule_poll_of_invoice(id, now).await? {
        return Ok(true);
    }
    Ok(hint.status == "FAILED" && storage.schedule_recheck(id, now).await?)
}
