//! Running the proxy: two listeners, the workers, and an orderly shutdown.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admin::admin_routes;
use crate::config::{Config, Problems};
use crate::connection_slots::{ConnectionLimits, Slots};
use crate::http::connections::{Server, Timeouts, serve};
use crate::http::middleware::counted_address;
use crate::http::router::routes;
use crate::staff::staff_routes;
use crate::state::{AppState, Dependencies};
use crate::workers::replanning::{self, Replanning};
use crate::workers::{self, change_exchange, payment_poller, storage_monitor, webhook_dispatcher};

/// Connections that one address may have at once: a browser has up to six to a host, and many customers may share an address.
const CONNECTIONS_PER_ADDRESS: usize = 200;

/// The sockets, bound by the caller, who knows the ports.
#[derive(Debug)]
pub struct Listeners {
    pub public: TcpListener,
    pub admin: TcpListener,
    /// How many connections the public listener may hold. See [`public_connections`].
    pub public_connections: usize,
}

/// What reads the configuration again, for [`run`].
pub type Reloads = mpsc::Receiver<Result<Config, Problems>>;

/// Serves until `shutdown` is cancelled; then accepts nothing new, ends streams and finishes requests in flight. Puts each
/// checked configuration of `reloads` in force, unless it changes what needs a restart.
///
/// # Errors
/// If a component ends by itself: the process should exit with a failing code and be restarted.
pub async fn run(
    listeners: Listeners,
    config: Config,
    dependencies: Dependencies,
    shutdown: CancellationToken,
    reloads: Option<Reloads>,
) -> anyhow::Result<()> {
    let core = Core::new(config, dependencies, shutdown.clone());
    if core.app.storage.has_other_writers() {
        change_exchange::keep_static_files(&core.app).await;
    }
    // The dispatcher tries it again.
    let _ = webhook_dispatcher::set_webhooks(&core.app).await;
    let mut components = JoinSet::new();
    let mut start = |name: &'static str, component: BoxFuture<'static, ()>| {
        components.spawn(component.map(move |()| name));
    };
    let counting = core.app.clone();
    let slots = Slots::new(ConnectionLimits {
        all: listeners.public_connections,
        per_address: CONNECTIONS_PER_ADDRESS,
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
    start(
        "the public listener",
        serve(public, shutdown.clone()).boxed(),
    );
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
    start("the admin listener", serve(admin, shutdown.clone()).boxed());
    let app = core.app;
    let spans = app.spans.clone();
    let workers: [(&str, BoxFuture<'static, ()>); 8] = [
        (
            "the payment poller",
            payment_poller::run(app.clone()).boxed(),
        ),
        (
            "the webhook dispatcher",
            webhook_dispatcher::run(app.clone()).boxed(),
        ),
        ("the cleanup", workers::run_cleanup(app.clone()).boxed()),
        ("the replanning", replanning::run(app.clone()).boxed()),
        (
            "the storage monitor",
            storage_monitor::run(app.clone()).boxed(),
        ),
        (
            "the change exchange",
            change_exchange::run(app.clone()).boxed(),
        ),
        (
            "the currency check",
            workers::run_currency_check(app.clone()).boxed(),
        ),
        ("the reload", apply_reloads(app, reloads).boxed()),
    ];
    for (name, worker) in workers {
        start(name, worker);
    }
    let mut failure = None;
    while let Some(ended) = components.join_next().await {
        match ended {
            Ok(_) if shutdown.is_cancelled() => {}
            Ok(name) => {
                failure.get_or_insert(anyhow::anyhow!("{name} ended by itself"));
            }
            Err(error) => {
                tracing::error!(%error, "component failed");
                failure.get_or_insert(anyhow::Error::from(error).context("a component"));
            }
        }
        shutdown.cancel();
    }
    spans.shutdown().await;
    failure.map_or(Ok(()), Err)
}

async fn apply_reloads(app: Arc<AppState>, reloads: Option<Reloads>) {
    let reloads = async {
        if let Some(mut reloads) = reloads {
            while let Some(loaded) = reloads.recv().await {
                app.reload(loaded);
            }
        }
        std::future::pending::<()>().await;
    };
    app.shutdown.run_until_cancelled(reloads).await;
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
        workers::clean_up_once(&self.app).await;
    }
}

/// Enough for [`MAX_CONNECTIONS`]; some systems have no upper limit.
const OPEN_FILES: u64 = 65_536;
/// For the database, the gateway, the listeners and the log.
const RESERVED_FILES: u64 = 128;
/// For the deliveries in flight to one webhook, and the lookup of its host name.
const RESERVED_FILES_PER_WEBHOOK: u64 = 8;
const ADMIN_CONNECTIONS: usize = 64;
/// The connections of the public listener. One takes about 20 KiB while it waits for a request.
const MAX_CONNECTIONS: u64 = 16_384;

/// Raises the soft limit of the files that the process may open, sockets included, to the hard one. Returns the limit in force.
///
/// # Errors
/// If the system refuses to raise the limit.
pub fn raise_open_files() -> anyhow::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= allowed {
        return Ok(current);
    }
    limit.current = Some(allowed);
    setrlimit(Resource::Nofile, limit)
        .with_context(|| format!("cannot raise the limit of open files to {allowed}"))?;
    Ok(allowed)
}

/// Returns how many connections the public listener may hold, so that enough files are left for everything else.
pub fn public_connections(open_files: u64, webhooks: usize) -> usize {
    let webhooks = u64::try_from(webhooks).unwrap_or(u64::MAX);
    let admin = u64::try_from(ADMIN_CONNECTIONS).unwrap_or(u64::MAX);
    let reserved = webhooks
        .saturating_mul(RESERVED_FILES_PER_WEBHOOK)
        .saturating_add(RESERVED_FILES + admin);
    let left = open_files.saturating_sub(reserved).max(open_files / 4);
    usize::try_from(left.min(MAX_CONNECTIONS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_reserved_for_everything_but_customers() {
        for (files, stores, connections) in [
            (1_024, 1, 824),
            (1_024, 10, 752),
            (65_536, 1, 16_384),
            // A low limit leaves some.
            (256, 1, 64),
            (1_024, usize::MAX, 256),
        ] {
            assert_eq!(public_connections(files, stores), connections);
        }
    }

    #[test]
    fn the_limit_is_raised_to_the_highest_allowed() {
        let raised = raise_open_files().unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current.unwrap_or(u64::MAX), raised);
        let allowed = limit.maximum.unwrap_or(OPEN_FILES);
        assert!(raised >= allowed.min(OPEN_FILES), "{raised} of {allowed}");
    }
}
