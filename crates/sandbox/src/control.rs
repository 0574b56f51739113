//! The developer's side, below `/sandbox`: the page, and a control API of plain JSON without signatures. An error is a
//! sentence.
//!
//! docs/guide/sandbox.md describes each call.

pub(crate) mod invoices;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State as Extract};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_money::Amount;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::asset::Chain;
use crate::faults::{FaultPlan, one};
use crate::journal::{Entry, Event};
use crate::scenario::SCENARIOS;
use crate::settings::MAX_JUMP_SECONDS;
use crate::state::{NextInvoice, Sandbox, State};

pub(crate) type Shared = Extract<Arc<Sandbox>>;

/// A rejected request, as a sentence.
#[derive(Debug)]
pub(crate) struct ControlError(StatusCode, String);

impl ControlError {
    pub(crate) fn bad_request(sentence: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, sentence.into())
    }

    /// There is no such invoice, checkout or path.
    pub(crate) fn not_found(sentence: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, sentence.into())
    }

    /// Not in this state.
    pub(crate) fn conflict(sentence: impl Into<String>) -> Self {
        Self(StatusCode::CONFLICT, sentence.into())
    }
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

/// Parses a JSON body, whatever its content type is, so that `curl -d '{…}'` is enough. No body is an empty object.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| ControlError::bad_request(format!("The body is invalid: {error}.")))
}

pub(crate) type JsonResult = Result<Json<Value>, ControlError>;

const MAX_BODY_BYTES: usize = 256 * 1024;
const PAGE_LENGTH: usize = 50;

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

/// Path, media type and content.
pub(crate) type File = (&'static str, &'static str, &'static str);

pub(crate) fn serve_files(policy: &'static str, files: &[File]) -> Router<Arc<Sandbox>> {
    let mut router = Router::new();
    for (path, media_type, content) in files.iter().copied() {
        let headers = [
            (header::CONTENT_TYPE, media_type),
            (header::CONTENT_SECURITY_POLICY, policy),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        router = router.route(path, get(async move || (headers, content)));
    }
    router
}

pub(crate) async fn not_found(method: Method, uri: Uri) -> Response {
    let path = uri.path();
    ControlError::not_found(format!("The sandbox has no {method} {path}.")).into_response()
}

async fn state(Extract(sandbox): Shared) -> Json<Value> {
    Json(sandbox.update(|state, now| {
        let invoices = state.invoices.newest_first().take(PAGE_LENGTH);
        let invoices: Vec<_> = invoices.map(|it| invoices::view(it, now)).collect();
        let open = state.sessions.newest_first();
        let open = open.filter(|session| state.invoices.get(&session.id).is_none());
        let sessions: Vec<_> = open
            .take(PAGE_LENGTH)
            .map(|session| invoices::session_view(state, session, now))
            .collect();
        json!({
            "now": now.to_string(),
            "ahead_seconds": state.clock.ahead_seconds(),
            "invoice_count": state.invoices.len(),
            "invoices": invoices,
            "sessions": sessions,
            "faults": state.faults.waiting(),
            "prices": prices(state),
            "journal": state.journal.newest_first().take(PAGE_LENGTH).collect::<Vec<_>>(),
            "callback_url": sandbox.settings.callback_url,
        })
    }))
}

fn prices(state: &State) -> Vec<Value> {
    let prices = state.prices.listed().iter();
    let view = prices.map(|listed| {
        let usd = listed.usd.with_min_decimals(2).to_string();
        json!({"crypto_code": listed.coin.code.as_str(), "usd": usd})
    });
    view.collect()
}

async fn override_next_invoice(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let next: NextInvoice = parse(&body)?;
    sandbox.update(|state, _| state.next_invoice = next);
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
    sandbox.update(|state, now| state.mine(chain, blocks, now));
    Ok(Json(json!({"blocks": blocks})))
}

async fn reorganize(Extract(sandbox): Shared, body: Bytes) -> JsonResult {
    let Blocks { blocks, chain } = parse(&body)?;
    sandbox.update(|state, now| state.reorganize(chain, blocks, now));
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
    let usd = usd.ok_or_else(|| ControlError::bad_request("The price is no positive decimal."))?;
    sandbox.update(|state, _| {
        let code = state.prices.code(&crypto_code);
        let code =
            code.map_err(|error| ControlError::bad_request(format!("The {}.", error.message)))?;
        let set = state.prices.set(&code, usd);
        set.map_err(|error| {
            ControlError::bad_request(format!("The price is too large: {error}."))
        })?;
        Ok(Json(json!(prices(state))))
    })
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
        return Err(ControlError::bad_request(sentence));
    }
    sandbox.update(|state, _| {
        state.clock.jump(jump_seconds);
        Ok(Json(json!({"ahead_seconds": state.clock.ahead_seconds()})))
    })
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
    Json(sandbox.update(|state, _| state.faults.waiting().to_vec()))
}

async fn inject_fault(
    Extract(sandbox): Shared,
    body: Bytes,
) -> Result<Json<FaultPlan>, ControlError> {
    let plan: FaultPlan = parse(&body)?;
    let injected = sandbox.update(|state, _| state.faults.inject(plan.clone()));
    injected.map_err(ControlError::bad_request)?;
    Ok(Json(plan))
}

async fn clear_faults(Extract(sandbox): Shared) -> Json<Value> {
    sandbox.update(|state, _| state.faults.clear());
    Json(json!({}))
}

async fn requests(Extract(sandbox): Shared) -> Json<Vec<Entry>> {
    let is_request = |entry: &&Entry| matches!(entry.event, Event::Request { .. });
    Json(sandbox.update(|state, _| {
        let newest_first = state.journal.newest_first();
        newest_first.filter(is_request).cloned().collect()
    }))
}

async fn journal(Extract(sandbox): Shared) -> Json<Vec<Entry>> {
    Json(sandbox.update(|state, _| state.journal.newest_first().rev().cloned().collect()))
}
