//! The server: the service below `/api`, the developer's side below `/sandbox`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::callback::{Callbacks, send_callbacks};
use crate::connection::{Cut, CuttableListener};
use crate::state::Sandbox;
use crate::{Settings, control, hosted, page, service};

/// How often invoices are looked at for having run out, when nobody asks.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);
/// Callbacks that wait to be sent; one more is dropped.
const MAX_ANNOUNCEMENTS: usize = 10_000;
/// How long open requests may take to end after the shutdown.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until `shutdown` is cancelled; open requests then have two seconds.
///
/// # Errors
/// A callback URL that is none, prices beyond what an amount holds, a log that cannot be written, or a listener that
/// fails.
pub async fn run(
    listener: TcpListener,
    settings: Settings,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let callbacks = Callbacks::new(settings.callback_url.as_deref())?;
    let (announce, announcements) = mpsc::channel(MAX_ANNOUNCEMENTS);
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    let public_url = settings.public_url.as_deref().map_or_else(
        || format!("http://{address}"),
        |url| url.trim_end_matches('/').to_owned(),
    );
    let sandbox = Arc::new(Sandbox::new(settings, public_url, announce)?);
    let stopped = shutdown.child_token();
    // One task holds all three: a panic in any of them ends the server instead of leaving half of it.
    let (served, (), ()) = tokio::join!(
        async {
            let served = serve(listener, sandbox.clone(), shutdown).await;
            stopped.cancel();
            served
        },
        watch_expiry(&sandbox, &stopped),
        send_callbacks(callbacks, &sandbox, announcements, &stopped),
    );
    served
}

async fn serve(
    listener: TcpListener,
    sandbox: Arc<Sandbox>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let clock = sandbox.settings.clock.clone();
    let app = Router::new()
        .route("/", get(async || Redirect::to("/sandbox")))
        .merge(service::routes())
        .merge(control::routes())
        .merge(page::routes())
        .merge(hosted::routes())
        .fallback(control::nothing_here)
        .method_not_allowed_fallback(control::nothing_here)
        .with_state(sandbox)
        .into_make_service_with_connect_info::<Cut>();
    let listener = CuttableListener { listener, clock };
    let served =
        axum::serve(listener, app).with_graceful_shutdown(shutdown.clone().cancelled_owned());
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

/// Looks at the invoices now and then, so that one that ran out is told without anybody asking.
async fn watch_expiry(sandbox: &Sandbox, shutdown: &CancellationToken) {
    let mut interval = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = interval.tick() => sandbox.act(|_, _| {}),
        }
    }
}
