//! `bench`: what the proxy costs, as it is released. `cargo xtask bench` builds all that it needs and runs it.
//!
//! ```text
//! bench idle PROXY SANDBOX       time to start, and memory when idle
//! bench reads PROXY SANDBOX      status reads per second, beside a bare axum router with the same bytes
//! bench views PROXY SANDBOX      page views per second, beside the same; and that they open and write nothing
//! bench streams PROXY SANDBOX    memory and fan-out of event streams
//! bench watchers PROXY SANDBOX   calls of the gateway for an order that many pages watch
//! bench payments PROXY SANDBOX   time until an open page shows a payment
//! ```

mod reads;
mod server;
mod streams;
mod visibility;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use tokio::time::Instant;

use crate::server::{Connection, Server};
use crate::streams::resident_kib;

#[tokio::main]
async fn main() -> ExitCode {
    // Fails only when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> anyhow::Result<()> {
    // It starts itself.
    if let [server::BARE, file] = *words {
        return server::serve(Path::new(file)).await;
    }
    let [what, proxy, sandbox] = *words else {
        bail!("use `bench WHAT PROXY SANDBOX`");
    };
    let (proxy, sandbox) = (Path::new(proxy), Path::new(sandbox));
    match what {
        "idle" => measure_idle(proxy, sandbox).await,
        "reads" => reads::compare(proxy).await,
        "views" => reads::compare_views(proxy, sandbox).await,
        "streams" => streams::measure(proxy).await,
        "watchers" => streams::compare_watchers(proxy, sandbox).await,
        "payments" => visibility::measure(proxy, sandbox).await,
        _ => bail!("there is no `{what}` to measure"),
    }
}

// How long the proxy takes to start, and how much memory it occupies when idle.

const PROMISED_KIB: u64 = 20 * 1024;
const PROMISED_START: Duration = Duration::from_millis(100);
/// The median counts.
const STARTS: usize = 10;
/// Its workers have run once by then.
const IDLE_AFTER: Duration = Duration::from_secs(3);

async fn measure_idle(proxy: &Path, sandbox: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (_sandbox, gateway, _) = Server::start_sandbox(sandbox, &folder).await?;
    let start = async || {
        let began = Instant::now();
        let (server, address) = Server::start_proxy(proxy, &folder, gateway).await?;
        let request = format!("GET /florin.js HTTP/1.1\r\nhost: {address}\r\n\r\n");
        let mut connection = Connection::open(address).await?;
        connection.exchange(&request).await?;
        anyhow::Ok((server, began.elapsed()))
    };
    // The first start creates the database.
    drop(start().await?);
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(start().await?.1);
    }
    times.sort_unstable();
    let (server, _) = start().await?;
    SystemClock.sleep(IDLE_AFTER).await;
    let (start, resident) = (times[STARTS / 2], resident_kib(&server)?);
    println!(
        "  start to first response: median of {STARTS} {} ms (promised: ≤ {} ms)",
        start.as_millis(),
        PROMISED_START.as_millis()
    );
    println!("  resident when idle: {resident} KiB (promised: ≤ {PROMISED_KIB} KiB)");
    ensure!(
        start <= PROMISED_START && resident <= PROMISED_KIB,
        "the proxy is slower to start or larger than promised"
    );
    Ok(())
}
