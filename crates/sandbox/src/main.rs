//! `florin-sandbox`: the payment gateway on a developer's machine.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use florin_sandbox::{ApiSecret, Settings};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// The payment gateway on your machine, for development and tests: no account, no network, no real money.
#[derive(Debug, Parser)]
#[command(name = "florin-sandbox")]
struct Arguments {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// Source of ids, addresses and prices; the same seed gives the same ones.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to POST callbacks of completed and failed invoices.
    #[arg(long)]
    callback_url: Option<Url>,
    /// A file to which every request and every event is appended, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Where browsers reach the sandbox; default: the address it listens on.
    #[arg(long, value_name = "URL")]
    public_url: Option<Url>,
    /// A node of a chain of Ethereum's kind, whose transfers pay the invoices (chain id 11155111 or 97).
    #[arg(long, value_name = "URL")]
    evm_rpc_url: Option<Url>,
    /// The API key of callers.
    #[arg(long)]
    api_key: Option<String>,
    /// The API secret that callers sign with.
    #[arg(long)]
    api_secret: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("FLORIN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    match serve(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("florin-sandbox: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> anyhow::Result<()> {
    let defaults = Settings::default();
    let settings = Settings {
        seed: arguments.seed,
        callback_url: arguments.callback_url.map(String::from),
        api_key: arguments.api_key.unwrap_or(defaults.api_key),
        api_secret: arguments
            .api_secret
            .map_or(defaults.api_secret, ApiSecret::new),
        evm_rpc_url: arguments.evm_rpc_url.map(String::from),
        log_file: arguments.log,
        public_url: arguments.public_url.map(String::from),
        ..Settings::default()
    };
    let address = arguments.listen;
    let listener = match TcpListener::bind(address).await {
        Ok(listener) => listener,
        Err(error) if error.kind() == ErrorKind::AddrInUse => anyhow::bail!(
            "{address} is in use: stop the program that listens there, \
             or choose another address with --listen"
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot listen on {address}")),
    };
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    let shutdown = CancellationToken::new();
    cancel_on_signal(shutdown.clone())?;
    print_welcome(address, &settings);
    florin_sandbox::run(listener, settings, shutdown).await
}

fn print_welcome(address: SocketAddr, settings: &Settings) {
    println!("The sandbox is ready. No real money moves here.");
    println!();
    println!("  page      http://{address}/sandbox");
    println!("  gateway   http://{address}/api");
    println!("  apikey    {}", settings.api_key);
    println!("  secret    {}", settings.api_secret.expose());
    if let Some(url) = &settings.callback_url {
        println!("  callback  {url}");
    }
    if let Some(url) = &settings.evm_rpc_url {
        println!("  chain     {url}");
    }
    if let Some(file) = &settings.log_file {
        println!("  log       {}", file.display());
    }
}

/// SIGINT and SIGTERM shut the program down.
fn cancel_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
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
