//! GET /invoice

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Call, Refusal};
use crate::invoice::{Invoice, REQUIRED_CONFIRMATIONS, Standing, Status};
use crate::session::Session;
use crate::state::State;

/// The record of one invoice, or of a hosted checkout that is none yet.
pub(super) fn answer(state: &State, call: &Call, now: Timestamp) -> Result<Value, Refusal> {
    let asked = Asked::read(call.query.as_deref().unwrap_or_default())?;
    let mut record = if let Some(invoice) = state.invoices.find(asked.id) {
        let mut record = record(invoice, now);
        if asked.with_history {
            record["history"] = history(invoice);
            record["transactions"] = transactions(invoice);
        }
        record
    } else {
        let session = state.sessions.find(asked.id);
        session_record(
            session.ok_or_else(|| Refusal::unknown_invoice(asked.id))?,
            now,
        )
    };
    if asked.with_history && record["history"].is_null() {
        record["history"] = json!([]);
        record["transactions"] = json!([]);
    }
    Ok(json!({"data": record}))
}

/// What the query asks for.
struct Asked<'a> {
    id: &'a str,
    with_history: bool,
}

impl<'a> Asked<'a> {
    /// Ids are letters, digits and `_`: a query that needs decoding names none of ours.
    fn read(query: &'a str) -> Result<Self, Refusal> {
        let (mut id, mut with_history) = (None, false);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("id", value)) if id.is_none() => id = Some(value),
                Some(("hist", value @ ("true" | "false"))) => with_history = value == "true",
                _ => {
                    return Err(Refusal::request(format!(
                        "the query takes id once, and hist=true or hist=false; not {pair:?}"
                    )));
                }
            }
        }
        let id = id
            .filter(|id| !id.is_empty())
            .ok_or_else(|| Refusal::request("the query parameter id is missing"))?;
        Ok(Self { id, with_history })
    }
}

/// The statuses since the beginning. `Assumed:` this shape and the next; the specification shows none.
fn history(invoice: &Invoice) -> Value {
    let steps = invoice.history().iter();
    steps
        .map(|(since, status)| {
            json!({"transaction_status": status.as_str(), "time": since.as_second().to_string()})
        })
        .collect()
}

/// Every payment that was seen.
fn transactions(invoice: &Invoice) -> Value {
    let seen = invoice.transactions().iter();
    let seen = seen.filter(|seen| seen.standing != Standing::Replaced);
    seen.map(|seen| {
        json!({
            "transaction_hash": seen.hash,
            "received_crypto_amount": seen.amount.to_string(),
            "blockchain_confirmations": format!("{}/{REQUIRED_CONFIRMATIONS}", seen.confirmations()),
            "transaction_time": seen.seen_at.as_second().to_string(),
        })
    })
    .collect()
}

/// A hosted checkout before the customer has chosen: what is not known yet is empty.
fn session_record(session: &Session, now: Timestamp) -> Value {
    let amount = session.amount.as_ref().map_or("", |amount| amount.as_str());
    json!({
        "invoice_id": session.id,
        "transaction_status": session.status(now).as_str(),
        "invoice_amount_in_local_currency": amount,
        "invoice_amount_in_usd": "",
        "invoice_crypto_amount": "",
        "received_amount_in_local_currency": "0",
        "received_amount_in_usd": "0",
        "received_crypto_amount": "0",
        "local_currency_code": session.currency.as_str(),
        "transaction_crypto": "",
        "invoice_creation_time": session.created_at.as_second().to_string(),
        "depositor_email_id": session.email,
        "blockchain_transaction_status": "",
        "transaction_hash": "",
        "blockchain_confirmations": "",
        "wallet_address": "",
        "transaction_time": "",
    })
}

/// The record of an invoice, with the lies that it was told to tell.
pub(super) fn record(invoice: &Invoice, now: Timestamp) -> Value {
    let mut record = true_record(invoice, now);
    if let Value::Object(members) = &mut record {
        for (name, value) in &invoice.lies {
            if value.is_null() {
                members.remove(name);
            } else {
                members.insert(name.clone(), value.clone());
            }
        }
    }
    record
}

fn true_record(invoice: &Invoice, now: Timestamp) -> Value {
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
        (Some(_), Status::Checking | Status::Processing | Status::Failed | Status::Cancelled) => {
            "PENDING"
        }
    }
}
