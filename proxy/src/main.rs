//! `florin-proxy`: the command line.

// Output of the commands. The macros take the place of the standard library's, which panic when a reader closes the pipe, as
// `head` does after its lines.

macro_rules! print {
    ($($text:tt)*) => {
        $crate::write(std::io::stdout(), format_args!($($text)*))
    };
}
macro_rules! println {
    ($($text:tt)*) => {
        $crate::write(std::io::stdout(), format_args!("{}\n", format_args!($($text)*)))
    };
}
macro_rules! eprint {
    ($($text:tt)*) => {
        $crate::write(std::io::stderr(), format_args!($($text)*))
    };
}
macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::write(std::io::stderr(), format_args!("{}\n", format_args!($($text)*)))
    };
}

mod commands;
mod operator_client;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::{fmt, io};

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, Subcommand};
use florin_gateway_client::Client;
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::config::{Config, Problem, admin_address, load, reference, reference_json};
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners, Reloads, gateway_account};
use florin_storage::Storage;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::commands::operator::{self, Operate};
use crate::operator_client::Unusable;

/// Crypto checkout: holds a shop's secret for the gateway, signs its calls, stores orders, sends webhooks.
#[derive(Parser)]
#[command(name = "florin-proxy", version)]
struct Arguments {
    /// The configuration file. Environment variables win over it.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Prints JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Writes a complete configuration with random secrets, and prints what comes next.
    ///
    /// The file is `florin.toml`, or that of --config; it is never replaced.
    Init(commands::init::Init),
    /// Draws secrets.
    Secrets {
        #[command(subcommand)]
        action: commands::secrets::Action,
    },
    /// Asks a running proxy for its health and conditions. Exits with 0 if it is ready, with 1 if it is not or does not answer.
    Health(operator_client::Health),
    /// Lists and shows the orders of a running proxy, and decides about them, as an operator.
    Orders(Operate<operator::Orders>),
    /// Reports what a store was paid and has refunded in days of its time zone, with totals, as an operator.
    Settlements(operator::Settlements),
    /// Lists what a running proxy has sent to the stores, and sends it again, as an operator.
    Deliveries(Operate<operator::Deliveries>),
    /// Tests the stores' endpoints from a running proxy, as an operator.
    Webhooks(Operate<operator::Webhooks>),
    /// Reports everything that is wrong with the configuration, by key, and exits with 2.
    CheckConfig(commands::Check),
    /// Examines what a payment needs: gateway, clock, webhook endpoints, database and `public_url`.
    ///
    /// Each finding has its remedy. Exits with 1 if something failed. The endpoints get a delivery with a wrong signature,
    /// which they must refuse.
    Doctor,
    /// Prints every key with unit, default and reason.
    ConfigReference,
    /// Prints the help of every command, as it is in docs/reference/commands.md.
    #[command(name = "command-reference", hide = true)]
    HelpReference,
    /// Brings the schema of a PostgreSQL database up to date. Nothing else changes it.
    ///
    /// Run it before the first start and with each new version, before its proxies start. A file of SQLite needs no
    /// command: the proxy migrates it when it starts.
    Migrate,
    /// Copies or checks the database.
    Store {
        #[command(subcommand)]
        action: commands::database::Action,
    },
    /// Sends one signed call to the gateway and prints the JSON of its response.
    ///
    /// The response is printed as it came. A refusal is a sentence on standard error and the exit code 1.
    Gateway {
        #[command(subcommand)]
        call: commands::gateway::Call,
    },
}

/// What a shell reports of a program that SIGPIPE has ended: 128 and the signal's number.
const CLOSED_PIPE: i32 = 141;

/// Writes a text, or ends the program if nothing can be written.
fn write(mut stream: impl io::Write, text: fmt::Arguments<'_>) {
    if let Err(error) = stream.write_fmt(text) {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        std::process::exit(if is_closed { CLOSED_PIPE } else { 1 });
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (file, json) = (arguments.config.as_deref(), arguments.json);
    match arguments.command {
        Some(Command::ConfigReference) => {
            if json {
                println!("{}", reference_json());
            } else {
                print!("{}", reference());
            }
            ExitCode::SUCCESS
        }
        Some(Command::HelpReference) => {
            print!("{}", commands::reference(Arguments::command()));
            ExitCode::SUCCESS
        }
        Some(Command::Init(init)) => ended(commands::init::run(&init, file, json)),
        Some(Command::Secrets { action }) => ended(commands::secrets::run(&action, json)),
        Some(Command::Health(health)) => {
            let admin_listen = || Ok(admin_address(file, &variables())?);
            ended(operator_client::health(&health, admin_listen, json))
        }
        Some(Command::Orders(orders)) => ended(orders.run(file, json)),
        Some(Command::Settlements(settlements)) => ended(settlements.run(file, json)),
        Some(Command::Deliveries(deliveries)) => ended(deliveries.run(file, json)),
        Some(Command::Webhooks(webhooks)) => ended(webhooks.run(file, json)),
        Some(Command::CheckConfig(check)) => {
            commands::check(&check, load(file, &variables()), json)
        }
        command => match load(file, &variables()) {
            Ok(config) => with_config(config, file, command, json),
            Err(problems) => {
                eprint!("The configuration cannot be used:\n{problems}");
                ExitCode::from(2)
            }
        },
    }
}

fn with_config(
    config: Config,
    file: Option<&Path>,
    command: Option<Command>,
    json: bool,
) -> ExitCode {
    ended(match command {
        Some(Command::Gateway { call }) => commands::gateway::run(&config, call),
        Some(Command::Migrate) => commands::database::migrate(&config, json),
        Some(Command::Store { action }) => commands::database::run(&config, action, json),
        Some(Command::Doctor) => match commands::doctor::run(&config, json) {
            Ok(true) => return ExitCode::SUCCESS,
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => Err(error),
        },
        _ => serve(config, file),
    })
}

/// Florin's environment variables. Ignores variables that are not UTF-8.
fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("FLORIN_"))
        .collect()
}

fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("florin-proxy: {error:#}");
            if error.is::<Unusable>() {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn serve(config: Config, file: Option<&Path>) -> anyhow::Result<()> {
    florin_proxy::init_log(&config.log).map_err(|error| anyhow::anyhow!("log: {error}"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let shutdown = CancellationToken::new();
        end_on_signals(shutdown.clone())?;
        let reloads = reload_on_signals(file)?;
        let open_files = florin_proxy::raise_open_files()?;
        let webhooks = config.stores.iter().map(|store| store.webhooks.len());
        let public_connections = florin_proxy::public_connections(open_files, webhooks.sum());
        let listeners = Listeners {
            public_connections,
            public: bind(config.listen, "listen").await?,
            admin: bind(config.admin_listen, "admin_listen").await?,
        };
        let database = commands::database::open(&config).await?;
        let settings = config.gateway.client.clone();
        let gateway = gateway_account::client(settings, &database, Arc::new(SystemClock));
        let gateway = gateway.context("gateway")?;
        let dependencies = dependencies(database.storage(), gateway.clone())?;
        let public = listeners.public.local_addr()?;
        let admin = listeners.admin.local_addr()?;
        let environment = config.environment.as_str();
        for Problem { key, message } in &config.warnings {
            tracing::warn!(key, "{message}");
        }
        tracing::info!(%public, %admin, environment, public_connections, "listening");
        let ended =
            florin_proxy::run(listeners, config, dependencies, shutdown, Some(reloads)).await;
        gateway.flush().await;
        database.close().await;
        tracing::info!("shut down");
        ended
    })
}

fn dependencies(storage: Arc<dyn Storage>, gateway: Client) -> anyhow::Result<Dependencies> {
    Ok(Dependencies {
        storage,
        gateway: Arc::new(gateway),
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

/// SIGHUP loads the configuration again. One that cannot be used is logged and changes nothing.
fn reload_on_signals(file: Option<&Path>) -> anyhow::Result<Reloads> {
    let mut hangup = signal(SignalKind::hangup())?;
    let (loaded, reloads) = mpsc::channel(1);
    let file = file.map(Path::to_owned);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            // A few small files. What they hold is not kept between two signals.
            let config = load(file.as_deref(), &variables());
            if loaded.send(config).await.is_err() {
                return;
            }
        }
    });
    Ok(reloads)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::error::ErrorKind;

    use super::*;

    fn commands(page: &str) -> Vec<&str> {
        let lines = page.lines().flat_map(|line| {
            line.match_indices("florin-proxy ").filter_map(|(at, _)| {
                let before = line[..at].trim_end();
                let rest = line[at..]
                    .split(['`', '#', '|', '>', '<', ';', '&', '…', '['])
                    .next()?;
                (before.is_empty() || before.ends_with('`')).then_some(rest)
            })
        });
        lines.collect()
    }

    #[test]
    fn each_command_of_the_documentation_is_one() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let mut pages = vec![format!("{root}/README.md")];
        for folder in ["guide", "operations", "reference"] {
            let found = fs::read_dir(format!("{root}/docs/{folder}")).unwrap();
            pages.extend(found.map(|page| page.unwrap().path().display().to_string()));
        }
        let mut count = 0;
        for page in pages {
            for command in commands(&fs::read_to_string(&page).unwrap()) {
                count += 1;
                let Err(error) = Arguments::try_parse_from(command.split_whitespace()) else {
                    continue;
                };
                // A name alone, in a sentence, has no arguments.
                let is_name = !command.contains("--");
                let is_short = matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::MissingSubcommand
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                );
                assert!(is_name && is_short, "{page}: {command}: {error}");
            }
        }
        assert!(count > 50, "{count}");
    }
}
