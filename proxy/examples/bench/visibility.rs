//! How long a payment that the gateway knows stays unseen on an open page, with room in the gateway's limits and without.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::server::{Server, open_order};
use crate::streams::choose;

/// Open pages at a time; ten requests a second are enough for the first number, each page asking each 1.5 seconds.
const PAGES: [usize; 2] = [5, 40];
/// Payments of each number.
const PAYMENTS: usize = 40;
/// Between two payments: no multiple of the time between two polls.
const PAUSE: Duration = Duration::from_millis(370);
/// By then the pauses between polls are adjusted to the limits.
const SETTLES: [Duration; 2] = [Duration::from_secs(2), Duration::from_mins(1)];
const LATEST: Duration = Duration::from_mins(1);

const PROMISED_MEDIAN: Duration = Duration::from_secs(1);
const PROMISED_WORST: Duration = Duration::from_secs(2);

pub(crate) async fn measure(proxy: &Path, sandbox: &Path) -> anyhow::Result<()> {
    println!("  from a payment at the gateway to its event on an open page");
    for (pages, settles) in PAGES.into_iter().zip(SETTLES) {
        let folder = tempfile::tempdir()?;
        let (gateway, gateway_address, _) = Server::start_sandbox(sandbox, &folder).await?;
        let (server, address) = Server::start_proxy(proxy, &folder, gateway_address).await?;
        let mut times = Vec::new();
        while times.len() < PAYMENTS {
            times.extend(pay(address, gateway_address, pages, settles).await?);
        }
        drop((server, gateway));
        times.sort_unstable();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!(
            "    {pages:<3} pages: median {} ms, worst {} ms",
            median.as_millis(),
            worst.as_millis()
        );
        if pages == PAGES[0] {
            println!("      promised: 1 s and 2 s");
            ensure!(
                median <= PROMISED_MEDIAN && worst <= PROMISED_WORST,
                "a payment stays unseen for longer than promised"
            );
        }
    }
    Ok(())
}

/// Opens orders with a page each, and pays one after the other.
async fn pay(
    proxy: SocketAddr,
    gateway: SocketAddr,
    pages: usize,
    settles: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let (mut watchers, mut orders) = (JoinSet::new(), Vec::new());
    for _ in 0..pages {
        let token = open_order(proxy).await?;
        let paid_to = choose(proxy, &token).await?;
        let (paid, paid_at) = oneshot::channel();
        watchers.spawn(async move {
            let seen = timeout(LATEST + settles, seen_at(proxy, token)).await??;
            anyhow::Ok(seen.duration_since(paid_at.await?))
        });
        orders.push((paid_to, paid));
    }
    SystemClock.sleep(settles).await;
    let client = reqwest::Client::new();
    let url = |path: &str| format!("http://{gateway}/sandbox/{path}");
    let invoices: Vec<Value> = client.get(url("invoices")).send().await?.json().await?;
    for (paid_to, paid) in orders {
        let invoice = invoices
            .iter()
            .find(|invoice| invoice["address"] == paid_to);
        let id = invoice.and_then(|invoice| invoice["id"].as_str());
        let path = format!("invoices/{}/pay", id.context("the address has an invoice")?);
        let payment = client.post(url(&path)).json(&json!({ "amount": "exact" }));
        payment.send().await?.error_for_status()?;
        let _ = paid.send(Instant::now());
        SystemClock.sleep(PAUSE).await;
    }
    watchers.join_all().await.into_iter().collect()
}

/// Watches an order until its stream shows a payment.
async fn seen_at(proxy: SocketAddr, token: String) -> anyhow::Result<Instant> {
    let mut stream = TcpStream::connect(proxy).await?;
    let head = format!(
        "GET /v1/checkout/events HTTP/1.1\r\nhost: {proxy}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut received = Vec::new();
    loop {
        ensure!(stream.read_buf(&mut received).await? > 0, "a stream ended");
        if String::from_utf8_lossy(&received).contains("\"confirmations\":") {
            return Ok(Instant::now());
        }
    }
}
