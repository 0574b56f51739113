//! Invoices in the control API: listed, paid, expired, failed, overridden, and run through scenarios.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use florin_gateway::Clock as _;
use florin_gateway::chain::Chain;
use florin_gateway::hosted::{invoice_view, session_view};
use florin_gateway::invoice::Invoice;
use florin_gateway::page::{JsonResult, PageError, parse};
use florin_gateway::prices::whole;
use florin_gateway::wire::Status;
use florin_money::{Amount, Rounding};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use crate::chain::SimulatedChain;
use crate::faults::{Fault, FaultPlan, Target};
use crate::journal::Event;
use crate::scenario::{Fee, SCENARIOS, Step};
use crate::state::Sandbox;

/// Invoices and checkouts that a list has at most.
const MAX_LIST: u32 = 10_000;
const MAX_PAYMENTS: usize = 100;

pub(super) async fn list(Extract(sandbox): Shared) -> JsonResult {
    Ok(Json(json!(views(&sandbox, MAX_LIST).await?)))
}

pub(super) async fn list_sessions(Extract(sandbox): Shared) -> JsonResult {
    let sessions = session_views(&sandbox, MAX_LIST).await?;
    Ok(Json(sessions.into_iter().map(|(view, _)| view).collect()))
}

/// The newest invoices, newest first.
pub(super) async fn views(sandbox: &Sandbox, limit: u32) -> Result<Vec<Value>, PageError> {
    sandbox.expire().await?;
    let invoices = sandbox.gateway.database().newest_invoices(limit).await?;
    let views = invoices.iter().map(|invoice| view(sandbox, invoice));
    Ok(views.collect())
}

/// The newest hosted checkouts, newest first, and whether each has an invoice.
pub(super) async fn session_views(
    sandbox: &Sandbox,
    limit: u32,
) -> Result<Vec<(Value, bool)>, PageError> {
    let database = sandbox.gateway.database();
    let mut views = Vec::new();
    for session in database.newest_sessions(limit).await? {
        let invoice = database.invoice(&session.id).await?;
        let view = session_view(&session, invoice.as_ref(), sandbox.now());
        views.push((view, invoice.is_some()));
    }
    Ok(views)
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
    let newest = match id.as_str() {
        "latest" => sandbox.gateway.database().newest_invoices(1).await?.pop(),
        _ => None,
    };
    let id = newest.map_or(id, |invoice| invoice.id);
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
            let invoice = find(&sandbox, &id).await?;
            sandbox.set_overrides(&id, overrides).await?;
            return Ok(Json(view(&sandbox, &invoice)));
        }
        "scenario" => return play(&sandbox, &id, parse(&body)?).await,
        _ => {
            let sentence = format!("The sandbox has no POST /sandbox/invoices/{id}/{action}.");
            return Err(PageError::not_found(sentence));
        }
    };
    apply(&sandbox, &id, step).await?;
    Ok(Json(view(&sandbox, &find(&sandbox, &id).await?)))
}

async fn find(sandbox: &Sandbox, id: &str) -> Result<Invoice, PageError> {
    let invoice = sandbox.gateway.database().invoice(id).await?;
    invoice.ok_or_else(|| {
        PageError::not_found(format!(
            "There is no invoice {id:?}: see GET /sandbox/invoices."
        ))
    })
}

/// POST /sandbox/scenario: the scenario of a checkout that has just been opened, without a look for its invoice's id.
pub(super) async fn play_on_newest(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let mut what: Play = parse(&body)?;
    sandbox.expire().await?;
    let id = if let Some(id) = what.invoice.take() {
        Some(id)
    } else {
        let invoices = sandbox.gateway.database().newest_invoices(MAX_LIST).await?;
        let waits = |invoice: &Invoice| {
            invoice.status() == Status::Checking
                && invoice.payments().is_empty()
                && !sandbox.desk.has_failed(&invoice.id)
        };
        let newest = invoices.into_iter().find(waits);
        newest.map(|invoice| invoice.id)
    };
    let id = id.ok_or_else(|| {
        PageError::conflict(
            "No invoice is open: choose an asset in a checkout, or name an `invoice`.",
        )
    })?;
    play(&sandbox, &id, what).await
}

/// Runs a scenario. The first step that is rejected ends it; earlier steps stay done.
async fn play(sandbox: &Arc<Sandbox>, id: &str, what: Play) -> JsonResult {
    let Play { name, pause_ms, .. } = what;
    if pause_ms > MAX_PAUSE_MS {
        let sentence = format!("The member pause_ms is at most {MAX_PAUSE_MS}.");
        return Err(PageError::bad_request(sentence));
    }
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.ok_or_else(|| {
        PageError::not_found(format!(
            "There is no scenario {name:?}: see GET /sandbox/scenarios."
        ))
    })?;
    for (index, step) in scenario.steps.iter().copied().enumerate() {
        if index > 0 && pause_ms > 0 {
            sandbox.clock.sleep(Duration::from_millis(pause_ms)).await;
        }
        apply(sandbox, id, step).await?;
    }
    Ok(Json(view(sandbox, &find(sandbox, id).await?)))
}

async fn apply(sandbox: &Sandbox, id: &str, step: Step<'_>) -> Result<(), PageError> {
    sandbox.expire().await?;
    let invoice = find(sandbox, id).await?;
    let chain = invoice.coin.chain;
    let simulated = || chain_of(sandbox, chain);
    match step {
        Step::Pay(amount, fee) => {
            let amount = parse_amount(amount, &invoice)?;
            check(sandbox, &invoice, amount)?;
            let transaction_hash = simulated()?.pay(&invoice, amount, fee == Fee::Low);
            sandbox.desk.note(Event::Payment {
                invoice_id: id.to_owned(),
                crypto_code: invoice.coin.code.to_string(),
                amount: amount.to_string(),
                transaction_hash,
            });
        }
        Step::BumpFee if !simulated()?.bump_fee(invoice.address_index) => return Err(no_payment()),
        Step::BumpFee => {}
        Step::Replace => {
            let transaction_hash = simulated()?.replace(invoice.address_index);
            sandbox.desk.note(Event::Replaced {
                invoice_id: id.to_owned(),
                transaction_hash: transaction_hash.ok_or_else(no_payment)?,
            });
        }
        Step::Expire => {
            if !invoice.payments().is_empty() {
                return Err(PageError::conflict(
                    "The invoice has a payment: it cannot expire any more.",
                ));
            }
            let now = sandbox.now();
            let expire = |invoice: &mut Invoice| invoice.expires_at = invoice.expires_at.min(now);
            sandbox
                .gateway
                .database()
                .change_invoice(id, expire)
                .await?;
        }
        Step::Fail => return sandbox.fail(&invoice).await,
        Step::Mine => return mine(sandbox, Some(chain), 1).await,
        Step::Reorg(blocks) => return reorganize(sandbox, Some(chain), blocks).await,
        Step::LoseNextCallback => return inject_into_callback(sandbox, Fault::Lost {}),
        Step::RepeatNextCallback => return inject_into_callback(sandbox, Fault::Repeated {}),
    }
    sandbox.look(Some(chain)).await
}

fn chain_of(sandbox: &Sandbox, chain: Chain) -> Result<&SimulatedChain, PageError> {
    let found = sandbox.chains.get(&chain);
    found.map(AsRef::as_ref).ok_or_else(|| {
        PageError::conflict("The invoice's chain is a real node's: pay from its wallet.")
    })
}

/// Mines blocks on a chain, or on every one.
pub(super) async fn mine(
    sandbox: &Sandbox,
    chain: Option<Chain>,
    blocks: u32,
) -> Result<(), PageError> {
    sandbox
        .simulated(chain)
        .for_each(|(_, simulated)| simulated.mine(blocks));
    sandbox.desk.note(Event::Block { chain, blocks });
    sandbox.look(chain).await
}

/// Takes blocks of a chain back, or of every one.
pub(super) async fn reorganize(
    sandbox: &Sandbox,
    chain: Option<Chain>,
    blocks: u32,
) -> Result<(), PageError> {
    sandbox
        .simulated(chain)
        .for_each(|(_, simulated)| simulated.reorganize(blocks));
    sandbox.desk.note(Event::Reorg { chain, blocks });
    sandbox.look(chain).await
}

fn no_payment() -> PageError {
    PageError::conflict("The invoice has no payment that this can change.")
}

/// A payment that the invoice can take.
fn check(sandbox: &Sandbox, invoice: &Invoice, amount: Amount) -> Result<(), PageError> {
    let decimals = invoice.coin.decimals;
    if sandbox.desk.has_failed(&invoice.id) {
        return Err(PageError::conflict(
            "The invoice has failed for good: it takes no payment.",
        ));
    }
    if amount.is_zero() {
        return Err(PageError::conflict("There is nothing to pay."));
    }
    if amount.decimals() > decimals {
        let sentence = format!("The amount has more decimals than the asset has: {decimals}.");
        return Err(PageError::bad_request(sentence));
    }
    if invoice.payments().len() >= MAX_PAYMENTS {
        return Err(PageError::conflict(
            "The invoice has a hundred payments, the most it takes.",
        ));
    }
    invoice
        .check_payment(amount)
        .map_err(|error| PageError::bad_request(format!("The sum has no exact value: {error}.")))
}

fn inject_into_callback(sandbox: &Sandbox, fault: Fault) -> Result<(), PageError> {
    let plan = FaultPlan {
        endpoint: Target::Callback,
        fault,
        times: 1,
    };
    let injected = sandbox.desk.lock().faults.inject(plan);
    injected.map_err(PageError::conflict)
}

fn parse_amount(word: &str, invoice: &Invoice) -> Result<Amount, PageError> {
    let asked = Amount::from(&invoice.terms.crypto);
    let amount = match word {
        "exact" => Ok(asked),
        "rest" => Ok(invoice.remaining()),
        "double" => asked.checked_mul(2),
        "half" => asked.mul_div(Amount::ONE, whole(2), invoice.coin.decimals, Rounding::Down),
        decimal => {
            return Amount::parse(decimal).map_err(|error| {
                PageError::bad_request(format!(
                    "Write \"exact\", \"half\", \"double\", \"rest\" or an amount: {error}."
                ))
            });
        }
    };
    amount
        .map_err(|error| PageError::bad_request(format!("The amount has no exact value: {error}.")))
}

fn view(sandbox: &Sandbox, invoice: &Invoice) -> Value {
    let mut view = invoice_view(invoice, sandbox.now());
    let stuck = invoice.payments().iter();
    let stuck = stuck.filter(|payment| payment.low_fee && payment.block.is_none());
    view["stuck_payments"] = json!(stuck.count());
    view["has_failed"] = json!(sandbox.desk.has_failed(&invoice.id));
    view["overrides"] = json!(sandbox.desk.overridden(&invoice.id));
    if sandbox.desk.has_failed(&invoice.id) {
        view["status"] = json!(Status::Failed.as_str());
    }
    view
}
