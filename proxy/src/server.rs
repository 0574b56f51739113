//! Running: two listeners, four jobs, and an orderly end.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admin::admin_routes;
use crate::config::Config;
use crate::http::connections::{LONGEST_HEAD, serve};
use crate::http::router::routes;
use crate::state::{AppState, Dependencies};
use crate::workers::{cleanup, currency_check, payment_poller, webhook_dispatcher};

/// The sockets, bound by the caller, who knows the ports.
#[derive(Debug)]
pub struct Listeners {
    /// For browsers, stores and the service.
    pub public: TcpListener,
    /// For the operator.
    pub admin: TcpListener,
}

/// Serves until `shutdown` is cancelled: then nothing new is accepted, streams end, and what is under way finishes.
///
/// # Errors
/// When a part ends by itself: the process should end with a failing code and be started again.
pub async fn run(
    listeners: Listeners,
    config: Config,
    parts: Dependencies,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let core = Core::new(config, parts, shutdown.clone());
    let mut parts = JoinSet::new();
    let serve = |listener, routes| endless(serve(listener, routes, LONGEST_HEAD, shutdown.clone()));
    let public = serve(listeners.public, core.router());
    parts.spawn(named("the public listener", public));
    let admin = serve(listeners.admin, core.admin_router());
    parts.spawn(named("the admin listener", admin));
    let app = core.app;
    parts.spawn(named(
        "the watcher",
        endless(payment_poller::run(app.clone())),
    ));
    parts.spawn(named(
        "the teller",
        endless(webhook_dispatcher::run(app.clone())),
    ));
    parts.spawn(named("the keeper", endless(cleanup::run(app.clone()))));
    let currencies = endless(currency_check::run(app));
    parts.spawn(named("the look at the currencies", currencies));
    let mut failure = None;
    while let Some(ended) = parts.join_next().await {
        let (name, result) = ended.unwrap_or_else(|error| ("a part", Err(error.into())));
        if let Err(error) = result {
            tracing::error!(part = name, %error, "a part failed");
            failure.get_or_insert(error.context(name));
        } else if !shutdown.is_cancelled() {
            failure.get_or_insert(anyhow::anyhow!("{name} ended by itself"));
        }
        shutdown.cancel();
    }
    failure.map_or(Ok(()), Err)
}

async fn endless(job: impl Future<Output = ()>) -> anyhow::Result<()> {
    job.await;
    Ok(())
}

async fn named(
    name: &'static str,
    part: impl Future<Output = anyhow::Result<()>>,
) -> (&'static str, anyhow::Result<()>) {
    (name, part.await)
}

/// Everything that a running proxy does, to be called.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) app: Arc<AppState>,
}

impl Core {
    /// Puts the parts together; nothing happens yet. What is under way when `shutdown` is cancelled still finishes.
    pub fn new(config: Config, parts: Dependencies, shutdown: CancellationToken) -> Self {
        Self {
            app: Arc::new(AppState::new(config, parts, shutdown)),
        }
    }

    /// What browsers, stores and the service call.
    pub fn router(&self) -> Router {
        routes(self.app.clone())
    }

    /// What the operator calls.
    pub(crate) fn admin_router(&self) -> Router {
        admin_routes(self.app.clone())
    }

    /// One step of the watcher: asks the service about attempts that are due, as many as are looked at at once, and
    /// records what it says.
    pub async fn poll(&self) {
        payment_poller::poll_once(&self.app).await;
    }

    /// One step of the teller: delivers events that are due, to every store as many as are delivered at once, and
    /// records how that went.
    pub async fn dispatch(&self) {
        webhook_dispatcher::dispatch_once(&self.app).await;
    }

    /// One step of the keeper: gives up what never came, and ends what is over.
    pub async fn clean_up(&self) {
        cleanup::run_once(&self.app).await;
    }
}
