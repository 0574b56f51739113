//! Payments: prices and quotes, opening an attempt, and the view of an order.

pub(crate) mod checks;
pub(crate) mod currencies;
pub(crate) mod error;
pub(crate) mod fair_queue;
pub(crate) mod open;
pub(crate) mod payable;
pub(crate) mod price_cache;
pub(crate) mod quotes;
pub(crate) mod rendered_view;
pub(crate) mod view;
pub(crate) mod warnings;

use std::sync::Arc;

use florin_gateway::{ConfirmRequest, InvoiceId};
use florin_orders::{Invoice, Snapshot};
use tracing::Instrument as _;

use crate::state::AppState;
use crate::trace;

/// Returns `true` if the customer pressed "I have paid", which sent POST /confirm.
pub(crate) fn is_marked_as_paid(snapshot: &Snapshot) -> bool {
    invoice(snapshot).is_some_and(|invoice| invoice.marked_as_paid_at.is_some())
}

/// Sends POST /confirm with the address for the receipt. The gateway's response changes nothing, so no request waits for it; a
/// failure costs the customer a receipt by mail.
pub(crate) fn confirm(app: &Arc<AppState>, snapshot: &Snapshot, email: Option<String>) {
    let Some(invoice) = invoice(snapshot) else {
        return;
    };
    let Ok(id) = InvoiceId::parse(invoice.id.as_str()) else {
        return;
    };
    let (app, order) = (app.clone(), snapshot.order.id.clone());
    let confirmed = async move {
        let request = ConfirmRequest::new(id, email);
        if let Err(error) = app.deps.gateway.confirm(&request).await {
            tracing::warn!(%order, %error, "POST /confirm failed");
        }
    };
    let trace = snapshot.order.terms.traceparent;
    let confirmed = trace::within(trace.or_else(trace::current), confirmed.in_current_span());
    tokio::spawn(confirmed);
}

fn invoice(snapshot: &Snapshot) -> Option<&Invoice> {
    snapshot.attempt.as_ref()?.invoice()
}
