//! The server: the gateway below `/api`, the developer's side below `/sandbox`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Redirect;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::callback::CallbackSender;
use crate::faults::{ConnectionFault, FaultyListener};
use crate::state::{Sandbox, write_kept};
use crate::{Settings, api, control, evm, faults, hosted};

const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);
/// Callbacks in the sender's queue.
const MAX_CALLBACKS: usize = 10_000;
/// Time for open requests after the shutdown.
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
    let sender = CallbackSender::new(settings.callback_url.as_deref())?;
    let (queue, callbacks) = mpsc::channel(MAX_CALLBACKS);
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
                evm::follow(url, &sandbox, &stopped).await;
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
    let inject = from_fn_with_state(sandbox.clone(), faults::inject);
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
