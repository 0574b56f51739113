//! The server: the gateway below `/api` with its faults, the developer's side below `/sandbox`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::api::request::{Call, Endpoint};
use crate::callback::{CallbackSender, http_client};
use crate::faults::{ConnectionFault, Fault, FaultyListener, Target};
use crate::journal::Event;
use crate::state::{Sandbox, write_kept};
use crate::{Settings, api, control, evm, hosted};

const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);
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
    let sender = CallbackSender::new(client.clone(), settings.callback_url.as_deref())?;
    let (queue, callbacks) = mpsc::unbounded_channel();
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    let public_url = settings.public_url.as_deref().map_or_else(
        || format!("http://{address}"),
        |url| url.trim_end_matches('/').to_owned(),
    );
    let sandbox = Arc::new(Sandbox::new(settings, public_url, queue)?);
    let stopped = shutdown.child_token();
    // One task runs them all: a panic in any of them ends the server instead of half of it.
    let (served, (), (), (), ()) = tokio::join!(
        async {
            let served = serve(listener, sandbox.clone(), shutdown).await;
            stopped.cancel();
            served
        },
        expire_invoices(&sandbox, &stopped),
        async {
            if let Some(file) = &sandbox.settings.state_file {
                write_kept(&sandbox, file, &stopped).await;
            }
        },
        sender.run(&sandbox, callbacks, &stopped),
        async {
            if let Some(url) = &sandbox.settings.evm_rpc_url {
                evm::follow(client, url, &sandbox, &stopped).await;
            }
        },
    );
    served
}

async fn serve(
    listener: TcpListener,
    sandbox: Arc<Sandbox>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let inject = from_fn_with_state(sandbox.clone(), inject_faults);
    let app = Router::new()
        .merge(api::routes().route_layer(inject))
        .route("/", get(async || Redirect::to("/sandbox")))
        .merge(control::routes())
        .merge(hosted::routes())
        .fallback(control::not_found)
        .method_not_allowed_fallback(control::not_found)
        .with_state(sandbox)
        .into_make_service_with_connect_info::<ConnectionFault>();
    let served = axum::serve(FaultyListener(listener), app)
        .with_graceful_shutdown(shutdown.clone().cancelled_owned());
    tokio::select! {
        served = async { served.await } => served.context("the listener failed"),
        () = grace(&shutdown) => Ok(()),
    }
}

async fn grace(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    let never = core::future::pending::<()>();
    let _elapsed = tokio::time::timeout(GRACE, never).await;
}

/// Records expired invoices, so that their callbacks are sent without a request.
async fn expire_invoices(sandbox: &Sandbox, shutdown: &CancellationToken) {
    let mut interval = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = interval.tick() => sandbox.update(|_, _| {}),
        }
    }
}

/// The layer over the gateway's API: reads the call, injects its fault, and writes both into the journal.
///
/// The journal is written here, since only this layer knows both what the gateway did and what the caller receives; and
/// before the response leaves, so that a log that survives a crash has every call that was answered.
async fn inject_faults(
    State(sandbox): State<Arc<Sandbox>>,
    ConnectInfo(connection): ConnectInfo<ConnectionFault>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let call = Arc::new(Call::read(&parts, body).await);
    let target = call.endpoint.map_or(Target::Any, Target::Endpoint);
    let fault = sandbox.update(|state, _| state.faults.take(target));
    let response = if let Some(Fault::Status { status, code, .. }) = &fault {
        error(*status, code.as_deref())
    } else {
        parts.extensions.insert(call.clone());
        next.run(Request::from_parts(parts, Body::empty())).await
    };
    let (mut head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let retry_after = match &fault {
        Some(Fault::Status { retry_after, .. }) => *retry_after,
        _ => None,
    };
    let did = call.endpoint.filter(|_| head.status.is_success());
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
            .filter(|_| !did.is_some_and(Endpoint::is_long)),
        fault: fault.clone(),
    };
    tracing::debug!(method = %call.method, path = call.path(), status, "gateway call");
    sandbox.update(|state, now| state.journal.add(now, event));
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers
        .insert(header::DATE, http_date(sandbox.shown_time()));
    if let Some(seconds) = retry_after {
        head.headers.insert(header::RETRY_AFTER, seconds.into());
    }
    let body = match fault {
        None | Some(Fault::Status { .. } | Fault::Lost {} | Fault::Repeated {}) => body,
        Some(Fault::Slow { delay_ms }) => {
            sandbox.clock().sleep(Duration::from_millis(delay_ms)).await;
            body
        }
        Some(Fault::Garbled {}) => body.slice(..body.len() / 2),
        Some(Fault::WrongTypes {}) => {
            let value = serde_json::from_slice(&body).unwrap_or_default();
            Bytes::from(with_wrong_types(value).to_string())
        }
        Some(Fault::Empty {}) => Bytes::new(),
        Some(Fault::Drop {}) => {
            connection.close();
            body
        }
        Some(Fault::Cut {}) => {
            head.headers
                .insert(header::CONTENT_LENGTH, body.len().into());
            let half = body.slice(..body.len() / 2);
            return Response::from_parts(head, cut_after(half, connection));
        }
    };
    Response::from_parts(head, Body::from(body))
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

/// Sends these bytes, then closes the connection.
fn cut_after(half: Bytes, connection: ConnectionFault) -> Body {
    let close = async move {
        // The half is written when the next part is polled.
        tokio::task::yield_now().await;
        connection.close();
        Err(std::io::Error::other("injected fault"))
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
