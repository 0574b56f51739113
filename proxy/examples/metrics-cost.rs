//! `metrics-cost`: what metrics and traces cost of a status read. `cargo xtask bench` builds and runs it.
//!
//! Status reads go through the router without a socket, so that their time is the least that a read takes, and the share of
//! the metrics the largest.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request};
use florin_gateway::{Client, Clock as _};
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::config::load;
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Core, Dependencies};
use florin_storage::SqliteStorage;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// Rounds; the median of each side counts.
const ROUNDS: usize = 5;
const READS: u32 = 10_000;
const COUNTED: u32 = 1_000_000;
const SPANS: u32 = 100_000;
/// The promise: this share of a status read at most, in percent.
const PROMISED: u128 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Fails only when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match measure().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("metrics-cost: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let collector = collector()?;
    let core = core(&folder, "plain", "").await?;
    let router = core.router();
    let token = open_order(&router).await?;
    let traced = [("0.01", "1 %"), ("1", "100 %")];
    let mut traced_cores = Vec::new();
    for (ratio, share) in traced {
        let tracing =
            format!("[tracing]\notlp_endpoint = \"{collector}\"\nsample_ratio = \"{ratio}\"\n");
        let core = self::core(&folder, ratio, &tracing).await?;
        let token = open_order(&core.router()).await?;
        traced_cores.push((core, token, share, Vec::new(), Vec::new()));
    }
    let (mut reads, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        reads.push(time_of_reads(&router, &token).await?);
        let (timer, began) = (Instant::now(), SystemClock.now());
        for _ in 0..COUNTED {
            core.count_request(&Method::GET, "/v1/checkout", 200, began);
        }
        counts.push(timer.elapsed() / COUNTED);
        for (core, token, _, whole, spans) in &mut traced_cores {
            whole.push(time_of_reads(&core.router(), token).await?);
            spans.push(time_of_spans(core).await);
        }
    }
    let read = median(reads);
    println!("  a status read in the process, without sockets");
    println!("    the whole read        {:>8} ns", read.as_nanos());
    let metrics = median(counts);
    let whole = print_share("its metrics", metrics, read);
    let mut shares = vec![("metrics", whole)];
    for (_, _, share, whole, spans) in traced_cores {
        let percent = print_share(&format!("traces of {share}"), median(spans), read);
        if share == "1 %" {
            shares.push(("traces", percent));
        }
        println!(
            "      the whole read with them {:>8} ns",
            median(whole).as_nanos()
        );
    }
    for (what, percent) in shares {
        ensure!(
            percent < PROMISED,
            "{what} cost {PROMISED} % of a status read or more"
        );
    }
    Ok(())
}

/// Prints a part of a read. Returns its share in whole percent.
fn print_share(what: &str, part: Duration, read: Duration) -> u128 {
    // In hundredths of a percent.
    let share = part.as_nanos() * 10_000 / read.as_nanos();
    let (whole, rest) = (share / 100, share % 100);
    println!(
        "    {what:<20}{:>10} ns {whole:>5}.{rest:02} %   promised < {PROMISED} %, traces at 1 %",
        part.as_nanos()
    );
    whole
}

/// The time of a request's span, where spans are sent meanwhile: no queue is full.
async fn time_of_spans(core: &Core) -> Duration {
    const AT_ONCE: u32 = 400;
    let mut time = Duration::ZERO;
    for _ in 0..SPANS / AT_ONCE {
        let timer = Instant::now();
        for _ in 0..AT_ONCE {
            core.trace_request();
        }
        time += timer.elapsed();
        tokio::task::yield_now().await;
    }
    time / SPANS
}

/// A collector on a separate thread, which takes everything. Returns its address.
fn collector() -> anyhow::Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = format!("http://{}", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let take = async |_: axum::body::Bytes| axum::http::StatusCode::OK;
            let routes = Router::new().route("/v1/traces", axum::routing::post(take));
            axum::serve(listener, routes).await
        })
    });
    Ok(address)
}

async fn time_of_reads(router: &Router, token: &str) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    for _ in 0..READS {
        let request = Request::get("/v1/checkout").header(AUTHORIZATION, format!("Bearer {token}"));
        let response = router.clone().oneshot(request.body(Body::empty())?).await?;
        ensure!(response.status() == 200, "status {}", response.status());
        to_bytes(response.into_body(), usize::MAX).await?;
    }
    Ok(begin.elapsed() / READS)
}

async fn open_order(router: &Router) -> anyhow::Result<String> {
    let body = json!({ "store": "demo", "product": "ebook" }).to_string();
    let request = Request::post("/v1/checkout").header(CONTENT_TYPE, "application/json");
    let response = router
        .clone()
        .oneshot(request.body(Body::from(body))?)
        .await?;
    let response: Value =
        serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await?)?;
    let token = response["client_token"].as_str();
    Ok(token.with_context(|| response.to_string())?.to_owned())
}

/// A store with a product. Its gateway is away: a status read needs none.
async fn core(folder: &tempfile::TempDir, name: &str, more: &str) -> anyhow::Result<Core> {
    let (file, key) = (
        folder.path().join(format!("{name}.toml")),
        "0123456789abcdef".repeat(4),
    );
    let database = folder.path().join(format!("{name}.db"));
    let text = format!(
        r#"database_url = "sqlite://{}"
[gateway]
url = "http://127.0.0.1:9/api"
api_key = "key"
api_secret = "{key}"
callback_token = "{key}1"
[[store]]
id = "demo"
name = "Demo"
currency = "USD"
secret_key = "sk_{key}"
[[store.product]]
sku = "ebook"
title = "E-book"
price = "19.90"
{more}"#,
        database.display()
    );
    std::fs::write(&file, text)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
    let config = load(Some(&file), &std::collections::BTreeMap::new());
    let config = config.map_err(|problems| anyhow::anyhow!("{problems}"))?;
    let storage = SqliteStorage::open(&config.database_url, config.environment.as_str()).await?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let client = Client::new(
        config.gateway.client_settings(),
        clock.clone(),
        random.clone(),
    )?;
    let dependencies = Dependencies {
        storage: Arc::new(storage),
        gateway: Arc::new(client),
        webhooks: Arc::new(WebhookSender::new()?),
        clock,
        random,
    };
    Ok(Core::new(config, dependencies, CancellationToken::new()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
