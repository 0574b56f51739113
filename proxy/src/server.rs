//! Running the proxy: two listeners, the workers, and an orderly shutdown.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admin::admin_routes;
use crate::config::{Config, Problems};
use crate::connection_slots::{ConnectionLimits, Slots};
use crate::http::connections::{Server, Timeouts, serve};
use crate::http::middleware::client_address::counted_address;
use crate::http::router::routes;
use crate::open_files::ADMIN_CONNECTIONS;
use crate::staff::staff_routes;
use crate::state::{AppState, Dependencies};
use crate::workers::replanning::Replanning;
use crate::workers::{
    change_exchange, cleanup, currency_check, payment_poller, replanning, storage_monitor,
    webhook_dispatcher,
};

/// The sockets, bound by the caller, who knows the ports.
#[derive(Debug)]
pub struct Listeners {
    /// For browsers, stores and the gateway.
    pub public: TcpListener,
    /// For the operator.
    pub admin: TcpListener,
    /// How many connections the public listener may hold. See [`crate::open_files`].
    pub public_connections: usize,
}

/// Serves until `shutdown` is cancelled; then accepts nothing new, ends streams and finishes requests in flight.
///
/// # Errors
/// If a component ends by itself: the process should exit with a failing code and be restarted.
pub async fn run(
    listeners: Listeners,
    config: Config,
    dependencies: Dependencies,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    // Its sender is dropped: nothing is reloaded.
    let (_, reloads) = mpsc::channel(1);
    run_reloading(listeners, config, dependencies, shutdown, reloads).await
}

/// Serves like [`run`], and puts each checked configuration of `reloads` in force, unless it changes what needs a restart.
///
/// # Errors
/// Those of [`run`].
pub async fn run_reloading(
    listeners: Listeners,
    config: Config,
    dependencies: Dependencies,
    shutdown: CancellationToken,
    mut reloads: mpsc::Receiver<Result<Config, Problems>>,
) -> anyhow::Result<()> {
    let core = Core::new(config, dependencies, shutdown.clone());
    if core.app.deps.storage.has_other_writers() {
        change_exchange::keep_static_files(&core.app).await;
    }
    let mut components = JoinSet::new();
    let counting = core.app.clone();
    let slots = Slots::new(ConnectionLimits {
        all: listeners.public_connections,
        per_address: core.app.config().rate_limit.connections_per_ip,
    });
    let public_slots = core.app.public_slots.get_or_init(|| slots);
    let public = Server {
        listener: listeners.public,
        routes: core.router(),
        timeouts: Timeouts::DEFAULT,
        slots: public_slots.clone(),
        counted_address: Arc::new(move |peer| {
            counted_address(peer, &counting.config().trusted_proxies)
        }),
    };
    let public = endless(serve(public, shutdown.clone()));
    components.spawn(named("the public listener", public));
    let admin = Server {
        listener: listeners.admin,
        routes: core.admin_router(),
        timeouts: Timeouts::DEFAULT,
        slots: Slots::new(ConnectionLimits {
            all: ADMIN_CONNECTIONS,
            per_address: ADMIN_CONNECTIONS,
        }),
        counted_address: Arc::new(|_| None),
    };
    let admin = endless(serve(admin, shutdown.clone()));
    components.spawn(named("the admin listener", admin));
    let app = core.app;
    let spans = app.spans.clone();
    let reload = {
        let (app, shutdown) = (app.clone(), shutdown.clone());
        async move {
            let reloads = async {
                while let Some(loaded) = reloads.recv().await {
                    app.reload(loaded);
                }
                std::future::pending::<()>().await;
            };
            shutdown.run_until_cancelled(reloads).await;
        }
    };
    let poller = endless(payment_poller::run(app.clone()));
    components.spawn(named("the payment poller", poller));
    let dispatcher = endless(webhook_dispatcher::run(app.clone()));
    components.spawn(named("the webhook dispatcher", dispatcher));
    components.spawn(named("the cleanup", endless(cleanup::run(app.clone()))));
    components.spawn(named(
        "the replanning",
        endless(replanning::run(app.clone())),
    ));
    components.spawn(named(
        "the storage monitor",
        endless(storage_monitor::run(app.clone())),
    ));
    components.spawn(named(
        "the change exchange",
        endless(change_exchange::run(app.clone())),
    ));
    let currencies = endless(currency_check::run(app));
    components.spawn(named("the currency check", currencies));
    components.spawn(named("the reload", endless(reload)));
    let mut failure = None;
    while let Some(ended) = components.join_next().await {
        let (name, result) = ended.unwrap_or_else(|error| ("a component", Err(error.into())));
        if let Err(error) = result {
            tracing::error!(component = name, %error, "component failed");
            failure.get_or_insert(error.context(name));
        } else if !shutdown.is_cancelled() {
            failure.get_or_insert(anyhow::anyhow!("{name} ended by itself"));
        }
        shutdown.cancel();
    }
    spans.shutdown().await;
    failure.map_or(Ok(()), Err)
}

async fn endless(worker: impl Future<Output = ()>) -> anyhow::Result<()> {
    worker.await;
    Ok(())
}

async fn named(
    name: &'static str,
    component: impl Future<Output = anyhow::Result<()>>,
) -> (&'static str, anyhow::Result<()>) {
    (name, component.await)
}

/// The proxy without sockets and without loops. Tests call the router and the steps, and move the clock.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) app: Arc<AppState>,
}

impl Core {
    /// Builds the state; nothing runs yet.
    pub fn new(config: Config, dependencies: Dependencies, shutdown: CancellationToken) -> Self {
        Self {
            app: Arc::new(AppState::new(config, dependencies, shutdown)),
        }
    }

    /// The endpoints for browsers, stores and the gateway, and the pages for stores' staff.
    pub fn router(&self) -> Router {
        // Of merged routers, the last one answers addresses without a route.
        staff_routes(self.app.clone()).merge(routes(self.app.clone()))
    }

    pub(crate) fn admin_router(&self) -> Router {
        admin_routes(self.app.clone())
    }

    /// One step of the payment poller: polls the attempts that are due, as many as run at once, and records the
    /// observations.
    pub async fn poll(&self) {
        payment_poller::poll_once(&self.app).await;
    }

    /// The comparison of this machine's clock with its last reading, each step of which the caller makes.
    pub fn replanning(&self) -> Replanning {
        Replanning::new(self.app.clone())
    }

    /// One step of the webhook dispatcher: delivers the events that are due, to every store as many as run at once, and
    /// records the outcome.
    pub async fn dispatch(&self) {
        webhook_dispatcher::dispatch_once(&self.app).await;
    }

    /// One step of the cleanup: abandons stale attempts and expires orders.
    pub async fn clean_up(&self) {
        cleanup::run_once(&self.app).await;
    }
}
