//! Status reads per second, beside a bare axum handler that returns the same bytes.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::server::{Connection, NOTHING, Server, open_order};

/// Connections that read, each one request after another.
const CONNECTIONS: usize = 32;
/// Rounds; the median of each side counts.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
/// The promise: this share of the bare handler, in percent.
const PROMISED: u64 = 80;

pub(crate) async fn compare(proxy: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (proxy, address) = Server::start_proxy(proxy, &folder, NOTHING).await?;
    let token = open_order(address).await?;
    let view = read_once(address, &token).await?;
    let file = folder.path().join("view.json");
    std::fs::write(&file, &view)?;
    let (bare, bare_address) = Server::start_bare(&file)?;
    ensure!(read_once(bare_address, &token).await?.len() == view.len());
    let (mut ours, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(reads_per_second(address, &token).await?);
        baseline.push(reads_per_second(bare_address, &token).await?);
    }
    drop((proxy, bare));
    let (ours, baseline) = (median(ours), median(baseline));
    let share = ours * 100 / baseline;
    println!(
        "  status reads of {} bytes, {CONNECTIONS} connections",
        view.len()
    );
    println!("    proxy               {ours:>8} per second");
    println!("    bare axum handler   {baseline:>8} per second");
    println!("    share               {share:>7} %   promised ≥ {PROMISED} %");
    ensure!(
        share >= PROMISED,
        "status reads are slower than {PROMISED} % of a bare handler"
    );
    Ok(())
}

pub(crate) async fn read_once(address: SocketAddr, token: &str) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    connection.exchange(&request(address, token)).await?;
    Ok(connection.body().to_vec())
}

fn request(address: SocketAddr, token: &str) -> String {
    format!("GET /v1/checkout HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n")
}

async fn reads_per_second(address: SocketAddr, token: &str) -> anyhow::Result<u64> {
    let request = request(address, token);
    let end = Instant::now() + ROUND;
    let mut readers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.clone();
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
    Ok(reads / ROUND.as_secs())
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
