//! Invoices: seen, paid, run out, failed, lied about.

use core::cmp::Ordering;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use florin_money::Amount;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ControlError, read};
use crate::invoice::{Invoice, REQUIRED_CONFIRMATIONS, Refused};
use crate::journal::Event;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// All of them when it is not named.
    #[serde(default = "all")]
    limit: usize,
}

fn all() -> usize {
    usize::MAX
}

/// GET /sandbox/invoices: newest first.
pub(super) async fn list(
    State(sandbox): State<Arc<Sandbox>>,
    Query(Page { limit }): Query<Page>,
) -> Json<Vec<InvoiceView>> {
    let views = sandbox.act(|state, now| {
        let views = state
            .invoices
            .newest_first()
            .take(limit)
            .map(|invoice| view(invoice, now));
        views.collect()
    });
    Json(views)
}

/// POST /sandbox/invoices/{id}/unstick: the fee of what is stuck is raised.
pub(super) async fn unstick(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
) -> Result<Json<InvoiceView>, ControlError> {
    change(&sandbox, &id, |state, id, _| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        invoice.unstick().map_err(refused)
    })
}

/// POST /sandbox/invoices/{id}/replace: the latest payment's coins go to somebody else.
pub(super) async fn replace(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
) -> Result<Json<InvoiceView>, ControlError> {
    change(&sandbox, &id, |state, id, now| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        let latest = invoice.latest_transaction().map(|seen| seen.hash.clone());
        invoice.replace().map_err(refused)?;
        let replaced = Event::Replaced {
            invoice_id: id.to_owned(),
            transaction_hash: latest.unwrap_or_default(),
        };
        state.journal.add(now, replaced);
        Ok(())
    })
}

/// POST /sandbox/invoices/{id}/record: GET /invoice answers with these members instead of its own from now on; `null`
/// leaves one out, and an empty object ends it.
pub(super) async fn lie(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<InvoiceView>, ControlError> {
    let lies: Map<String, Value> = read(&body)?;
    change(&sandbox, &id, |state, id, _| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        invoice.lies = lies;
        Ok(())
    })
}

/// POST /sandbox/invoices/{id}/expire
pub(super) async fn expire(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
) -> Result<Json<InvoiceView>, ControlError> {
    change(&sandbox, &id, |state, id, now| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        invoice.expire(now).map_err(refused)
    })
}

/// POST /sandbox/invoices/{id}/fail
pub(super) async fn fail(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
) -> Result<Json<InvoiceView>, ControlError> {
    change(&sandbox, &id, |state, id, _| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        invoice.fail();
        Ok(())
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportAddress {
    address: String,
}

/// POST /sandbox/invoices/{id}/address: GET /invoice names this address from now on.
pub(super) async fn report_address(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<InvoiceView>, ControlError> {
    let ReportAddress { address } = read(&body)?;
    change(&sandbox, &id, |state, id, _| {
        let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
        invoice.reported_address = address;
        Ok(())
    })
}

/// Changes one invoice and shows what it became. The id `latest` means the newest invoice.
pub(super) fn change(
    sandbox: &Sandbox,
    id: &str,
    change: impl FnOnce(&mut crate::state::State, &str, Timestamp) -> Result<(), ControlError>,
) -> Result<Json<InvoiceView>, ControlError> {
    sandbox.act(|state, now| {
        let latest = state.invoices.newest_first().next();
        let latest = latest
            .filter(|_| id == "latest")
            .map(|invoice| invoice.id.clone());
        let id = latest.as_deref().unwrap_or(id);
        change(state, id, now)?;
        let invoice = state.invoices.find(id).ok_or_else(|| unknown(id))?;
        Ok(Json(view(invoice, now)))
    })
}

pub(super) fn unknown(id: &str) -> ControlError {
    ControlError::NotFound(format!(
        "There is no invoice {id:?}: see GET /sandbox/invoices."
    ))
}

pub(super) fn refused(refused: Refused) -> ControlError {
    match refused {
        Refused::HasFailed => {
            ControlError::Conflict("The invoice was told to fail, and stays so.".to_owned())
        }
        Refused::HasPayment => ControlError::Conflict(
            "Something has arrived for this invoice: it cannot run out any more.".to_owned(),
        ),
        Refused::NoSuchPayment => {
            ControlError::Conflict("No payment of this invoice can be changed so.".to_owned())
        }
        Refused::TooMany => ControlError::Conflict(
            "The invoice has a hundred payments, and takes no more.".to_owned(),
        ),
        Refused::Nothing => ControlError::Conflict("There is nothing to pay.".to_owned()),
        Refused::TooFine { decimals } => ControlError::BadRequest(format!(
            "The amount has more decimals than the asset has: {decimals}."
        )),
        Refused::Incalculable(error) => {
            ControlError::BadRequest(format!("The sandbox cannot count that far: {error}."))
        }
    }
}

/// An invoice as the developer sees it.
#[derive(Debug, Serialize)]
pub(super) struct InvoiceView {
    id: String,
    crypto_code: String,
    asset: &'static str,
    network: &'static str,
    address: String,
    /// What GET /invoice says instead, when it was told to lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_address: Option<String>,
    qr_string: String,
    amount_in_crypto: String,
    amount_in_usd: String,
    amount_in_local_currency: String,
    local_currency_code: String,
    status: &'static str,
    confirmations: ConfirmationsView,
    received_in_crypto: String,
    remaining_in_crypto: String,
    covered: Covered,
    /// Those that were not replaced.
    payments: usize,
    /// Those on another chain or in another asset.
    unseen_payments: u32,
    /// Whether the service's own page opened it.
    hosted: bool,
    /// Members of the record that GET /invoice lies about.
    lies: Vec<String>,
    chain: &'static str,
    /// Those that wait with a fee that is too low.
    stuck_payments: usize,
    /// The latest transaction's.
    transaction_hash: Option<String>,
    /// Whether it failed by POST …/fail, and not because time was up.
    told_to_fail: bool,
    marked_as_paid: bool,
    email: Option<String>,
    created_at: String,
    expires_at: String,
    /// 0 when time is up.
    expires_in_seconds: i64,
}

/// How much of the amount has arrived.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Covered {
    Nothing,
    Part,
    Exact,
    More,
}

impl Covered {
    fn of(invoice: &Invoice) -> Self {
        let received = invoice.received().crypto;
        if received.is_zero() {
            return Self::Nothing;
        }
        match received.cmp(&Amount::from(&invoice.terms.crypto)) {
            Ordering::Less => Self::Part,
            Ordering::Equal => Self::Exact,
            Ordering::Greater => Self::More,
        }
    }
}

/// `count` of `required` blocks.
#[derive(Debug, Serialize)]
struct ConfirmationsView {
    count: u32,
    required: u32,
}

pub(super) fn view(invoice: &Invoice, now: Timestamp) -> InvoiceView {
    let differs = invoice.reported_address != invoice.address;
    InvoiceView {
        id: invoice.id.clone(),
        crypto_code: invoice.coin.code.to_string(),
        asset: invoice.coin.symbol,
        network: invoice.coin.network,
        address: invoice.address.clone(),
        reported_address: differs.then(|| invoice.reported_address.clone()),
        qr_string: invoice.qr_string.clone(),
        amount_in_crypto: invoice.terms.crypto.to_string(),
        amount_in_usd: invoice.terms.usd.to_string(),
        amount_in_local_currency: invoice.terms.local.to_string(),
        local_currency_code: invoice.local_currency.to_string(),
        status: invoice.status(now).as_str(),
        confirmations: ConfirmationsView {
            count: invoice.confirmations().unwrap_or(0),
            required: REQUIRED_CONFIRMATIONS,
        },
        received_in_crypto: shortest(invoice.received().crypto),
        remaining_in_crypto: shortest(invoice.remaining()),
        covered: Covered::of(invoice),
        payments: invoice.payment_count(),
        unseen_payments: invoice.unseen_payments,
        hosted: invoice.hosted.is_some(),
        lies: invoice.lies.keys().cloned().collect(),
        chain: invoice.coin.chain.as_str(),
        stuck_payments: invoice.stuck_count(),
        transaction_hash: invoice.latest_transaction().map(|seen| seen.hash.clone()),
        told_to_fail: invoice.was_told_to_fail(),
        marked_as_paid: invoice.marked_as_paid,
        email: invoice.email.clone(),
        created_at: invoice.created_at.to_string(),
        expires_at: invoice.expires_at().to_string(),
        expires_in_seconds: invoice.expires_at().duration_since(now).as_secs().max(0),
    }
}

/// Without trailing zeros: sums and differences carry those of whatever was added last.
fn shortest(amount: Amount) -> String {
    amount.with_min_decimals(0).to_string()
}
