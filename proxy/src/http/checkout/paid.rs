//! POST /v1/checkout/paid: the customer says "I have paid". It proves nothing, and only makes us look.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, MarkPaid, OrderView};
use ledger::{BeginError, Flow, Snapshot};
use service_api::{ConfirmRequest, InvoiceId};

use super::email::{checked, keep};
use super::{Holder, view_of};
use crate::app::App;
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
    if !was_said(&snapshot) {
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

/// Saying it again costs the service nothing.
fn was_said(snapshot: &Snapshot) -> bool {
    let invoice = snapshot
        .attempt
        .as_ref()
        .and_then(|attempt| attempt.invoice());
    invoice.is_some_and(|invoice| invoice.marked_as_paid_at.is_some())
}

/// The service's answer changes nothing, so nobody waits for it; a failure costs the customer a receipt by mail.
pub(super) fn confirm(app: &Arc<App>, snapshot: &Snapshot, email: Option<String>) {
    let Some(invoice) = snapshot
        .attempt
        .as_ref()
        .and_then(|attempt| attempt.invoice())
    else {
        return;
    };
    let Ok(id) = InvoiceId::parse(invoice.id.as_str()) else {
        return;
    };
    let (app, order) = (app.clone(), snapshot.order.id.clone());
    tokio::spawn(async move {
        if let Err(error) = app
            .parts
            .service
            .confirm(&ConfirmRequest::new(id, email))
            .await
        {
            tracing::warn!(%order, %error, "the service was not told that the customer has paid");
        }
    });
}
