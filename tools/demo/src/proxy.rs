//! A proxy of the demo: in the process of the demo, or one of several that each have a process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners};
use florin_storage::Database;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) async fn run(
    file: PathBuf,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let config = florin_proxy::config::load(Some(&file), &std::collections::BTreeMap::new());
    let config = config.map_err(|problems| anyhow::anyhow!("its configuration: {problems}"))?;
    let database = Database::open(&config.database_url, config.environment.as_str()).await?;
    let settings = config.gateway.client_settings();
    let client = florin_proxy::gateway_account::client(settings, &database, Arc::new(SystemClock));
    let dependencies = Dependencies {
        storage: database.storage(),
        gateway: Arc::new(client?),
        webhooks: Arc::new(WebhookSender::new()?),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let ended = florin_proxy::run(listeners, config, dependencies, shutdown).await;
    database.close().await;
    ended
}

/// One of several proxies, in a process of the demo.
pub(crate) async fn run_replica(config: PathBuf, listen: &str, admin: &str) -> anyhow::Result<()> {
    let log = tracing_subscriber::fmt().with_ansi(false);
    let Ok(()) = log.try_init() else {
        bail!("another log is in use")
    };
    let shutdown = CancellationToken::new();
    let ended = shutdown.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ended.cancel();
    });
    let bind = async |address: &str| {
        let listener = TcpListener::bind(address).await;
        listener.with_context(|| format!("{address} cannot be opened"))
    };
    let listeners = Listeners {
        public: bind(listen).await?,
        admin: bind(admin).await?,
        public_connections: 1_000,
    };
    run(config, listeners, shutdown).await
}

pub(crate) async fn ready(admin: u16) -> anyhow::Result<()> {
    let url = format!("http://127.0.0.1:{admin}/health/ready");
    let client = reqwest::Client::builder().no_proxy().build()?;
    let is_ready = async || {
        let response = client.get(&url).send().await;
        response.is_ok_and(|response| response.status().is_success())
    };
    let poll = async {
        let mut every = tokio::time::interval(Duration::from_millis(20));
        while !is_ready().await {
            every.tick().await;
        }
    };
    let waited = tokio::time::timeout(START_TIMEOUT, poll).await;
    ensure!(
        waited.is_ok(),
        "the proxy is not ready after {} s",
        START_TIMEOUT.as_secs()
    );
    Ok(())
}
