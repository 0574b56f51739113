//! GET /v1/checkout/receipt: what the customer can keep and print.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, SignedReceipt};

use super::{Holder, store_of};
use crate::app::App;
use crate::config::Store;
use crate::http::error::ApiError;
use crate::receipt::issue;

/// The receipt of the order that the token opens.
pub(crate) async fn receipt(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
) -> Result<Json<SignedReceipt>, ApiError> {
    let store = store_of(&app, &snapshot)?;
    receipt_of(&app, store, &snapshot)
}

/// The receipt of an order.
///
/// # Errors
/// [`ErrorCode::NotPaid`] while it is not credited, or its payment is taken back.
pub(in crate::http) fn receipt_of(
    app: &App,
    store: &Store,
    snapshot: &ledger::Snapshot,
) -> Result<Json<SignedReceipt>, ApiError> {
    let not_paid = || {
        let message = if snapshot.order.reverted.is_some() {
            "There is no receipt while the payment service takes back what was paid. Ask the shop."
        } else {
            "There is a receipt once the order is paid. It is not paid yet."
        };
        ApiError::new(ErrorCode::NotPaid, message)
    };
    let issued = issue(&app.config, store, snapshot);
    issued.map(Json).ok_or_else(not_paid)
}
