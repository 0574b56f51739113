//! Invoices in the control API: listed, paid, expired, failed, overridden, and run through scenarios.

use core::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use florin_money::{Amount, Rounding};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, JsonResult, Shared, parse};
use crate::asset::REQUIRED_CONFIRMATIONS;
use crate::faults::{Fault, FaultPlan, Target};
use crate::invoice::{Invoice, InvoiceError, TransactionState};
use crate::journal::Event;
use crate::prices::whole;
use crate::scenario::{Fee, SCENARIOS, Step};
use crate::session::Session;
use crate::state::{Sandbox, State};
use crate::wire::Status;

pub(super) async fn list(Extract(sandbox): Shared) -> Json<Value> {
    Json(sandbox.update(|state, now| {
        let invoices = state.invoices.newest_first();
        invoices.map(|invoice| view(invoice, now)).collect()
    }))
}

pub(super) async fn list_sessions(Extract(sandbox): Shared) -> Json<Value> {
    Json(sandbox.update(|state, now| {
        let sessions = state.sessions.newest_first();
        let view = sessions.map(|session| session_view(state, session, now));
        view.collect()
    }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payment {
    amount: String,
    #[serde(default)]
    fee: Fee,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Play {
    name: String,
    /// Between two steps, so that a person can watch.
    #[serde(default)]
    pause_ms: u64,
    /// Its id, where the path does not name it; `None`: the newest that waits for its payment.
    invoice: Option<String>,
}

const MAX_PAUSE_MS: u64 = 10_000;

pub(super) async fn act(
    Extract(sandbox): Shared,
    Path((id, action)): Path<(String, String)>,
    body: Bytes,
) -> JsonResult {
    let id = sandbox.update(|state, _| {
        let latest = state.invoices.newest_first().next();
        let latest = latest.filter(|_| id == "latest");
        latest.map_or(id, |invoice| invoice.id.clone())
    });
    let payment: Payment;
    let step = match action.as_str() {
        "pay" => {
            payment = parse(&body)?;
            Step::Pay(&payment.amount, payment.fee)
        }
        "bump-fee" => Step::BumpFee,
        "replace" => Step::Replace,
        "expire" => Step::Expire,
        "fail" => Step::Fail,
        "override" => {
            let overrides = parse(&body)?;
            return change(&sandbox, &id, |state, _| {
                let invoice = state.invoices.get_mut(&id).ok_or_else(|| unknown(&id))?;
                invoice.overrides = overrides;
                Ok(())
            });
        }
        "scenario" => return play(sandbox, &id, parse(&body)?).await,
        _ => {
            let sentence = format!("The sandbox has no POST /sandbox/invoices/{id}/{action}.");
            return Err(ControlError::not_found(sentence));
        }
    };
    change(&sandbox, &id, |state, now| apply(state, &id, step, now))
}

/// POST /sandbox/scenario: the scenario of a checkout that has just been opened, without a look for its invoice's id.
pub(super) async fn play_on_newest(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let mut what: Play = parse(&body)?;
    let named = what.invoice.take();
    let id = sandbox.update(|state, now| {
        let waits = |invoice: &&Invoice| {
            invoice.status(now) == Status::Checking && invoice.seen().next().is_none()
        };
        let newest = state.invoices.newest_first().find(waits);
        named.or_else(|| newest.map(|invoice| invoice.id.clone()))
    });
    let id = id.ok_or_else(|| {
        ControlError::conflict(
            "No invoice is open: choose an asset in a checkout, or name an `invoice`.",
        )
    })?;
    play(sandbox, &id, what).await
}

/// Runs a scenario. The first step that is rejected ends it; earlier steps stay done.
async fn play(sandbox: Arc<Sandbox>, id: &str, what: Play) -> JsonResult {
    let Play { name, pause_ms, .. } = what;
    if pause_ms > MAX_PAUSE_MS {
        let sentence = format!("The member pause_ms is at most {MAX_PAUSE_MS}.");
        return Err(ControlError::bad_request(sentence));
    }
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.ok_or_else(|| {
        ControlError::not_found(format!(
            "There is no scenario {name:?}: see GET /sandbox/scenarios."
        ))
    })?;
    for (index, step) in scenario.steps.iter().copied().enumerate() {
        if index > 0 && pause_ms > 0 {
            sandbox.clock().sleep(Duration::from_millis(pause_ms)).await;
        }
        sandbox.update(|state, now| apply(state, id, step, now))?;
    }
    change(&sandbox, id, |_, _| Ok(()))
}

fn change(
    sandbox: &Sandbox,
    id: &str,
    change: impl FnOnce(&mut State, Timestamp) -> Result<(), ControlError>,
) -> JsonResult {
    sandbox.update(|state, now| {
        change(state, now)?;
        let invoice = state.invoices.get(id).ok_or_else(|| unknown(id))?;
        Ok(Json(view(invoice, now)))
    })
}

fn apply(state: &mut State, id: &str, step: Step<'_>, now: Timestamp) -> Result<(), ControlError> {
    let invoice = state.invoices.get_mut(id).ok_or_else(|| unknown(id))?;
    let chain = Some(invoice.coin.chain);
    let result = match step {
        Step::Pay(amount, fee) => {
            let amount = parse_amount(amount, invoice)?;
            let transaction = match fee {
                Fee::Usual => TransactionState::Pending,
                Fee::Low => TransactionState::Stuck,
            };
            let paid = state.pay(id, amount, transaction, now);
            paid.ok_or_else(|| unknown(id))?
        }
        Step::BumpFee => invoice.bump_fee(),
        Step::Expire => invoice.expire(now),
        Step::Replace => invoice.replace().map(|transaction_hash| {
            let replaced = Event::Replaced {
                invoice_id: id.to_owned(),
                transaction_hash,
            };
            state.journal.add(now, replaced);
        }),
        Step::Fail => {
            invoice.fail();
            Ok(())
        }
        Step::Mine => {
            state.mine(chain, 1, now);
            Ok(())
        }
        Step::Reorg(blocks) => {
            state.reorganize(chain, blocks, now);
            Ok(())
        }
        Step::LoseNextCallback => return inject_into_callback(state, Fault::Lost {}),
        Step::RepeatNextCallback => return inject_into_callback(state, Fault::Repeated {}),
    };
    result.map_err(ControlError::from)
}

fn inject_into_callback(state: &mut State, fault: Fault) -> Result<(), ControlError> {
    let plan = FaultPlan {
        endpoint: Target::Callback,
        fault,
        times: 1,
    };
    let injected = state.faults.inject(plan);
    injected.map_err(ControlError::conflict)
}

fn parse_amount(word: &str, invoice: &Invoice) -> Result<Amount, ControlError> {
    let asked = Amount::from(&invoice.terms.crypto);
    let amount = match word {
        "exact" => Ok(asked),
        "rest" => Ok(invoice.remaining()),
        "double" => asked.checked_mul(2),
        "half" => asked.mul_div(Amount::ONE, whole(2), invoice.coin.decimals, Rounding::Down),
        decimal => {
            return Amount::parse(decimal).map_err(|error| {
                ControlError::bad_request(format!(
                    "Write \"exact\", \"half\", \"double\", \"rest\" or an amount: {error}."
                ))
            });
        }
    };
    amount.map_err(|error| {
        ControlError::bad_request(format!("The amount has no exact value: {error}."))
    })
}

fn unknown(id: &str) -> ControlError {
    ControlError::not_found(format!(
        "There is no invoice {id:?}: see GET /sandbox/invoices."
    ))
}

impl From<InvoiceError> for ControlError {
    fn from(error: InvoiceError) -> Self {
        match error {
            InvoiceError::State(sentence) => Self::conflict(sentence),
            InvoiceError::Amount(sentence) => Self::bad_request(sentence),
        }
    }
}

pub(crate) fn view(invoice: &Invoice, now: Timestamp) -> Value {
    // Sums and differences carry the trailing zeros of their last operand.
    let shortest = |amount: Amount| amount.with_min_decimals(0).to_string();
    let received = invoice.received().crypto;
    let covered = match received.cmp(&Amount::from(&invoice.terms.crypto)) {
        _ if received.is_zero() => "nothing",
        Ordering::Less => "part",
        Ordering::Equal => "exact",
        Ordering::Greater => "more",
    };
    let latest = invoice.latest_transaction();
    let left = invoice.expires_at.duration_since(now);
    json!({
        "id": invoice.id,
        "crypto_code": invoice.coin.code,
        "asset": invoice.coin.symbol,
        "network": invoice.coin.network,
        "chain": invoice.coin.chain,
        "address": invoice.address,
        "qr_string": invoice.qr_string,
        "amount_in_crypto": invoice.terms.crypto.to_string(),
        "amount_in_usd": invoice.terms.usd.to_string(),
        "amount_in_local_currency": invoice.terms.local.to_string(),
        "local_currency_code": invoice.local_currency.to_string(),
        "status": invoice.status(now).as_str(),
        "confirmations": invoice.confirmations().unwrap_or(0),
        "required_confirmations": REQUIRED_CONFIRMATIONS,
        "received_in_crypto": shortest(received),
        "remaining_in_crypto": shortest(invoice.remaining()),
        "covered": covered,
        // Those that were not replaced.
        "payments": invoice.seen().count(),
        "stuck_payments": invoice.stuck_count(),
        "has_failed": invoice.has_failed(),
        "is_hosted": invoice.hosted.is_some(),
        // Members of the record that GET /invoice replaces.
        "overrides": invoice.overrides.keys().collect::<Vec<_>>(),
        "transaction_hash": latest.map(|seen| &seen.hash),
        "marked_as_paid": invoice.marked_as_paid,
        "email": invoice.email,
        "created_at": invoice.created_at.to_string(),
        "expires_at": invoice.expires_at.to_string(),
        "expires_in_seconds": left.as_secs().max(0),
    })
}

/// A hosted checkout. It has the status, the amount and the expiry of its invoice, once there is one.
pub(crate) fn session_view(state: &State, session: &Session, now: Timestamp) -> Value {
    let invoice = state.invoices.get(&session.id);
    let request = &session.request;
    let (status, amount, expires_at) = if let Some(invoice) = invoice {
        let local = Some(&invoice.terms.local);
        (invoice.status(now), local, invoice.expires_at)
    } else {
        let amount = request.amount.as_ref();
        (session.status(now), amount, session.expires_at)
    };
    json!({
        "id": session.id,
        "status": status.as_str(),
        "amount": amount,
        "currency": request.currency.to_string(),
        "email": request.email,
        "merchant_id": request.merchant_id,
        "merchant_website": request.website,
        "invoice_callback_url": request.callback_url,
        "url": format!("/checkout?id={}", session.id),
        "created_at": session.created_at.to_string(),
        "expires_in_seconds": expires_at.duration_since(now).as_secs().max(0),
    })
}
