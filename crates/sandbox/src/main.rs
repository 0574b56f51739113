//! `florin-sandbox`: the payment gateway on a developer's machine.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use florin_gateway::server::cancel_on_signal;
use florin_sandbox::Settings;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// The payment gateway on your machine, for development and tests: no account, no network, no real money.
#[derive(Debug, Parser)]
#[command(name = "florin-sandbox", version)]
struct Arguments {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    #[command(flatten)]
    settings: Settings,
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
    let (address, settings) = (arguments.listen, arguments.settings);
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
