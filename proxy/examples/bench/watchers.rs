//! What watchers cost the gateway: its calls of GET /invoice for an order that 10,000 pages watch, beside an order that one
//! page watches, at the same time.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::reads::read_once;
use crate::server::{Server, open_order};
use crate::streams::{Streams, possible};

/// Six polls at the interval of five seconds, and half an interval.
const WATCHED_FOR: Duration = Duration::from_millis(32_500);
/// Status reads of the order with most watchers, beside its streams.
const READ_EVERY: Duration = Duration::from_millis(100);

/// Compares the two orders.
pub(crate) async fn compare(proxy: &Path, sandbox: &Path) -> anyhow::Result<()> {
    let watchers = possible()?;
    let folder = tempfile::tempdir()?;
    let (gateway, gateway_address, log) = Server::start_sandbox(sandbox, &folder).await?;
    let (server, address) = Server::start_proxy_with(proxy, &folder, gateway_address).await?;
    let (lonely, crowded) = (open_order(address).await?, open_order(address).await?);
    let few = Streams::open(address, std::slice::from_ref(&lonely)).await?;
    let many = Streams::open(address, &vec![crowded.clone(); watchers]).await?;
    choose(address, &lonely).await?;
    choose(address, &crowded).await?;
    let reads = async {
        loop {
            SystemClock.sleep(READ_EVERY).await;
            read_once(address, &crowded).await?;
        }
    };
    let read: anyhow::Result<()> = tokio::select! {
        failed = reads => failed,
        () = SystemClock.sleep(WATCHED_FOR) => Ok(()),
    };
    read?;
    let calls = std::fs::read_to_string(&log)?;
    drop((few, many, server, gateway));
    let (of_lonely, of_crowded) = polls(&calls)?;
    println!(
        "  calls of GET /invoice at the gateway in {} s",
        WATCHED_FOR.as_secs()
    );
    println!("    1 watcher           {of_lonely:>8}");
    println!("    {watchers:<6} watchers     {of_crowded:>8}   promised: as many");
    ensure!(
        of_lonely > 2,
        "the order was not polled while it was watched"
    );
    ensure!(
        of_lonely == of_crowded,
        "the gateway's calls depend on the number of watchers"
    );
    Ok(())
}

/// Chooses Bitcoin, so that the order has an invoice.
async fn choose(address: SocketAddr, token: &str) -> anyhow::Result<()> {
    let client = reqwest::Client::new();
    let url = |path: &str| format!("http://{address}/v1/checkout/{path}");
    let quotes = client.get(url("quotes")).bearer_auth(token).send().await?;
    let quotes: Value = quotes.error_for_status()?.json().await?;
    let quotes = quotes.as_array().context("a list of quotes")?;
    let bitcoin = quotes.iter().find(|quote| quote["crypto_code"] == "BTC");
    let quote = &bitcoin.context("a quote in BTC")?["quote_id"];
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote });
    let attempt = client.post(url("attempt")).bearer_auth(token).json(&choice);
    attempt.send().await?.error_for_status()?;
    Ok(())
}

/// The polls of the two invoices, in the order in which they were made. The sandbox's log has a line for each call.
fn polls(log: &str) -> anyhow::Result<(usize, usize)> {
    let calls: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let path = |call: &Value| call["path"].as_str().unwrap_or_default().to_owned();
    let is = |call: &&Value, method: &str| call["kind"] == "request" && call["method"] == method;
    let made = calls
        .iter()
        .filter(|call| is(call, "POST") && path(call) == "/invoice")
        .filter_map(|call| call["response"]["invoice_id"].as_str());
    let made: Vec<&str> = made.collect();
    let [first, second] = made[..] else {
        anyhow::bail!("two invoices are made, not {}", made.len());
    };
    let polls = |id: &str| {
        let gets = calls.iter().filter(|call| is(call, "GET"));
        gets.filter(|call| path(call).starts_with("/invoice?") && path(call).contains(id))
            .count()
    };
    Ok((polls(first), polls(second)))
}
