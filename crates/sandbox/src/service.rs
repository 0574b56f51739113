//! The service's side, below `/api`: every call is read whole, checked, answered, and logged.

mod authenticate;
mod body;
mod call;
mod confirm;
mod create_invoice;
mod invoice;
mod prices;
mod refusal;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use serde_json::{Value, json};

use crate::connection::Cut;
use crate::faults::Fault;
use crate::journal::Event;
use crate::request_log::LoggedCall;
use crate::state::Sandbox;
use authenticate::authenticate;
use call::Call;
use refusal::{Code, Refusal};

/// The endpoints below the base address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
}

impl Endpoint {
    fn of(method: &Method, path: &str) -> Option<Self> {
        match (method.as_str(), path) {
            ("GET", "/prices") => Some(Self::Prices),
            ("POST", "/invoice") => Some(Self::CreateInvoice),
            ("GET", "/invoice") => Some(Self::Invoice),
            ("POST", "/confirm") => Some(Self::Confirm),
            _ => None,
        }
    }

    /// What a call of it brings about when it is not refused.
    fn did(self) -> Did {
        match self {
            Self::Prices => Did::PromisedPrices,
            Self::CreateInvoice => Did::CreatedInvoice,
            Self::Invoice => Did::ToldInvoice,
            Self::Confirm => Did::ConfirmedInvoice,
        }
    }
}

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/api", any(answer))
        .route("/api/{*path}", any(answer))
}

/// What the service says before a fault spoils it.
struct Answer {
    status: StatusCode,
    retry_after_seconds: Option<u32>,
    /// `None` when nothing was done.
    did: Option<Did>,
    body: Value,
}

/// What a call brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    PromisedPrices,
    CreatedInvoice,
    ToldInvoice,
    ConfirmedInvoice,
}

impl Did {
    /// The word in the journal.
    fn as_str(self) -> &'static str {
        match self {
            Self::PromisedPrices => "promised_prices",
            Self::CreatedInvoice => "created_invoice",
            Self::ToldInvoice => "told_invoice",
            Self::ConfirmedInvoice => "confirmed_invoice",
        }
    }
}

async fn answer(
    State(sandbox): State<Arc<Sandbox>>,
    ConnectInfo(connection): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    let call = Call::read(request).await;
    let fault = sandbox.act(|state, _| state.faults.take(call.endpoint()));
    let (answer, refusal) = match &fault {
        Some(Fault::Status {
            status,
            retry_after_seconds,
        }) => (planned(*status, *retry_after_seconds), None),
        _ => perform(&sandbox, &call),
    };
    log(&sandbox, &call, &answer, refusal, fault.as_ref());
    let mut body = answer.body.to_string();
    match fault {
        Some(Fault::Garbled) => {
            let middle = body.floor_char_boundary(body.len() / 2);
            body.truncate(middle);
        }
        Some(Fault::Slow(delay)) => sandbox.clock().sleep(delay).await,
        Some(Fault::Drop) => connection.cut(),
        Some(Fault::Status { .. }) | None => {}
    }
    answer.into_response(body)
}

/// Does what the call asks, as the service would.
fn perform(sandbox: &Sandbox, call: &Call) -> (Answer, Option<Refusal>) {
    let result: Result<_, Refusal> = sandbox.act(|state, now| {
        let endpoint = call.endpoint().ok_or_else(|| Refusal::no_endpoint(call))?;
        authenticate(&sandbox.settings, state, call, now)?;
        let body = match endpoint {
            Endpoint::Prices => prices::answer(&mut state.prices, now),
            Endpoint::CreateInvoice => create_invoice::answer(&sandbox.settings, state, call, now)?,
            Endpoint::Invoice => invoice::answer(&state.invoices, call, now)?,
            Endpoint::Confirm => confirm::answer(&sandbox.settings, &mut state.invoices, call)?,
        };
        Ok((endpoint.did(), body))
    });
    match result {
        Ok((did, body)) => {
            let did = Some(did);
            (
                Answer {
                    did,
                    ..Answer::new(StatusCode::OK, body)
                },
                None,
            )
        }
        Err(refusal) => (
            Answer::new(refusal.code.status(), refusal.body()),
            Some(refusal),
        ),
    }
}

/// The answer that a fault puts in place of the service's own.
fn planned(status: u16, retry_after_seconds: Option<u32>) -> Answer {
    let status = StatusCode::from_u16(status).expect("the control API plans 400 to 599 alone");
    let error = status.canonical_reason().unwrap_or("Error");
    let body = json!({
        "error": error,
        "code": "SANDBOX_FAULT",
        "message": "the sandbox was told to answer so",
    });
    Answer {
        retry_after_seconds,
        ..Answer::new(status, body)
    }
}

fn log(
    sandbox: &Sandbox,
    call: &Call,
    answer: &Answer,
    refusal: Option<Refusal>,
    fault: Option<&Fault>,
) {
    let dropped = fault == Some(&Fault::Drop);
    let (code, message) = refusal
        .map(|refusal| (refusal.code.as_str(), refusal.message))
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
    let done = answer.did.map(Did::as_str);
    let request = Event::Request {
        method: call.method.to_string(),
        path: call.target.clone(),
        nonce: call.header("nonce").map(ToOwned::to_owned),
        asked: call.json().map(Box::new),
        status,
        retry_after: answer.retry_after_seconds,
        did: done,
        answer: (answer.did != Some(Did::PromisedPrices)).then(|| answer.body.clone()),
        code,
        message: message.clone(),
        fault: fault.clone(),
    };
    sandbox.act(|state, now| {
        state.journal.add(now, request);
        state.requests.add(LoggedCall {
            number: 0,
            at: now.to_string(),
            method: call.method.to_string(),
            path: call.target.clone(),
            status,
            code,
            message,
            fault,
        });
    });
}

impl Answer {
    fn new(status: StatusCode, body: Value) -> Self {
        Self {
            status,
            retry_after_seconds: None,
            did: None,
            body,
        }
    }

    fn into_response(self, body: String) -> Response {
        let mut response = (self.status, Body::from(body)).into_response();
        let headers = response.headers_mut();
        let json = header::HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
