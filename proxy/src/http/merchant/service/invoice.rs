//! GET /v1/service/invoice: what the service says of one of the store's own invoices, word for word.
//!
//! It changes nothing here: an order moves by what the watcher hears.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use checkout_api::ErrorCode;
use schemars::JsonSchema;
use serde::Deserialize;
use service_api::{InvoiceId, Passage};

use super::pass;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::merchant::Merchant;

/// Which invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Wanted {
    /// The service's id of an invoice or a hosted session that one of the store's orders has or had.
    #[schemars(regex(pattern = "^[!-~]{1,128}$"))]
    id: String,
    /// Whether the transaction history is wanted too.
    #[serde(default)]
    hist: bool,
}

/// Asks about an invoice. Another store's answers as one that is not there.
pub(in crate::http) async fn invoice(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("query", &error.body_text()))?;
    let unknown = || {
        let message = "None of this store's orders has such an invoice.";
        ApiError::new(ErrorCode::NotFound, message)
    };
    let id = InvoiceId::parse(&wanted.id).map_err(|_| unknown())?;
    let known = ledger::InvoiceId::parse(&wanted.id).map_err(|_| unknown())?;
    let owner = app.parts.ledger.store_of_invoice(&known).await?;
    if owner != Some(merchant.0) {
        return Err(unknown());
    }
    pass(&app, Passage::invoice(&id, wanted.hist), false).await
}
