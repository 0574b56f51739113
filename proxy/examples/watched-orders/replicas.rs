//! Three proxies on one PostgreSQL: how long a change through one takes to the streams of the others, idle and under load.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use florin_postgres::{Durability, PostgresServer};
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::connection::Connection;
use crate::server::{Server, open_order};
use crate::streams::Streams;

pub(crate) const PROXIES: usize = 3;
const DATABASE: &str = "florin";
/// Changes of the order with a stream at each other proxy.
const WAKE_UPS: usize = 200;
/// Between two of them: longer than a proxy collects announcements.
const WAKE_UP_PAUSE: Duration = Duration::from_millis(50);
/// Clients that open orders through all proxies, without a pause.
const CLIENTS: usize = 16;
/// They have opened orders for so long before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);

/// Promised: from the request that changes an order, commit included, to the last byte of the event, under load.
const PROMISED_WAKE_UP: Duration = Duration::from_millis(250);

/// The proxies. Dropping them kills them.
pub(crate) struct Replicas {
    pub(crate) servers: Vec<Server>,
    pub(crate) addresses: Vec<SocketAddr>,
    folders: Vec<TempDir>,
    /// Kept because dropping it stops the server.
    _database: PostgresServer,
}

impl Replicas {
    pub(crate) async fn start(program: &Path) -> anyhow::Result<Self> {
        let database = PostgresServer::start(Durability::Full)?;
        database.create_database(DATABASE, None)?;
        let url = database.url(DATABASE);
        florin_storage::migrate_postgres(&url, "test").await?;
        let nothing = SocketAddr::from(([127, 0, 0, 1], 9));
        let mut replicas = Self {
            servers: Vec::new(),
            addresses: Vec::new(),
            folders: Vec::new(),
            _database: database,
        };
        for _ in 0..PROXIES {
            let folder = tempfile::tempdir()?;
            let started = Server::start_proxy_on(program, &folder, nothing, &url).await?;
            replicas.servers.push(started.0);
            replicas.addresses.push(started.1);
            replicas.folders.push(folder);
        }
        Ok(replicas)
    }
}

/// Measures and prints.
pub(crate) async fn measure(proxy: &Path) -> anyhow::Result<()> {
    let replicas = Replicas::start(proxy).await?;
    let idle = wake_ups(&replicas.addresses).await?;
    let (loaded, opened) = {
        let mut load = JoinSet::new();
        for client in 0..CLIENTS {
            load.spawn(open_orders(replicas.addresses[client % PROXIES]));
        }
        SystemClock.sleep(WARM_UP).await;
        let began = Instant::now();
        let loaded = tokio::select! {
            loaded = wake_ups(&replicas.addresses) => loaded?,
            Some(failed) = load.join_next() => {
                failed??;
                unreachable!("a client opens orders until it fails")
            }
        };
        load.shutdown().await;
        (loaded, began.elapsed())
    };
    println!(
        "  {PROXIES} proxies on one PostgreSQL, {WAKE_UPS} changes through one, a stream at each other"
    );
    print("idle", &idle, "");
    print(
        &format!(
            "while {CLIENTS} clients open orders for {} s",
            opened.as_secs()
        ),
        &loaded,
        &format!("p99 < {} ms", PROMISED_WAKE_UP.as_millis()),
    );
    ensure!(
        p99(&loaded) < PROMISED_WAKE_UP,
        "a change reaches the streams of other proxies later than promised"
    );
    Ok(())
}

pub(crate) fn p99(times: &[Duration]) -> Duration {
    times[times.len() * 99 / 100]
}

fn print(what: &str, times: &[Duration], promised: &str) {
    let ms = |time: Duration| format!("{}.{} ms", time.as_millis(), time.as_micros() / 100 % 10);
    println!(
        "    {what:<44}median {:>10}  p99 {:>10}  {promised}",
        ms(times[times.len() / 2]),
        ms(p99(times)),
    );
}

/// Times from a change through the first proxy to a stream at each other one, in order.
async fn wake_ups(addresses: &[SocketAddr]) -> anyhow::Result<Vec<Duration>> {
    let (first, others) = addresses.split_first().context("there are proxies")?;
    let token = open_order(*first).await?;
    let mut streams = Vec::new();
    for other in others {
        streams.push(Streams::open(*other, std::slice::from_ref(&token)).await?);
    }
    let mut connection = Connection::open(*first).await?;
    let mut times = Vec::new();
    for number in 0..WAKE_UPS {
        SystemClock.sleep(WAKE_UP_PAUSE).await;
        let request = change(*first, &token, number);
        let began = Instant::now();
        let arrivals = async {
            for stream in &mut streams {
                times.push(stream.next().await?.duration_since(began));
            }
            Ok(())
        };
        tokio::try_join!(connection.exchange(&request, 200), arrivals)?;
    }
    times.sort_unstable();
    Ok(times)
}

/// The request that changes an order.
pub(crate) fn change(address: SocketAddr, token: &str, number: usize) -> String {
    let body = json!({ "email": format!("buyer-{number}@example.org") });
    post(
        address,
        "/v1/checkout/email",
        Some(token),
        &body.to_string(),
    )
}

fn post(address: SocketAddr, path: &str, token: Option<&str>, body: &str) -> String {
    let authorization = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\n{}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        authorization.unwrap_or_default(),
        body.len()
    )
}

/// Opens orders one after the other, until it fails.
async fn open_orders(address: SocketAddr) -> anyhow::Result<()> {
    let mut connection = Connection::open(address).await?;
    let body = json!({ "store": "demo", "product": "ebook" }).to_string();
    let request = post(address, "/v1/checkout", None, &body);
    loop {
        connection.exchange(&request, 201).await?;
    }
}
