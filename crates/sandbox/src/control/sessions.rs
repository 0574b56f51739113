//! GET /sandbox/sessions: every hosted checkout, newest first. POST opens one without a merchant, POST …/close closes it.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use florin_money::AmountText;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ControlError, read};
use crate::session::{Request, Session};
use crate::state::{Sandbox, State};

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

pub(super) async fn list(Extract(sandbox): Extract<Arc<Sandbox>>) -> Json<Vec<SessionView>> {
    Json(sandbox.act(|state, now| {
        let sessions = state.sessions.newest_first();
        let views = sessions.map(|session| view(state, session, now));
        views.collect()
    }))
}

pub(super) fn view(state: &State, session: &Session, now: Timestamp) -> SessionView {
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
}

/// A hosted checkout without a merchant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OpenSession {
    /// In the account's local currency.
    amount: String,
    email: String,
}

impl Default for OpenSession {
    fn default() -> Self {
        Self {
            amount: "20.00".to_owned(),
            email: "customer@shop.example".to_owned(),
        }
    }
}

pub(super) async fn open(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<SessionView>, ControlError> {
    let wanted: OpenSession = read(&body)?;
    sandbox.act(|state, now| {
        let id = open_session(&sandbox, state, wanted, now)?;
        let session = state.sessions.find(&id).ok_or_else(|| unknown(&id))?;
        Ok(Json(view(state, session, now)))
    })
}

/// Opens a hosted checkout, and says its id. Its end is told to the account's own URL.
pub(super) fn open_session(
    sandbox: &Sandbox,
    state: &mut State,
    wanted: OpenSession,
    now: Timestamp,
) -> Result<String, ControlError> {
    let settings = &sandbox.settings;
    let amount = AmountText::parse(&wanted.amount)
        .map_err(|error| ControlError::BadRequest(format!("The amount: {error}.")))?;
    let request = Request {
        email: wanted.email,
        currency: settings.local_currency,
        per_usd: settings.local_per_usd,
        amount: Some(amount),
        merchant_id: None,
        website: settings.merchant_website.clone(),
        callback_url: settings.callback_url.clone().unwrap_or_default(),
    };
    let minutes = state.rules.invoice_minutes;
    Ok(state.sessions.open(request, minutes, now).id.clone())
}

/// POST /sandbox/sessions/{id}/close: its customer leaves. The id `latest` means the newest.
pub(super) async fn close(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    Path(id): Path<String>,
) -> Result<Json<SessionView>, ControlError> {
    sandbox.act(|state, now| {
        let latest = state.sessions.newest_first().next();
        let latest = latest.filter(|_| id == "latest");
        let id = latest.map_or(id.clone(), |session| session.id.clone());
        let session = state.sessions.find_mut(&id).ok_or_else(|| unknown(&id))?;
        if !session.is_choosing(now) {
            return Err(ControlError::Conflict(
                "This checkout has ended, or its asset is chosen: closing it changes nothing."
                    .to_owned(),
            ));
        }
        session.close(now);
        let session = state.sessions.find(&id).ok_or_else(|| unknown(&id))?;
        Ok(Json(view(state, session, now)))
    })
}

fn unknown(id: &str) -> ControlError {
    ControlError::NotFound(format!(
        "There is no hosted checkout {id:?}: see GET /sandbox/sessions."
    ))
}
