//! `florin-sandbox`: the payment gateway on a developer's machine.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use florin_money::{Amount, Currency};
use florin_sandbox::Settings;
use reqwest::Url;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// The payment gateway on your machine, for development and tests: no account, no network, no real money.
#[derive(Debug, Parser)]
#[command(name = "florin-sandbox", version)]
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
    /// A file that keeps the invoices over a restart; without it the sandbox forgets them, and a proxy reports each open one.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Where browsers reach the sandbox; default: the address it listens on.
    #[arg(long, value_name = "URL")]
    public_url: Option<Url>,
    /// A node of a chain of Ethereum's kind, whose transfers pay the invoices (chain id 11155111 or 97).
    #[arg(long, value_name = "URL")]
    evm_rpc_url: Option<Url>,
    /// The account's local currency beside US dollars, and what one dollar costs in it.
    #[arg(long, value_name = "CODE=PER_USD", default_value = "USD=1", value_parser = local_currency)]
    local_currency: (Currency, Amount),
    /// The API key of callers.
    #[arg(long)]
    api_key: Option<String>,
    /// The API secret that callers sign with.
    #[arg(long)]
    api_secret: Option<String>,
}

/// Reads `EUR=0.92`.
fn local_currency(text: &str) -> Result<(Currency, Amount), String> {
    let (code, per_usd) = text
        .split_once('=')
        .ok_or("write a currency and what a dollar costs in it, like EUR=0.92")?;
    let currency = Currency::parse(code).map_err(|error| error.to_string())?;
    let per_usd = Amount::parse(per_usd).map_err(|error| error.to_string())?;
    Ok((currency, per_usd))
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
        api_secret: arguments.api_secret.map_or(defaults.api_secret, Into::into),
        evm_rpc_url: arguments.evm_rpc_url.map(String::from),
        local_currency: arguments.local_currency.0,
        local_per_usd: arguments.local_currency.1,
        log_file: arguments.log,
        state_file: arguments.state,
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
    let (key, secret) = (&settings.api_key, settings.api_secret.expose_secret());
    let mut lines = vec![format!(
        "The sandbox is ready. No real money moves here.\n\n  page      http://{address}/sandbox\n  \
         gateway   http://{address}/api\n  apikey    {key}\n  secret    {secret}\n"
    )];
    if let Some(url) = &settings.callback_url {
        lines.push(format!("  callback  {url}\n"));
    }
    if let Some(url) = &settings.evm_rpc_url {
        lines.push(format!("  chain     {url}\n"));
    }
    if let Some(file) = &settings.log_file {
        lines.push(format!("  log       {}\n", file.display()));
    }
    lines.push(match &settings.state_file {
        Some(file) => format!("  state     {}\n", file.display()),
        None => "  state     in memory: a restart forgets every invoice; --state FILE keeps them\n"
            .to_owned(),
    });
    // A reader that is gone, like `head`, does not end the sandbox.
    let _ = std::io::stdout().write_all(lines.concat().as_bytes());
}

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
