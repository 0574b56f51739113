//! `bench`: what the proxy costs, as it is released. `cargo xtask bench` builds all that it needs and runs it.

mod connection;
mod idle;
mod public;
mod reads;
mod replicas;
mod server;
mod streams;
mod watchers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures start and memory, status reads, event streams, and what public addresses and watchers cost.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Time to start, and memory when idle.
    Idle {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
        /// `florin-sandbox`.
        sandbox: PathBuf,
    },
    /// Status reads per second, beside a bare axum router with the same bytes.
    Reads {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
    },
    /// Memory, idle processor time and fan-out of event streams.
    Streams {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
        /// How many.
        #[arg(long, value_name = "N", default_value_t = streams::STREAMS)]
        streams: usize,
    },
    /// Fan-out of event streams over three proxies on one PostgreSQL.
    Replicas {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
        /// How many.
        #[arg(long, value_name = "N", default_value_t = streams::STREAMS)]
        streams: usize,
    },
    /// Processor time of a request to each public address.
    Public {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
    },
    /// Calls of the gateway for an order that many pages watch.
    Watchers {
        /// `florin-proxy`, as it is released.
        proxy: PathBuf,
        /// `florin-sandbox`.
        sandbox: PathBuf,
        /// How many.
        #[arg(long, value_name = "N", default_value_t = streams::STREAMS)]
        watchers: usize,
    },
    /// Serves a file on a free port as a bare axum router does, and prints the address.
    Serve {
        /// The view.
        file: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    // Fails only when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let result = match Arguments::parse().command {
        Command::Idle { proxy, sandbox } => idle::measure(&proxy, &sandbox).await,
        Command::Reads { proxy } => reads::compare(&proxy).await,
        Command::Streams { proxy, streams } => streams::measure(&proxy, streams).await,
        Command::Replicas { proxy, streams } => replicas::measure(&proxy, streams).await,
        Command::Public { proxy } => public::compare(&proxy).await,
        Command::Watchers {
            proxy,
            sandbox,
            watchers,
        } => watchers::compare(&proxy, &sandbox, watchers).await,
        Command::Serve { file } => server::serve(&file).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
