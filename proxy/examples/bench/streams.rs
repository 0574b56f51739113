//! Open event streams: memory, and the time from a change to the last stream.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::reads::{read_once, status};
use crate::server::{Connection, NOTHING, Server, open_order};

/// Half of them belong to one order, the others to orders with five each.
const STREAMS: usize = 10_000;
const STREAMS_PER_ORDER: usize = 5;
/// Files of this program besides the streams.
const OTHER_FILES: u64 = 100;
const OPENED_AT_ONCE: usize = 100;
/// Changes of the order with most streams.
const CHANGES: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);
/// A stream that is silent for so long after a change has failed.
const LATEST: Duration = Duration::from_secs(20);

const PROMISED_FAN_OUT: Duration = Duration::from_millis(250);
const PROMISED_KIB: u64 = 25;

pub(crate) async fn measure(proxy: &Path) -> anyhow::Result<()> {
    let streams = possible()?;
    let folder = tempfile::tempdir()?;
    let (server, address) = Server::start_proxy(proxy, &folder, NOTHING).await?;
    let tokens = orders(address, streams).await?;
    let before = resident_kib(&server)?;
    let mut opened = Streams::open(address, &tokens).await?;
    let kib = resident_kib(&server)?.saturating_sub(before) / u64::try_from(streams)?;
    let times = fan_out(address, &tokens[0], &mut opened, streams / 2).await?;
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "  {streams} event streams, {} of them of one order",
        streams / 2
    );
    println!("    resident, each: {kib} KiB (promised: ≤ {PROMISED_KIB} KiB)");
    println!(
        "    change to last byte: median {} ms, p99 {} ms (promised: < {} ms)",
        median.as_millis(),
        p99.as_millis(),
        PROMISED_FAN_OUT.as_millis()
    );
    ensure!(
        p99 < PROMISED_FAN_OUT && kib <= PROMISED_KIB,
        "event streams cost more than promised"
    );
    Ok(())
}

/// Opens orders. Returns a token for each stream: half of them of the first order, the others of orders with five streams
/// each.
async fn orders(proxy: SocketAddr, streams: usize) -> anyhow::Result<Vec<String>> {
    let mut tokens = vec![open_order(proxy).await?; streams / 2];
    while tokens.len() < streams {
        let token = open_order(proxy).await?;
        tokens.extend(vec![token; STREAMS_PER_ORDER.min(streams - tokens.len())]);
    }
    Ok(tokens)
}

/// Changes an order again and again; so many of the streams are its own. Returns the times from the request, commit included,
/// to the last byte of each event, in order.
async fn fan_out(
    proxy: SocketAddr,
    token: &str,
    streams: &mut Streams,
    changed: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Connection::open(proxy).await?;
    let mut times = Vec::new();
    for number in 0..CHANGES {
        SystemClock.sleep(PAUSE).await;
        let request = change(proxy, token, number);
        let began = Instant::now();
        let arrivals = async {
            for _ in 0..changed {
                times.push(streams.next().await?.duration_since(began));
            }
            Ok(())
        };
        tokio::try_join!(connection.exchange(&request), arrivals)
            .with_context(|| format!("change {number}"))?;
    }
    times.sort_unstable();
    Ok(times)
}

fn change(proxy: SocketAddr, token: &str, number: usize) -> String {
    let body = serde_json::json!({ "email": format!("buyer-{number}@example.org") }).to_string();
    format!(
        "POST /v1/checkout/email HTTP/1.1\r\nhost: {proxy}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Returns the number of streams that is measured: that of the promise, or as many as this process may have.
fn possible() -> anyhow::Result<usize> {
    let files = florin_proxy::raise_open_files()?;
    let streams = STREAMS.min(usize::try_from(files.saturating_sub(OTHER_FILES))?);
    if streams < STREAMS {
        println!("  this system allows {files} open files, and no more than {streams} streams");
    }
    Ok(streams)
}

struct Streams {
    received: mpsc::UnboundedReceiver<Instant>,
    readers: JoinSet<anyhow::Result<()>>,
}

impl Streams {
    /// Opens a stream for each token; each has got the order once.
    async fn open(address: SocketAddr, tokens: &[String]) -> anyhow::Result<Self> {
        let (events, received) = mpsc::unbounded_channel();
        let readers = JoinSet::new();
        let mut streams = Self { received, readers };
        for some in tokens.chunks(OPENED_AT_ONCE) {
            for token in some {
                let reader = read_stream(address, token.clone(), events.clone());
                streams.readers.spawn(reader);
            }
            for _ in some {
                streams.next().await?;
            }
        }
        Ok(streams)
    }

    async fn next(&mut self) -> anyhow::Result<Instant> {
        let event = async {
            tokio::select! {
                event = self.received.recv() => event.context("no stream is open"),
                Some(ended) = self.readers.join_next() => {
                    ended??;
                    bail!("a stream ended")
                }
            }
        };
        timeout(LATEST, event)
            .await
            .context("an event is missing")?
    }
}

/// Reads a stream; reports when the last byte of each event has come.
async fn read_stream(
    address: SocketAddr,
    token: String,
    events: mpsc::UnboundedSender<Instant>,
) -> anyhow::Result<()> {
    const END: &[u8] = b"\n\n\r\n";
    // Source: RFC 9112, section 7.1: the last chunk. The connection stays open.
    const LAST: &[u8] = b"\r\n0\r\n\r\n";
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "GET /v1/checkout/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut buffer = Vec::with_capacity(2048);
    loop {
        while !buffer.ends_with(END) {
            let is_closed = stream.read_buf(&mut buffer).await? == 0;
            if is_closed || buffer.ends_with(LAST) || buffer == LAST[2..] {
                bail!("a stream ended after {}", String::from_utf8_lossy(&buffer));
            }
        }
        let text = std::str::from_utf8(&buffer)?;
        // Between them come heartbeats.
        for _ in text.matches("event: order") {
            events.send(Instant::now())?;
        }
        buffer.clear();
    }
}

/// Resident KiB. Source: proc(5), `VmRSS` of `/proc/pid/status`.
pub(crate) fn resident_kib(server: &Server) -> anyhow::Result<u64> {
    let path = format!("/proc/{}/status", server.id());
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident
        .and_then(|kib| kib.parse().ok())
        .with_context(|| format!("{path} has no VmRSS"))
}

// What watchers cost the gateway: its calls of GET /invoice for an order that 10,000 pages watch, beside an order that one
// page watches, at the same time.

/// Some twenty polls, each 1.5 seconds after the one before.
const WATCHED_FOR: Duration = Duration::from_millis(32_500);
/// Status reads of the order with most watchers, beside its streams.
const READ_EVERY: Duration = Duration::from_millis(100);

pub(crate) async fn compare_watchers(proxy: &Path, sandbox: &Path) -> anyhow::Result<()> {
    let watchers = possible()?;
    let folder = tempfile::tempdir()?;
    let (gateway, gateway_address, log) = Server::start_sandbox(sandbox, &folder).await?;
    let (server, address) = Server::start_proxy(proxy, &folder, gateway_address).await?;
    let (lonely, crowded) = (open_order(address).await?, open_order(address).await?);
    let few = Streams::open(address, std::slice::from_ref(&lonely)).await?;
    let many = Streams::open(address, &vec![crowded.clone(); watchers]).await?;
    choose(address, &lonely).await?;
    choose(address, &crowded).await?;
    let request = status(&crowded);
    let reads = async {
        loop {
            SystemClock.sleep(READ_EVERY).await;
            read_once(address, &request).await?;
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
    // One may be under way at the end.
    ensure!(
        of_lonely.abs_diff(of_crowded) <= 1,
        "the gateway's calls depend on the number of watchers"
    );
    Ok(())
}

/// Chooses Bitcoin, so that the order has an invoice. Returns its address.
pub(crate) async fn choose(address: SocketAddr, token: &str) -> anyhow::Result<String> {
    let client = reqwest::Client::new();
    let url = |path: &str| format!("http://{address}/v1/checkout/{path}");
    let quotes = client.get(url("quotes")).bearer_auth(token).send().await?;
    let quotes: Value = quotes.error_for_status()?.json().await?;
    let quotes = quotes.as_array().context("a list of quotes")?;
    let bitcoin = quotes.iter().find(|quote| quote["crypto_code"] == "BTC");
    let quote = &bitcoin.context("a quote in BTC")?["quote_id"];
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote });
    let attempt = client.post(url("attempt")).bearer_auth(token).json(&choice);
    let opened = attempt.send().await?.error_for_status()?;
    let opened: Value = opened.json().await?;
    let paid_to = opened["attempt"]["address"].as_str();
    Ok(paid_to.context("an address")?.to_owned())
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
