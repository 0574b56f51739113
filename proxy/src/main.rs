//! `florin-proxy`: the command line.

mod gateway_command;
mod store_command;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use florin_gateway::Client;
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::config::{Config, load, reference};
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners};
use florin_storage::{Database, Storage};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Crypto checkout: holds a shop's secret for the gateway, signs its calls, stores orders, sends webhooks.
#[derive(Parser)]
#[command(name = "florin-proxy", version)]
struct Arguments {
    /// The configuration file. Environment variables win over it.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Reports everything that is wrong with the configuration, by key, and exits with 2.
    CheckConfig,
    /// Prints every key with unit, default and reason.
    ConfigReference,
    /// Brings the schema of a PostgreSQL database up to date. Nothing else changes it.
    ///
    /// Run it before the first start and with each new version, before its proxies start. A file of SQLite needs no
    /// command: the proxy migrates it when it starts.
    Migrate,
    /// Copies the database.
    Store {
        #[command(subcommand)]
        action: store_command::Action,
    },
    /// Sends one signed call to the gateway and prints the JSON of its response.
    ///
    /// The answer is printed as it came. A refusal is a sentence on standard error and the exit code 1.
    Gateway {
        #[command(subcommand)]
        call: gateway_command::Call,
    },
    /// The name that `gateway` had in early versions.
    #[command(hide = true)]
    Service {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if matches!(arguments.command, Some(Command::ConfigReference)) {
        print!("{}", reference());
        return ExitCode::SUCCESS;
    }
    if matches!(arguments.command, Some(Command::Service { .. })) {
        eprintln!("florin-proxy: `service` is named `gateway` now");
        return ExitCode::from(2);
    }
    // A variable that is not UTF-8 is not one of Florin's.
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("FLORIN_"))
        .collect();
    let config = match load(arguments.config.as_deref(), &variables) {
        Ok(config) => config,
        Err(problems) => {
            eprint!("The configuration cannot be used:\n{problems}");
            return ExitCode::from(2);
        }
    };
    if matches!(arguments.command, Some(Command::CheckConfig)) {
        return check_config(&config);
    }
    let done = match arguments.command {
        Some(Command::Gateway { call }) => gateway_command::run(&config, call),
        Some(Command::Migrate) => store_command::migrate(&config),
        Some(Command::Store { action }) => store_command::run(&config, action),
        _ => serve(config),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("florin-proxy: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The configuration is valid by itself; an existing database must fit it.
fn check_config(config: &Config) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let checked = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| {
            let environment = config.environment.as_str();
            runtime.block_on(florin_storage::check_database(
                &config.database_url,
                environment,
            ))
        });
    if let Err(reason) = checked {
        eprintln!("The configuration cannot be used:\ndatabase_url: {reason}");
        return ExitCode::from(2);
    }
    println!(
        "The configuration is complete: {} store(s).",
        config.stores.len()
    );
    ExitCode::SUCCESS
}

fn serve(config: Config) -> anyhow::Result<()> {
    florin_proxy::init_log(&config.log).map_err(|error| anyhow::anyhow!("log: {error}"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let shutdown = CancellationToken::new();
        end_on_signals(shutdown.clone())?;
        let open_files = florin_proxy::open_files::raise_limit()?;
        let public_connections =
            florin_proxy::open_files::public_connections(open_files, config.stores.len());
        let listeners = Listeners {
            public_connections,
            public: bind(config.listen, "listen").await?,
            admin: bind(config.admin_listen, "admin_listen").await?,
        };
        let database = open_database(&config).await?;
        let dependencies = dependencies(&config, database.storage())?;
        let (public, admin) = (
            listeners.public.local_addr()?,
            listeners.admin.local_addr()?,
        );
        let environment = config.environment.as_str();
        tracing::info!(%public, %admin, environment, public_connections, "listening");
        let ended = florin_proxy::run(listeners, config, dependencies, shutdown).await;
        database.close().await;
        tracing::info!("shut down");
        ended
    })
}

/// What is wrong with a database is reported with its remedy.
async fn open_database(config: &Config) -> anyhow::Result<Database> {
    let opened = Database::open(&config.database_url, config.environment.as_str()).await;
    opened.map_err(|error| match error.outage() {
        Some(outage) => anyhow::anyhow!("database_url: {error}. {}", outage.remedy()),
        None => anyhow::anyhow!("database_url: {error}"),
    })
}

fn dependencies(config: &Config, storage: Arc<dyn Storage>) -> anyhow::Result<Dependencies> {
    let settings = config.gateway.client_settings();
    let client =
        Client::new(settings, Arc::new(SystemClock), Arc::new(SystemRandom)).context("gateway")?;
    Ok(Dependencies {
        storage,
        gateway: Arc::new(client),
        webhooks: Arc::new(WebhookSender::new()?),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    })
}

async fn bind(address: std::net::SocketAddr, key: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("{key}: cannot listen on {address}; is another program there? Choose another port")
    })
}

/// SIGINT and SIGTERM end the process in order; a second one ends it at once.
fn end_on_signals(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if shutdown.is_cancelled() {
                std::process::exit(130);
            }
            tracing::info!("shutting down");
            shutdown.cancel();
        }
    });
    Ok(())
}
