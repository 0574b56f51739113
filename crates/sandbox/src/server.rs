//! The server: the gateway below `/api` with its faults, the developer's side below `/sandbox`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use florin_gateway::api::request::{Call, Endpoint};
use florin_gateway::api::respond;
use florin_gateway::clock::every;
use florin_gateway::rates::http_client;
use florin_gateway::server::grace;
use florin_gateway::{Clock as _, hosted, send_callbacks};
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::faults::{Fault, Target};
use crate::journal::Event;
use crate::state::{NextInvoice, Sandbox};
use crate::{Settings, control};

const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);
const NODE_INTERVAL: Duration = Duration::from_millis(300);
const GRACE: Duration = Duration::from_secs(2);

/// Serves until `shutdown` is cancelled; open requests then have two seconds.
///
/// # Errors
/// The callback URL is invalid, a price has no exact value, the file of the state cannot be read, the log cannot be written, or the listener fails.
pub async fn run(
    listener: TcpListener,
    settings: Settings,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let client = http_client()?;
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    let public_url = settings.public_url.as_deref().map_or_else(
        || format!("http://{address}"),
        |url| url.trim_end_matches('/').to_owned(),
    );
    let sandbox = Arc::new(Sandbox::new(settings, public_url).await?);
    let stopped = shutdown.child_token();
    // One task runs them all: a panic in any of them ends the server instead of half of it.
    let (served, (), (), ()) = tokio::join!(
        async {
            let served = serve(listener, sandbox.clone(), shutdown).await;
            stopped.cancel();
            served
        },
        expire(&sandbox, &stopped),
        follow(&sandbox, &stopped),
        send_callbacks(sandbox.gateway.clone(), client, stopped.clone()),
    );
    served
}

async fn serve(
    listener: TcpListener,
    sandbox: Arc<Sandbox>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let app = Router::new()
        .route("/api", any(answer))
        .route("/api/{*path}", any(answer))
        .route("/", get(async || Redirect::to("/sandbox")))
        .merge(control::routes())
        .merge(hosted::routes().with_state(sandbox.gateway.clone()))
        .fallback(control::not_found)
        .method_not_allowed_fallback(control::not_found)
        .with_state(sandbox);
    let stop = shutdown.clone().cancelled_owned();
    let served = axum::serve(listener, app).with_graceful_shutdown(stop);
    tokio::select! {
        served = async { served.await } => served.context("the listener failed"),
        () = grace(&shutdown, GRACE) => Ok(()),
    }
}

/// Records what expired, so that its callbacks are sent without a request.
async fn expire(sandbox: &Sandbox, shutdown: &CancellationToken) {
    every(EXPIRY_INTERVAL, shutdown, || async {
        if let Err(error) = sandbox.expire().await {
            tracing::error!("{error}");
        }
    })
    .await;
}

/// Reads the chains whose blocks a node has. A failing look is logged by the gateway.
async fn follow(sandbox: &Sandbox, shutdown: &CancellationToken) {
    every(NODE_INTERVAL, shutdown, || async {
        for chain in sandbox.followed() {
            let _logged = sandbox.gateway.look(chain).await;
        }
    })
    .await;
}

/// Answers a call of the gateway's API: injects its fault, and writes both into the journal.
///
/// The journal is written before the response leaves, so that a log that survives a crash has every call that was answered.
async fn answer(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let call = Arc::new(Call::read(&parts, body).await);
    let target = call.endpoint.map_or(Target::Any, Target::Endpoint);
    let fault = sandbox.desk.lock().faults.take(target);
    let response = if let Some(Fault::Status { status, code, .. }) = &fault {
        error(*status, code.as_deref())
    } else {
        // A caller who leaves does not cut a transaction off.
        let (sandbox, call) = (sandbox.clone(), call.clone());
        let served = tokio::spawn(async move { serve_call(&sandbox, &call).await });
        served.await.unwrap_or_else(|_| error(500, None))
    };
    let (mut head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let retry_after = match &fault {
        Some(Fault::Status { retry_after, .. }) => *retry_after,
        _ => None,
    };
    let did = call.endpoint.filter(|_| head.status.is_success());
    let body = match did {
        Some(_) => overridden(&sandbox, did, body).await,
        None => body,
    };
    let status = (fault != Some(Fault::Drop {})).then_some(head.status.as_u16());
    let event = Event::Request {
        method: call.method.to_string(),
        path: call.target.clone(),
        nonce: call.header("nonce").map(ToOwned::to_owned),
        traceparent: call.header("traceparent").map(ToOwned::to_owned),
        asked: call.json().map(Box::new),
        status,
        retry_after,
        did,
        response: serde_json::from_slice(&body)
            .ok()
            .filter(|_| !did.is_some_and(is_long)),
        fault: fault.clone(),
    };
    tracing::debug!(method = %call.method, path = call.path(), status, "gateway call");
    sandbox.desk.note(event);
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers
        .insert(header::DATE, http_date(sandbox.shown_time()));
    if let Some(seconds) = retry_after {
        head.headers.insert(header::RETRY_AFTER, seconds.into());
    }
    let body = match fault {
        None | Some(Fault::Status { .. } | Fault::Lost {} | Fault::Repeated {}) => body,
        Some(Fault::Slow { delay_ms }) => {
            sandbox.clock.sleep(Duration::from_millis(delay_ms)).await;
            body
        }
        Some(Fault::Garbled {}) => body.slice(..body.len() / 2),
        Some(Fault::WrongTypes {}) => {
            let value = serde_json::from_slice(&body).unwrap_or_default();
            Bytes::from(with_wrong_types(value).to_string())
        }
        Some(Fault::Empty {}) => Bytes::new(),
        Some(Fault::Drop {}) => return Response::from_parts(head, dropped()),
        Some(Fault::Cut {}) => {
            head.headers
                .insert(header::CONTENT_LENGTH, body.len().into());
            let half = body.slice(..body.len() / 2);
            return Response::from_parts(head, cut_after(half));
        }
    };
    Response::from_parts(head, Body::from(body))
}

async fn serve_call(sandbox: &Sandbox, call: &Call) -> Response {
    if call.endpoint == Some(Endpoint::Invoice)
        && let Err(error) = sandbox.expire().await
    {
        return error.into_response();
    }
    respond(&sandbox.gateway, call, sandbox.shown_time()).await
}

/// Whether the response is too long and too frequent for the journal.
fn is_long(endpoint: Endpoint) -> bool {
    matches!(endpoint, Endpoint::Prices | Endpoint::Currencies)
}

/// The response with the members that the developer replaces.
async fn overridden(sandbox: &Sandbox, did: Option<Endpoint>, body: Bytes) -> Bytes {
    if !matches!(did, Some(Endpoint::Invoice | Endpoint::CreateInvoice)) {
        return body;
    }
    let Ok(Value::Object(mut members)) = serde_json::from_slice(&body) else {
        return body;
    };
    if did == Some(Endpoint::CreateInvoice) {
        let next = core::mem::take(&mut sandbox.desk.lock().next_invoice);
        replace_created(sandbox, &mut members, next).await;
    } else if let Some(Value::Object(record)) = members.get_mut("data") {
        sandbox.desk.override_record(record);
    }
    Bytes::from(Value::Object(members).to_string())
}

async fn replace_created(sandbox: &Sandbox, members: &mut Map<String, Value>, next: NextInvoice) {
    let text = |members: &Map<String, Value>, name: &str| {
        members[name].as_str().unwrap_or_default().to_owned()
    };
    let id = text(members, "invoice_id");
    if let Some(address) = next.address {
        let uri = text(members, "qr_string").replace(&text(members, "deposit_address"), &address);
        members.insert("qr_string".to_owned(), uri.into());
        members.insert("deposit_address".to_owned(), address.clone().into());
        let shown = Map::from_iter([("wallet_address".to_owned(), address.into())]);
        if let Err(error) = sandbox.set_overrides(&id, shown).await {
            tracing::error!("{error}");
        }
    }
    if let Some(uri) = next.qr_string {
        members.insert("qr_string".to_owned(), uri.into());
    }
    if let Some(other) = next.invoice_id {
        members.insert("invoice_id".to_owned(), other.into());
    }
}

fn error(status: u16, code: Option<&str>) -> Response {
    let status = StatusCode::from_u16(status).expect("a plan has 400 to 599 only");
    let body = json!({
        "error": status.canonical_reason().unwrap_or("Error"),
        "code": code.unwrap_or("SANDBOX_FAULT"),
        "message": "an injected fault",
    });
    (status, Json(body)).into_response()
}

/// A body that fails closes the connection. Nothing is written before its first part, the head neither.
fn dropped() -> Body {
    let failed = Err::<Bytes, _>(io::Error::other("injected fault"));
    Body::from_stream(stream::iter([failed]))
}

/// Sends these bytes, then closes the connection.
fn cut_after(half: Bytes) -> Body {
    let close = async move {
        // The half is written when the next part is polled.
        tokio::task::yield_now().await;
        Err(io::Error::other("injected fault"))
    };
    Body::from_stream(stream::iter([Ok(half)]).chain(stream::once(close)))
}

/// Strings that are numbers become numbers, the others lists of one.
fn with_wrong_types(value: Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(number @ Value::Number(_)) => number,
            _ => json!([text]),
        },
        Value::Array(values) => values.into_iter().map(with_wrong_types).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            let wrong = members.map(|(name, value)| (name, with_wrong_types(value)));
            Value::Object(wrong.collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Source: RFC 9110, section 5.6.7.
fn http_date(at: Timestamp) -> HeaderValue {
    let date = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::try_from(date).expect("a date is plain ASCII")
}
