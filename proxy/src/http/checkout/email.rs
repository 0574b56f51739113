//! POST /v1/checkout/email: where the customer wants the receipt. It is kept until "I have paid"; of a paid order it goes to
//! the gateway at once.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, KeepEmail, OrderView, looks_like_email};
use ledger::{Flow, Snapshot};

use super::{Holder, view_of};
use crate::app::App;
use crate::confirming::confirm;
use crate::http::body::Body;
use crate::http::error::ApiError;

/// Keeps the address with the order in place of an earlier one; an empty one removes it. A paid order takes one address,
/// which the gateway is sent for its receipt: a second one would ask it for a second receipt.
///
/// Assumed: the gateway takes POST /confirm for a completed invoice (payment-service.md, "POST /confirm", which names no
/// status). An error that names the status would disprove it; it is logged, and the order stays paid.
pub(crate) async fn email(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
    Body(wanted): Body<KeepEmail>,
) -> Result<Json<OrderView>, ApiError> {
    let email = checked(Some(wanted.email))?;
    if snapshot.order.terms.flow == Flow::Hosted {
        let message =
            "This order is paid on the payment service's page, which asks for the address itself.";
        return Err(ApiError::new(ErrorCode::OtherFlow, message));
    }
    let is_settled = snapshot.order.status.is_settled();
    let is_first = snapshot.order.receipt_email.is_none();
    if is_settled && !is_first && email != snapshot.order.receipt_email {
        let message = "This order is paid, and the address for its receipt is known.";
        return Err(ApiError::new(ErrorCode::OrderClosed, message));
    }
    let kept = keep(&app, &snapshot, email.as_deref()).await?;
    if is_settled && is_first && email.is_some() {
        confirm(&app, &kept, email);
    }
    Ok(Json(view_of(&app, &kept)?))
}

/// An address, or none for an empty text.
///
/// # Errors
/// [`ErrorCode::InvalidRequest`] for a text that is none; it names the field.
pub(super) fn checked(email: Option<String>) -> Result<Option<String>, ApiError> {
    let email = email.filter(|email| !email.is_empty());
    if email.as_deref().is_none_or(looks_like_email) {
        return Ok(email);
    }
    let message = "Write an address like name@example.com, or none.";
    Err(ApiError::field("email", message))
}

/// Keeps an address with an order, or none. Pages of the order are told only whether there is one.
pub(super) async fn keep(
    app: &App,
    snapshot: &Snapshot,
    email: Option<&str>,
) -> Result<Snapshot, ApiError> {
    if snapshot.order.receipt_email.as_deref() == email {
        return Ok(snapshot.clone());
    }
    let id = &snapshot.order.id;
    let kept = app.parts.ledger.keep_receipt_email(id, email).await?;
    app.order_changed(id);
    kept.ok_or_else(ApiError::not_found)
}
