//! GET /sandbox/sessions: every hosted checkout, newest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::state::Sandbox;

/// A hosted checkout as the developer sees it.
#[derive(Debug, Serialize)]
pub(super) struct SessionView {
    id: String,
    /// That of the invoice, once there is one.
    status: &'static str,
    /// Whether an asset was chosen: the rest is in the invoice of the same id.
    has_invoice: bool,
    amount: Option<String>,
    currency: String,
    email: String,
    merchant_id: Option<String>,
    merchant_website: String,
    invoice_callback_url: String,
    url: String,
    created_at: String,
}

pub(super) async fn list(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<SessionView>> {
    let views = sandbox.act(|state, now| {
        let views = state.sessions.newest_first().map(|session| {
            let invoice = state.invoices.find(&session.id);
            let status = invoice.map_or_else(|| session.status(now), |invoice| invoice.status(now));
            SessionView {
                id: session.id.clone(),
                status: status.as_str(),
                has_invoice: invoice.is_some(),
                amount: session.amount.as_ref().map(ToString::to_string),
                currency: session.currency.to_string(),
                email: session.email.clone(),
                merchant_id: session.merchant_id.clone(),
                merchant_website: session.website.clone(),
                invoice_callback_url: session.callback_url.clone(),
                url: format!("/checkout?id={}", session.id),
                created_at: session.created_at.to_string(),
            }
        });
        views.collect()
    });
    Json(views)
}
