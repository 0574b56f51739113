//! `florin-gateway`: the payment gateway on real chains.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use florin_gateway::chain::Chain;
use florin_gateway::{commands, config, server};
use tracing_subscriber::EnvFilter;

/// The payment gateway: invoices at addresses of your own wallet, on real chains. It holds public keys only.
#[derive(Debug, Parser)]
#[command(name = "florin-gateway", version)]
struct Arguments {
    /// The configuration; environment variables GATEWAY_… win.
    #[arg(long, env = "GATEWAY_CONFIG", default_value = "florin-gateway.toml")]
    config: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a configuration with new secrets.
    Init,
    /// Say everything that is wrong with the configuration.
    CheckConfig,
    /// Ask the nodes, and show the first addresses to compare with the wallet.
    Doctor,
    /// List the addresses that received something.
    Addresses {
        /// Only those whose money no invoice counts.
        #[arg(long)]
        unclaimed: bool,
        /// What lies there now, by the nodes: to move to another wallet.
        #[arg(long, conflicts_with = "unclaimed")]
        unswept: bool,
    },
    /// Print a plan for florin-sweep, which moves what the list on standard input names: lines of `addresses --unswept`.
    SweepPlan {
        /// The chain's name: ethereum or bnb.
        #[arg(value_parser = chain)]
        chain: Chain,
        /// The account that will pay the gas.
        #[arg(long, value_name = "ADDRESS")]
        sponsor: String,
        /// Where everything goes.
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
    /// Search blocks again from a height on, after a restored backup.
    Rescan {
        /// The chain's name.
        #[arg(value_parser = chain)]
        chain: Chain,
        /// The first block.
        height: u64,
    },
}

fn chain(name: &str) -> Result<Chain, String> {
    let chain = name.parse();
    chain.map_err(|_| format!("there is no chain {name:?}"))
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("FLORIN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let arguments = Arguments::parse();
    if let Some(Command::Init) = arguments.command {
        return ended(commands::init(&arguments.config));
    }
    let file = Some(arguments.config.as_path()).filter(|file| file.exists());
    let config = match config::load(file, std::env::vars()) {
        Ok(config) => config,
        Err(problems) => {
            let name = arguments.config.display();
            eprintln!("florin-gateway: {name} and the environment cannot be used:\n  {problems:#}");
            return ExitCode::from(2);
        }
    };
    ended(match arguments.command {
        None => server::run(config).await,
        Some(Command::Init) => Ok(()),
        Some(Command::CheckConfig) => {
            println!("The configuration is complete.");
            Ok(())
        }
        Some(Command::Doctor) => commands::doctor(&config).await,
        Some(Command::Addresses { unswept: true, .. }) => commands::unswept(&config).await,
        Some(Command::Addresses { unclaimed, .. }) => commands::addresses(&config, unclaimed).await,
        Some(Command::SweepPlan { chain, sponsor, to }) => {
            commands::sweep_plan(&config, chain, &sponsor, &to).await
        }
        Some(Command::Rescan { chain, height }) => commands::rescan(&config, chain, height).await,
    })
}

fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("florin-gateway: {error:#}");
            ExitCode::FAILURE
        }
    }
}
