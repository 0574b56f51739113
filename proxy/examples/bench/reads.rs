//! Status reads and page views per second, beside a bare axum handler that returns the same bytes.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::ensure;
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::server::{Connection, NOTHING, Server, open_order, store_key};

/// Connections that read, each one request after another.
const CONNECTIONS: usize = 32;
/// Rounds; the median of each side counts.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
/// The promises: these shares of the bare handler, in percent.
const PROMISED_READS: u64 = 80;
const PROMISED_VIEWS: u64 = 70;
/// So many views open no order and write nothing.
const VIEWS: u64 = 10_000;
/// The first view fetches prices, which are stored by then. The views of the next round fetch none.
const STORED: Duration = Duration::from_secs(1);

/// Compares status reads. Of the headers the bare handler sends the type alone.
pub(crate) async fn compare(proxy: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (_proxy, address) = Server::start_proxy(proxy, &folder, NOTHING).await?;
    let request = status(&open_order(address).await?);
    let mut response = b"content-type: application/json\r\n\r\n".to_vec();
    response.extend(read_once(address, &request).await?.body());
    let what = ("status reads", PROMISED_READS);
    beside_bare(what, address, &request, &response).await
}

/// Compares views of a product's page. The bare handler sends the same headers.
pub(crate) async fn compare_views(proxy: &Path, sandbox: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (_sandbox, gateway, _) = Server::start_sandbox(sandbox, &folder).await?;
    let (_proxy, address) = Server::start_proxy(proxy, &folder, gateway).await?;
    let view = request("/pay?store=demo&product=ebook", "accept-encoding: br");
    read_once(address, &view).await?;
    SystemClock.sleep(STORED).await;
    let before = database(&folder)?;
    let views = reads_in_a_round(address, &view).await?;
    ensure!(views >= VIEWS, "only {views} views");
    ensure!(database(&folder)? == before, "page views write");
    let authorization = format!("authorization: Bearer {}", store_key());
    for list in ["orders", "events"] {
        let listed = request(&format!("/v1/{list}"), &authorization);
        let listed = read_once(address, &listed).await?;
        let listed: Value = serde_json::from_slice(listed.body())?;
        ensure!(listed[list] == json!([]), "page views leave {listed}");
    }
    println!("  {views} page views: 0 bytes written, 0 orders, 0 events");
    let seen = read_once(address, &view).await?;
    let what = ("page views", PROMISED_VIEWS);
    beside_bare(what, address, &view, seen.response()).await
}

/// Sizes of the database's files, and when they were written.
fn database(folder: &TempDir) -> anyhow::Result<[(u64, SystemTime); 2]> {
    let state = |name: &str| {
        let file = std::fs::metadata(folder.path().join(name))?;
        anyhow::Ok((file.len(), file.modified()?))
    };
    Ok([state("florin.db")?, state("florin.db-wal")?])
}

/// Prints how often both are read, and fails if the share of the bare handler's is less than promised, in percent.
async fn beside_bare(
    (what, promised): (&str, u64),
    address: SocketAddr,
    request: &str,
    response: &[u8],
) -> anyhow::Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), response)?;
    let (bare, bare_address) = Server::start_bare(file.path())?;
    let bare_body = read_once(bare_address, request).await?.body().to_vec();
    ensure!(response.ends_with(&bare_body), "the bytes are others");
    let (mut ours, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(reads_in_a_round(address, request).await? / ROUND.as_secs());
        baseline.push(reads_in_a_round(bare_address, request).await? / ROUND.as_secs());
    }
    drop(bare);
    let (ours, baseline) = (median(ours), median(baseline));
    let (share, bytes) = (ours * 100 / baseline, bare_body.len());
    println!("  {what} of {bytes} bytes, {CONNECTIONS} connections");
    println!("    proxy               {ours:>8} per second");
    println!("    bare axum handler   {baseline:>8} per second");
    println!("    share               {share:>7} %   promised ≥ {promised} %");
    ensure!(
        share >= promised,
        "{what} are slower than {promised} % of a bare handler"
    );
    Ok(())
}

pub(crate) fn status(token: &str) -> String {
    request("/v1/checkout", &format!("authorization: Bearer {token}"))
}

/// Whole but for the host.
fn request(path: &str, header: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{header}\r\n")
}

/// The connection holds the response.
pub(crate) async fn read_once(address: SocketAddr, request: &str) -> anyhow::Result<Connection> {
    let mut connection = Connection::open(address).await?;
    let request = format!("{request}host: {address}\r\n\r\n");
    connection.exchange(&request).await?;
    Ok(connection)
}

async fn reads_in_a_round(address: SocketAddr, request: &str) -> anyhow::Result<u64> {
    let end = Instant::now() + ROUND;
    let mut readers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = format!("{request}host: {address}\r\n\r\n");
        readers.spawn(async move {
            let (mut connection, mut reads) = (Connection::open(address).await?, 0_u64);
            while Instant::now() < end {
                connection.exchange(&request).await?;
                reads += 1;
            }
            anyhow::Ok(reads)
        });
    }
    let mut reads = 0;
    while let Some(result) = readers.join_next().await {
        reads += result??;
    }
    Ok(reads)
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
