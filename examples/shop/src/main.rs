//! `florin-shop`: the demonstration shop as a program.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Parser;
use florin_money::Currency;
use florin_shop::Settings;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A demonstration shop that takes payments through Florin.
#[derive(Parser)]
struct Arguments {
    /// Address and port of the shop.
    #[arg(long, default_value = "127.0.0.1:8081")]
    listen: String,
    /// The proxy's public address.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    proxy_url: String,
    /// The store's id in the proxy's configuration.
    #[arg(long, default_value = "demo")]
    store: String,
    /// The store's currency.
    #[arg(long, default_value = "USD")]
    currency: String,
    /// The store's secret key for POST /v1/orders.
    #[arg(long, env = "SHOP_SECRET_KEY", hide_env_values = true)]
    secret_key: SecretString,
    /// The secret of the store's token key `k1`.
    #[arg(long, env = "SHOP_TOKEN_KEY", hide_env_values = true)]
    token_key: SecretString,
    /// The store's webhook secret, `whsec_…`.
    #[arg(long, env = "SHOP_WEBHOOK_SECRET", hide_env_values = true)]
    webhook_secret: SecretString,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match start(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("florin-shop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn start(arguments: Arguments) -> anyhow::Result<()> {
    let listen = &arguments.listen;
    let listener = TcpListener::bind(listen).await.with_context(|| {
        format!("{listen} cannot be opened; choose another address with --listen")
    })?;
    let shutdown = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! { _ = interrupt.recv() => {} _ = terminate.recv() => {} }
        stop.cancel();
    });
    tracing::info!(address = %listener.local_addr()?, "the shop is open");
    let settings = Settings {
        proxy_url: arguments.proxy_url.trim_end_matches('/').to_owned(),
        store_id: arguments.store,
        secret_key: arguments.secret_key,
        webhook_secret: arguments.webhook_secret,
        token_key: arguments.token_key,
        currency: Currency::parse(&arguments.currency)?,
        new_reference,
        now: Box::new(now),
    };
    florin_shop::run(listener, settings, shutdown).await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program is where the clock comes in"
)]
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program is where chance comes in"
)]
fn new_reference() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    format!("cart-{}", hex::encode(bytes))
}
