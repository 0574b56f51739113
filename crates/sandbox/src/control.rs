//! The developer's side, below `/sandbox`: the page, and a control API of plain JSON without signatures. An error is a
//! sentence.
//!
//! docs/guide/sandbox.md describes each call.

mod invoices;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State as Extract};
use axum::http::{Method, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_gateway::chain::Chain;
use florin_gateway::page::{JsonResult, PageError, parse, serve_files};
use florin_gateway::prices::PriceSource as _;
use florin_money::Amount;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faults::{FaultPlan, one};
use crate::journal::Entry;
use crate::prices::offered;
use crate::scenario::SCENARIOS;
use crate::settings::MAX_JUMP_SECONDS;
use crate::state::{NextInvoice, Sandbox};

type Shared = Extract<Arc<Sandbox>>;

const MAX_BODY_BYTES: usize = 256 * 1024;
const PAGE_LENGTH: u32 = 50;

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    const HTML: &str = include_str!("page/page.html");
    const CSS: &str = include_str!("page/page.css");
    const JS: &str = include_str!("page/page.js");
    const ICON: &str = include_str!("page/icon.svg");
    let files = [
        ("/sandbox", "text/html", HTML),
        ("/sandbox/page.css", "text/css", CSS),
        ("/sandbox/page.js", "text/javascript", JS),
        ("/sandbox/icon.svg", "image/svg+xml", ICON),
    ];
    serve_files(POLICY, &files)
        .route("/sandbox/state", get(state))
        .route("/sandbox/invoices", get(invoices::list))
        .route("/sandbox/invoices/{id}/{action}", post(invoices::act))
        .route("/sandbox/sessions", get(invoices::list_sessions))
        .route("/sandbox/scenario", post(invoices::play_on_newest))
        .route("/sandbox/scenarios", get(async || Json(SCENARIOS)))
        .route("/sandbox/next-invoice", post(override_next_invoice))
        .route("/sandbox/mine", post(mine))
        .route("/sandbox/reorg", post(reorganize))
        .route("/sandbox/prices", post(set_price))
        .route("/sandbox/time", post(jump))
        .route("/sandbox/clock", post(set_clock))
        .route(
            "/sandbox/faults",
            get(list_faults).post(inject_fault).delete(clear_faults),
        )
        .route("/sandbox/requests", get(requests))
        .route("/sandbox/journal", get(journal))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// Nothing inline, nothing from elsewhere, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn not_found(method: Method, uri: Uri) -> Response {
    let path = uri.path();
    PageError::not_found(format!("The sandbox has no {method} {path}.")).into_response()
}

async fn state(Extract(sandbox): Shared) -> JsonResult {
    let invoices = invoices::views(&sandbox, PAGE_LENGTH).await?;
    let mut sessions = invoices::session_views(&sandbox, PAGE_LENGTH).await?;
    sessions.retain(|(_, is_chosen)| !is_chosen);
    let sessions: Vec<_> = sessions.into_iter().map(|(view, _)| view).collect();
    let invoice_count = sandbox.gateway.database().count_invoices().await?;
    let desk = sandbox.desk.lock();
    Ok(Json(json!({
        "now": sandbox.now().to_string(),
        "ahead_seconds": sandbox.clock.ahead_seconds(),
        "invoice_count": invoice_count,
        "invoices": invoices,
        "sessions": sessions,
        "faults": desk.faults.waiting(),
        "prices": prices(&sandbox),
        "journal": desk.journal.newest_first().take(PAGE_LENGTH as usize).collect::<Vec<_>>(),
        "callback_url": sandbox.settings.callback_url,
    })))
}

fn prices(sandbox: &Sandbox) -> Vec<Value> {
    let coins = offered(sandbox.settings.unknown_asset).into_iter();
    let view = coins.filter_map(|coin| {
        let usd = sandbox.prices.usd_price(&coin.code)?.with_min_decimals(2);
        Some(json!({"crypto_code": coin.code.as_str(), "usd": usd.to_string()}))
    });
    view.collect()
}

async fn override_next_invoice(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let next: NextInvoice = parse(&body)?;
    sandbox.desk.lock().next_invoice = next;
    Ok(Json(json!({})))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocks {
    #[serde(default = "one")]
    blocks: u32,
    /// `None`: every chain.
    chain: Option<Chain>,
}

async fn mine(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Blocks { blocks, chain } = parse(&body)?;
    invoices::mine(&sandbox, chain, blocks).await?;
    Ok(Json(json!({"blocks": blocks})))
}

async fn reorganize(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Blocks { blocks, chain } = parse(&body)?;
    invoices::reorganize(&sandbox, chain, blocks).await?;
    Ok(Json(json!({"blocks": blocks})))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    crypto_code: String,
    /// Dollars for one.
    usd: String,
}

/// Applies to new conversions; those that were issued keep their price.
async fn set_price(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Price { crypto_code, usd } = parse(&body)?;
    let usd = Amount::parse(&usd).ok().filter(|usd| !usd.is_zero());
    let usd = usd.ok_or_else(|| PageError::bad_request("The price is no positive decimal."))?;
    let coins = offered(sandbox.settings.unknown_asset);
    if coins.iter().all(|coin| coin.code.as_str() != crypto_code) {
        let codes: Vec<_> = coins.iter().map(|coin| coin.code.as_str()).collect();
        let sentence = format!(
            "The crypto_code {crypto_code:?} is not one of {}.",
            codes.join(", ")
        );
        return Err(PageError::bad_request(sentence));
    }
    let set = sandbox.prices.set(&crypto_code, usd);
    set.map_err(|error| PageError::bad_request(format!("The price is too large: {error}.")))?;
    Ok(Json(json!(prices(&sandbox))))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Jump {
    jump_seconds: u32,
}

async fn jump(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Jump { jump_seconds } = parse(&body)?;
    if jump_seconds > MAX_JUMP_SECONDS {
        let sentence = format!("The time jumps by {MAX_JUMP_SECONDS} seconds at most.");
        return Err(PageError::bad_request(sentence));
    }
    sandbox.jump(jump_seconds).await?;
    Ok(Json(
        json!({"ahead_seconds": sandbox.clock.ahead_seconds()}),
    ))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockError {
    ahead_seconds: i32,
}

async fn set_clock(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let ClockError { ahead_seconds } = parse(&body)?;
    sandbox.set_clock_error(ahead_seconds);
    Ok(Json(json!({ "ahead_seconds": ahead_seconds })))
}

async fn list_faults(Extract(sandbox): Shared) -> Json<Vec<FaultPlan>> {
    Json(sandbox.desk.lock().faults.waiting().to_vec())
}

async fn inject_fault(Extract(sandbox): Shared, body: Bytes) -> Result<Json<FaultPlan>, PageError> {
    let plan: FaultPlan = parse(&body)?;
    let injected = sandbox.desk.lock().faults.inject(plan.clone());
    injected.map_err(PageError::bad_request)?;
    Ok(Json(plan))
}

async fn clear_faults(Extract(sandbox): Shared) -> Json<Value> {
    sandbox.desk.lock().faults.clear();
    Json(json!({}))
}

async fn requests(Extract(sandbox): Shared) -> Json<Vec<Entry>> {
    Json(sandbox.desk.requests())
}

async fn journal(Extract(sandbox): Shared) -> Json<Vec<Entry>> {
    let desk = sandbox.desk.lock();
    Json(desk.journal.newest_first().rev().cloned().collect())
}
