//! The service's side, below `/api`: every call is read whole, checked, answered, and logged.

mod authenticate;
mod body;
mod call;
mod checkout;
mod confirm;
mod create_invoice;
mod currencies;
mod endpoint;
mod invoice;
mod merchants;
mod preferences;
mod prices;
mod refusal;
mod spoil;

use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::any;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::connection::Cut;
use crate::faults::Fault;
use crate::journal::Event;
use crate::request_log::{Exchange, LoggedCall};
use crate::state::Sandbox;
use authenticate::authenticate;
use call::Call;
pub(crate) use endpoint::Endpoint;
pub(crate) use refusal::SignatureProof;
use refusal::{Code, Refusal};

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/api", any(answer))
        .route("/api/{*path}", any(answer))
}

/// What the service says before a fault spoils it.
struct Answer {
    status: StatusCode,
    retry_after_seconds: Option<u32>,
    /// The same as the header says it: seconds, or a moment.
    retry_after: Option<String>,
    /// The endpoint that did what it was asked; `None` when nothing was done.
    did: Option<Endpoint>,
    /// What the header Date says.
    date: Timestamp,
    body: Value,
}

async fn answer(
    State(sandbox): State<Arc<Sandbox>>,
    ConnectInfo(connection): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    let call = Call::read(request).await;
    let fault = sandbox.act(|state, _| state.faults.take(call.endpoint()));
    let (answer, refusal) = match &fault {
        Some(fault @ (Fault::Status { .. } | Fault::Shapeless { .. })) => {
            (planned(&sandbox, fault), None)
        }
        _ => perform(&sandbox, &call),
    };
    log(&sandbox, &call, &answer, refusal, fault.as_ref());
    spoil::respond(&sandbox, &connection, answer, fault).await
}

/// Does what the call asks, as the service would.
fn perform(sandbox: &Sandbox, call: &Call) -> (Answer, Option<Refusal>) {
    let endpoint = call.endpoint();
    let result: Result<_, Refusal> = sandbox.act(|state, now| {
        let endpoint = endpoint.ok_or_else(|| Refusal::no_endpoint(call))?;
        if let Some(limit) = state.rules.calls_per_minute {
            let counted = state.throttle.count(now, limit);
            counted.map_err(|seconds| Refusal::too_many(limit, seconds))?;
        }
        authenticate(sandbox, state, call, endpoint)?;
        let body = match endpoint {
            Endpoint::Prices => prices::answer(&mut state.prices, now),
            Endpoint::CreateInvoice => create_invoice::answer(state, call, now)?,
            Endpoint::Invoice => invoice::answer(state, call, now)?,
            Endpoint::Confirm => confirm::answer(&sandbox.settings, &mut state.invoices, call)?,
            Endpoint::Checkout => checkout::answer(sandbox, state, call, now)?,
            Endpoint::Currencies => currencies::answer(&state.prices),
            Endpoint::AddPreference => preferences::add(state, call)?,
            Endpoint::ChangePreference => preferences::change(state, call)?,
            Endpoint::OnboardMerchant => merchants::onboard(state, call)?,
            Endpoint::MerchantAccount => merchants::account(sandbox, state, call)?,
            Endpoint::ChangeSettings => merchants::change_settings(state, call)?,
        };
        Ok((endpoint, body))
    });
    match result {
        Ok((endpoint, body)) => {
            let answer = Answer::new(sandbox, StatusCode::OK, body);
            let did = Some(endpoint);
            (Answer { did, ..answer }, None)
        }
        Err(refusal) => {
            let (status, body) = (refusal.code.status(), refusal.body(endpoint));
            let answer = Answer {
                retry_after_seconds: refusal.retry_after_seconds,
                retry_after: refusal
                    .retry_after_seconds
                    .map(|seconds| seconds.to_string()),
                ..Answer::new(sandbox, status, body)
            };
            (answer, Some(refusal))
        }
    }
}

/// The answer that a fault puts in place of the service's own.
fn planned(sandbox: &Sandbox, fault: &Fault) -> Answer {
    let number = match fault {
        Fault::Status { status, .. } | Fault::Shapeless { status } => *status,
        _ => 500,
    };
    let status = StatusCode::from_u16(number).expect("the control API plans 400 to 599 alone");
    let error = status.canonical_reason().unwrap_or("Error");
    let Fault::Status {
        code,
        retry_after,
        retry_after_date,
        ..
    } = fault
    else {
        return Answer::new(sandbox, status, json!({"detail": error}));
    };
    let body = json!({
        "error": error,
        "code": code.as_deref().unwrap_or("SANDBOX_FAULT"),
        "message": "the sandbox was told to answer so",
    });
    let answer = Answer::new(sandbox, status, body);
    let moment = |seconds: u32| {
        let pause = SignedDuration::from_secs(i64::from(seconds));
        http_date(answer.date.saturating_add(pause).unwrap_or(answer.date))
    };
    Answer {
        retry_after_seconds: *retry_after,
        retry_after: retry_after.map(|seconds| {
            if *retry_after_date {
                moment(seconds)
            } else {
                seconds.to_string()
            }
        }),
        ..answer
    }
}

fn log(
    sandbox: &Sandbox,
    call: &Call,
    answer: &Answer,
    refusal: Option<Refusal>,
    fault: Option<&Fault>,
) {
    let dropped = fault == Some(&Fault::Drop {});
    let code = refusal.as_ref().map(|refusal| refusal.code.as_str());
    let (message, proof) = refusal
        .map(|refusal| (refusal.message, refusal.proof))
        .unzip();
    tracing::debug!(
        method = %call.method,
        path = call.path,
        status = answer.status.as_u16(),
        code,
        "service call"
    );
    let status = (!dropped).then_some(answer.status.as_u16());
    let fault = fault.map(ToString::to_string);
    let headers = call.headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let body = call.body.as_deref().unwrap_or_default();
    let exchange = Exchange::new(headers, body, answer.body.to_string());
    let logged = LoggedCall {
        number: 0,
        at: String::new(),
        method: call.method.to_string(),
        path: call.target.clone(),
        status,
        code,
        message: message.clone(),
        signature: proof.flatten(),
        fault: fault.clone(),
    };
    let request = |call_number| Event::Request {
        call: call_number,
        method: call.method.to_string(),
        path: call.target.clone(),
        nonce: call.header("nonce").map(ToOwned::to_owned),
        asked: call.json().map(Box::new),
        status,
        retry_after: answer.retry_after_seconds,
        did: answer.did.map(Endpoint::did),
        answer: (!answer.did.is_some_and(Endpoint::is_long)).then(|| answer.body.clone()),
        code,
        message,
        fault,
    };
    sandbox.act(|state, now| {
        let at = now.to_string();
        let number = state.requests.add(LoggedCall { at, ..logged }, exchange);
        state.journal.add(now, request(number));
    });
}

impl Answer {
    fn new(sandbox: &Sandbox, status: StatusCode, body: Value) -> Self {
        let date = sandbox.act(|state, _| sandbox.service_time(&state.rules));
        Self {
            date,
            status,
            retry_after_seconds: None,
            retry_after: None,
            did: None,
            body,
        }
    }
}

/// A date as HTTP writes it. Source: RFC 9110, section 5.6.7.
fn http_date(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
