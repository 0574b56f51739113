//! The program's server: API, hosted page, health and metrics; the followers of the chains beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use florin_money::{Amount, CryptoCode, Currency, Rounding};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::api::request::Call;
use crate::api::respond;
use crate::callback::send_callbacks;
use crate::chain::Chain;
use crate::clock::{Clock, SystemClock, every, random_bytes};
use crate::config::Config;
use crate::database::Database;
use crate::gateway::{Event, Gateway, Observer, Parts, Random};
use crate::hosted;
use crate::prices::{PriceSource, whole};
use crate::rates::{self, Rates};
use crate::wire::Status;

/// Between two looks at a chain.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
const SESSION_INTERVAL: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(5);

/// The fact of the database that names its network.
const NETWORK: &str = "network";

/// Opens the database of a configuration.
///
/// # Errors
/// It cannot be opened, is of another network, or has addresses of another key.
pub async fn open_database(config: &Config) -> anyhow::Result<Database> {
    let database = Database::open(config.database_url()).await?;
    let network = config.network.into();
    match database.fact(NETWORK).await? {
        None => database.set_fact(NETWORK, network).await?,
        Some(other) if other != network => anyhow::bail!(
            "the database is of the network {other}, and the configuration says {network}: name another database"
        ),
        Some(_) => {}
    }
    for chain in &config.chain {
        let key = chain.deposit_key(config.network)?;
        database.add_chain(chain.name, &key.address(0)).await?;
    }
    Ok(database)
}

/// The prices of the sources, by this machine's clock.
#[derive(Debug)]
struct CurrentRates(Arc<Rates>);

impl PriceSource for CurrentRates {
    fn usd_price(&self, code: &CryptoCode) -> Option<Amount> {
        let hundred = whole(100);
        let asked = hundred.checked_add(self.0.options().markup_percent).ok()?;
        let price = self.0.usd_price(code, SystemClock.now())?;
        // A lower price of the asset: the customer sends more of it.
        price.mul_div(hundred, asked, 8, Rounding::Down).ok()
    }

    fn per_usd(&self, currency: Currency) -> Option<Amount> {
        self.0.local_per_usd(currency, SystemClock.now())
    }
}

/// Ids that cannot be guessed.
#[derive(Debug)]
struct OsRandom;

impl Random for OsRandom {
    fn draw(&self, _: &str, _: u64) -> [u8; 32] {
        random_bytes()
    }
}

/// Counts for `/metrics`.
#[derive(Debug, Default)]
struct Counts {
    completed: AtomicU64,
    failed: AtomicU64,
    callbacks: AtomicU64,
    callback_failures: AtomicU64,
}

impl Observer for Counts {
    fn observe(&self, event: Event<'_>) {
        let counted = match event {
            Event::Status(change) => {
                let (invoice_id, from, to) =
                    (&change.invoice_id, change.from.as_str(), change.to.as_str());
                tracing::info!(invoice_id, from, to, "invoice changed");
                match change.to {
                    Status::Completed => &self.completed,
                    Status::Failed => &self.failed,
                    _ => return,
                }
            }
            Event::Callback(tried) if tried.rejection.is_some() => &self.callback_failures,
            Event::Callback(_) => &self.callbacks,
            Event::Chosen(_) => return,
        };
        counted.fetch_add(1, Ordering::Relaxed);
    }
}

/// The rates of a configuration.
///
/// # Errors
/// A pair has too few sources.
pub fn rates_of(config: &Config) -> anyhow::Result<Arc<Rates>> {
    let options = config.options();
    let symbols = options.coins.iter().map(|coin| coin.symbol.as_str());
    let rates = Rates::new(config.prices.clone(), symbols, options.local_currency)?;
    Ok(Arc::new(rates))
}

/// The gateway of a configuration, and the rates to poll.
async fn build(config: &Config) -> anyhow::Result<(Arc<Gateway>, Arc<Rates>, Arc<Counts>)> {
    let database = open_database(config).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut drivers = BTreeMap::new();
    for chain in &config.chain {
        drivers.insert(chain.name, chain.driver(config.network)?);
    }
    let options = config.options();
    let rates = rates_of(config)?;
    let counts = Arc::new(Counts::default());
    let parts = Parts {
        database,
        drivers,
        price_source: Arc::new(CurrentRates(rates.clone())),
        clock,
        random: Arc::new(OsRandom),
        observer: counts.clone(),
    };
    Ok((Arc::new(Gateway::new(options, parts)), rates, counts))
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// The database, a listener or a key cannot be used.
pub async fn run(config: Config) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    cancel_on_signal(shutdown.clone())?;
    serve_until(config, shutdown).await
}

/// Serves until `shutdown` is cancelled.
///
/// # Errors
/// As [`run`].
pub async fn serve_until(config: Config, shutdown: CancellationToken) -> anyhow::Result<()> {
    let (gateway, rates, counts) = build(&config).await?;
    let public = bind(config.listen).await?;
    let admin = bind(config.admin_listen).await?;
    let client = rates::http_client()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let followers = gateway
        .chains()
        .map(|chain| follow(&gateway, chain, &shutdown));
    let followers = futures_util::future::join_all(followers);
    tracing::info!(
        "listening on {}, health and metrics on {}",
        config.listen,
        config.admin_listen
    );
    let api = Router::new()
        .route("/api/{*path}", any(answer))
        .merge(hosted::routes())
        .with_state(gateway.clone());
    let health = Router::new()
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .with_state(Arc::new(Admin {
            gateway: gateway.clone(),
            rates: rates.clone(),
            counts,
        }));
    let (public, admin, _, (), (), ()) = tokio::join!(
        serve(public, api, &shutdown),
        serve(admin, health, &shutdown),
        followers,
        expire_sessions(&gateway, &shutdown),
        send_callbacks(gateway.clone(), client.clone(), shutdown.clone()),
        rates::poll(client, rates, clock, shutdown.clone()),
    );
    public.and(admin)
}

async fn bind(address: std::net::SocketAddr) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.with_context(|| format!("cannot listen on {address}"))
}

/// A server that ends by an error ends the others.
async fn serve(
    listener: TcpListener,
    app: Router,
    shutdown: &CancellationToken,
) -> anyhow::Result<()> {
    let stop = shutdown.clone().cancelled_owned();
    let served = axum::serve(listener, app).with_graceful_shutdown(stop);
    let served = tokio::select! {
        served = async { served.await } => served,
        () = grace(shutdown, GRACE) => Ok(()),
    };
    shutdown.cancel();
    served.context("the listener failed")
}

/// Ends some time after the shutdown begins, which open requests have.
pub async fn grace(shutdown: &CancellationToken, duration: Duration) {
    shutdown.cancelled().await;
    let never = core::future::pending::<()>();
    let _elapsed = tokio::time::timeout(duration, never).await;
}

async fn answer(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let call = Call::read(&parts, body).await;
    // A caller who leaves does not cut a transaction off.
    let served = tokio::spawn(async move { respond(&gateway, &call, gateway.now()).await });
    let failed = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    served.await.unwrap_or_else(failed)
}

/// Reads a chain again and again. A failing look is logged by the gateway, once.
async fn follow(gateway: &Gateway, chain: Chain, shutdown: &CancellationToken) {
    every(LOOK_INTERVAL, shutdown, || async {
        let _logged = gateway.look(chain).await;
    })
    .await;
}

async fn expire_sessions(gateway: &Gateway, shutdown: &CancellationToken) {
    every(SESSION_INTERVAL, shutdown, || async {
        if let Err(error) = gateway.expire_sessions().await {
            tracing::error!("{error}");
        }
    })
    .await;
}

/// What the admin listener shows.
struct Admin {
    gateway: Arc<Gateway>,
    rates: Arc<Rates>,
    counts: Arc<Counts>,
}

/// 200 while every chain can be read and the database answers; 503 with what is wrong. Prices that are refused are
/// named.
async fn health(State(admin): State<Arc<Admin>>) -> Response {
    let gateway = &admin.gateway;
    let failing = gateway.failing();
    let database = gateway.database().count_invoices().await.err();
    let is_well = failing.is_empty() && database.is_none();
    let chains: BTreeMap<_, _> = failing
        .iter()
        .map(|(chain, why)| (chain.as_str(), why))
        .collect();
    let verdicts = admin.rates.verdicts(gateway.now()).into_iter();
    let refused = verdicts.filter_map(|(pair, verdict)| Some((pair, verdict.err()?)));
    let refused: BTreeMap<_, _> = refused
        .map(|(pair, why)| (pair.to_string(), why.to_string()))
        .collect();
    let body = json!({
        "status": if is_well { "ok" } else { "failing" },
        "chains": chains,
        "database": database.map(|error| error.to_string()),
        "prices": refused,
    });
    let status = if is_well {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(body)).into_response()
}

/// The text format of Prometheus.
async fn metrics(State(admin): State<Arc<Admin>>) -> Result<String, StatusCode> {
    let (gateway, counts) = (&admin.gateway, &admin.counts);
    let failed = |_| StatusCode::SERVICE_UNAVAILABLE;
    let mut text = String::new();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let invoices = gateway.database().count_invoices().await.map_err(failed)?;
    let unclaimed = gateway.database().count_unclaimed().await.map_err(failed)?;
    for (name, kind, value) in [
        (
            "florin_gateway_invoices_completed_total",
            "counter",
            count(&counts.completed),
        ),
        (
            "florin_gateway_invoices_failed_total",
            "counter",
            count(&counts.failed),
        ),
        (
            "florin_gateway_callbacks_total",
            "counter",
            count(&counts.callbacks),
        ),
        (
            "florin_gateway_callback_failures_total",
            "counter",
            count(&counts.callback_failures),
        ),
        ("florin_gateway_invoices", "gauge", invoices),
        ("florin_gateway_unclaimed_addresses", "gauge", unclaimed),
    ] {
        let _infallible = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
    }
    let _infallible = writeln!(text, "# TYPE florin_gateway_price_up gauge");
    for (pair, verdict) in admin.rates.verdicts(gateway.now()) {
        let up = u8::from(verdict.is_ok());
        let _infallible = writeln!(text, "florin_gateway_price_up{{pair=\"{pair}\"}} {up}");
    }
    let failing = gateway.failing();
    let _infallible = writeln!(text, "# TYPE florin_gateway_chain_up gauge");
    for chain in gateway.chains() {
        let up = u8::from(!failing.contains_key(&chain));
        let name = chain.as_str();
        let _infallible = writeln!(text, "florin_gateway_chain_up{{chain=\"{name}\"}} {up}");
        if let Some(tip) = gateway.database().tip(chain).await.map_err(failed)? {
            let (height, time) = (tip.height, tip.time.as_second());
            let _infallible = writeln!(
                text,
                "florin_gateway_chain_height{{chain=\"{name}\"}} {height}\n\
                 florin_gateway_chain_tip_time_seconds{{chain=\"{name}\"}} {time}"
            );
        }
    }
    Ok(text)
}

/// Begins the shutdown at SIGTERM or SIGINT.
///
/// # Errors
/// The signals cannot be handled.
pub fn cancel_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be handled")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be handled")?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        shutdown.cancel();
    });
    Ok(())
}
