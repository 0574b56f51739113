//! `kill-campaign`: the kill campaign at any length, with its summary. `cargo xtask bench --kills N` builds all that it
//! needs and runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use support::campaign::{self, Options};

/// Kills proxies again and again while customers buy, and audits the evidence.
#[derive(Parser)]
#[command(name = "kill-campaign")]
struct Arguments {
    /// Number of kills, over all shards.
    #[arg(long, default_value_t = 500)]
    kills: u64,
    /// Databases that are used in parallel.
    #[arg(long, default_value_t = 3)]
    shards: u64,
    /// Proxies on one PostgreSQL, instead of one on a file in each shard.
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=8))]
    replicas: Option<u64>,
    /// No kill is begun after this number of minutes.
    #[arg(long, default_value_t = 600)]
    minutes: u64,
    /// Seed of customers, kill plans and faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// `florin-proxy`
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments {
        kills,
        shards,
        replicas,
        minutes,
        seed,
        proxy,
    } = Arguments::parse();
    let of_replicas = replicas.map_or_else(String::new, |count| format!("--replicas {count} "));
    println!("To repeat it: cargo xtask bench --kills {kills} {of_replicas}--seed {seed}");
    let options = Options {
        kills,
        shards: if replicas.is_some() { 1 } else { shards },
        replicas,
        seed,
        proxy,
        longest: Duration::from_secs(minutes * 60),
    };
    let campaign = campaign::run(&options, |done| {
        print!("\r  {done} of {kills} kills");
        // Progress that is not shown is no reason to stop.
        let _ = std::io::stdout().flush();
    });
    let campaign = campaign.await;
    println!("\n\n{}", campaign.counters);
    let holds = campaign.audit().await;
    let (kills, targeted) = (campaign.kills(), campaign.targeted_kills());
    println!("{kills} kills, {targeted} of them at their target request");
    if !holds {
        println!("The evidence is kept in {}", campaign.keep());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
