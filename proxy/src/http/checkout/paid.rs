//! POST /v1/checkout/paid: the customer says "I have paid". It proves nothing, and only makes us look.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, MarkPaid, OrderView};
use ledger::{BeginError, Snapshot};
use service_api::{ConfirmRequest, InvoiceId};

use super::{Holder, view_of};
use crate::app::App;
use crate::http::body::Body;
use crate::http::error::ApiError;

/// Source: RFC 5321, section 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
const MAX_EMAIL_BYTES: usize = 254;

/// Notes it, tells the service (POST /confirm) without waiting, and looks at once.
pub(crate) async fn paid(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
    Body(said): Body<MarkPaid>,
) -> Result<Json<OrderView>, ApiError> {
    let email = said.email.filter(|email| !email.is_empty());
    if email
        .as_deref()
        .is_some_and(|email| !looks_like_email(email))
    {
        return Err(ApiError::field(
            "email",
            "Write an address like name@example.com, or none.",
        ));
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
    if was_said(&snapshot) {
        return Ok(Json(view_of(&app, &marked)?));
    }
    confirm(&app, &marked, email);
    app.parts
        .ledger
        .hurry_order(&marked.order.id, app.now())
        .await?;
    app.attempts_due.notify_one();
    app.order_changed(&marked.order.id);
    Ok(Json(view_of(&app, &marked)?))
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
fn confirm(app: &Arc<App>, snapshot: &Snapshot, email: Option<String>) {
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

fn looks_like_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.split_once('@');
    let shaped = parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    text.len() <= MAX_EMAIL_BYTES && plain && shaped
}
