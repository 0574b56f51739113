//! POST /v1/checkout/paid: the customer says "I have paid". It proves nothing, and only makes us look.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, MarkPaid, OrderView};
use ledger::{BeginError, Flow};

use super::email::{checked, keep};
use super::{Holder, view_of};
use crate::app::App;
use crate::confirming::{confirm, was_said};
use crate::http::body::Body;
use crate::http::error::ApiError;

/// Notes it, tells the service (POST /confirm) without waiting, and looks at once. An address for the receipt is kept with
/// the order; one that is kept already is told when none is given.
pub(crate) async fn paid(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
    Body(said): Body<MarkPaid>,
) -> Result<Json<OrderView>, ApiError> {
    let email = checked(said.email)?;
    if snapshot.order.terms.flow == Flow::Hosted {
        let message = "This order is paid on the payment service's page, which sees what is paid.";
        return Err(ApiError::new(ErrorCode::OtherFlow, message));
    }
    let marked = app
        .parts
        .ledger
        .mark_as_paid(&snapshot.order.id, app.now())
        .await;
    let marked = marked.map_err(|error| match error {
        BeginError::Ledger(error) => ApiError::from(error),
        BeginError::NoOrder(_) => ApiError::not_found(),
        BeginError::Closed { .. } | BeginError::InProgress | BeginError::TooMany => {
            let message = "There is nothing to pay yet: choose how you want to pay first.";
            ApiError::new(ErrorCode::NothingToPay, message)
        }
    })?;
    if !was_said(&snapshot) && !marked.order.status.is_settled() {
        let kept = marked.order.receipt_email.clone();
        confirm(&app, &marked, email.clone().or(kept));
        app.parts
            .ledger
            .hurry_order(&marked.order.id, app.now())
            .await?;
        app.attempts_due.notify_one();
        app.order_changed(&marked.order.id);
    }
    let shown = match &email {
        Some(email) if !marked.order.status.is_settled() => {
            keep(&app, &marked, Some(email)).await?
        }
        _ => marked,
    };
    Ok(Json(view_of(&app, &shown)?))
}
