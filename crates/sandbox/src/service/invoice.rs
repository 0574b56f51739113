//! GET /invoice

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Call, Refusal};
use crate::invoice::{Invoice, REQUIRED_CONFIRMATIONS, Status};
use crate::invoices::Invoices;

/// The record of one invoice. `hist` is checked and changes nothing: its shape is not specified.
pub(super) fn answer(invoices: &Invoices, call: &Call, now: Timestamp) -> Result<Value, Refusal> {
    let id = invoice_id(call.query.as_deref().unwrap_or_default())?;
    let invoice = invoices
        .find(id)
        .ok_or_else(|| Refusal::unknown_invoice(id))?;
    Ok(json!({"data": record(invoice, now)}))
}

/// Ids are letters, digits and `_`: a query that needs decoding names none of ours.
fn invoice_id(query: &str) -> Result<&str, Refusal> {
    let mut id = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("id", value)) if id.is_none() => id = Some(value),
            Some(("hist", "true" | "false")) => {}
            _ => {
                return Err(Refusal::request(format!(
                    "the query takes id once, and hist=true or hist=false; not {pair:?}"
                )));
            }
        }
    }
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| Refusal::request("the query parameter id is missing"))
}

fn record(invoice: &Invoice, now: Timestamp) -> Value {
    let received = invoice.received();
    let latest = invoice.latest_transaction();
    let confirmations = invoice.confirmations();
    json!({
        "invoice_id": invoice.id,
        "transaction_status": invoice.status(now).as_str(),
        "invoice_amount_in_local_currency": invoice.terms.local.as_str(),
        "invoice_amount_in_usd": invoice.terms.usd.as_str(),
        "invoice_crypto_amount": invoice.terms.crypto.as_str(),
        "received_amount_in_local_currency": received.local.to_string(),
        "received_amount_in_usd": received.usd.to_string(),
        "received_crypto_amount": received.crypto.to_string(),
        "local_currency_code": invoice.local_currency.as_str(),
        "transaction_crypto": invoice.coin.code.as_str(),
        "invoice_creation_time": invoice.created_at.as_second().to_string(),
        "depositor_email_id": invoice.email.as_deref().unwrap_or_default(),
        "blockchain_transaction_status": on_chain(invoice, now),
        "transaction_hash": latest.map(|seen| seen.hash.as_str()).unwrap_or_default(),
        "blockchain_confirmations": confirmations
            .map(|count| format!("{count}/{REQUIRED_CONFIRMATIONS}"))
            .unwrap_or_default(),
        "wallet_address": invoice.reported_address,
        "transaction_time": latest
            .map(|seen| seen.seen_at.as_second().to_string())
            .unwrap_or_default(),
    })
}

/// `Assumed:` empty while there is no transaction, PENDING until all of it is confirmed, then CONFIRMED. The
/// specification names PENDING alone.
fn on_chain(invoice: &Invoice, now: Timestamp) -> &'static str {
    match (invoice.latest_transaction(), invoice.status(now)) {
        (None, _) => "",
        (Some(_), Status::Completed) => "CONFIRMED",
        (Some(_), Status::Checking | Status::Processing | Status::Failed) => "PENDING",
    }
}
