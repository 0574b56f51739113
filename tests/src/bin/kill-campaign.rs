//! `kill-campaign`: the kill campaign at any length, with its summary. `cargo xtask bench --kills N` builds all that it
//! needs and runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use florin_proxy::clock::{Clock as _, SystemClock};
use support::campaign::{self, Auditor, Options, replicas};

/// Kills the proxy again and again while customers buy, and audits the evidence.
#[derive(Parser)]
#[command(name = "kill-campaign")]
struct Arguments {
    /// Number of kills, over all shards.
    #[arg(long, default_value_t = 500)]
    kills: u64,
    /// Proxies that are killed in parallel.
    #[arg(long, default_value_t = 3)]
    shards: u64,
    /// Proxies on one PostgreSQL, instead of one on a file in each shard.
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=8))]
    replicas: Option<u64>,
    /// No kill of `--replicas` is begun after so many minutes.
    #[arg(long, default_value_t = 600)]
    minutes: u64,
    /// Seed of customers, kill plans and faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// `florin-proxy`
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
    /// `florin-auditor`
    #[arg(long, value_name = "FILE")]
    auditor: PathBuf,
}

/// Kills between two lines of progress.
const REPORT_EVERY: u64 = 50;

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments {
        kills,
        shards,
        replicas,
        minutes,
        seed,
        proxy,
        auditor,
    } = Arguments::parse();
    if let Some(replicas) = replicas {
        let options = replicas::Options {
            kills,
            replicas,
            seed,
            proxy,
            longest: Duration::from_secs(minutes * 60),
        };
        return kill_replicas(&options, &Auditor(auditor)).await;
    }
    let config = Options {
        kills,
        shards,
        seed,
        proxy,
    };
    println!("To repeat it: cargo xtask bench --kills {kills} --seed {seed}");
    let began = SystemClock.now();
    let campaign = campaign::run(&config, move |done| report(done, kills)).await;
    let seconds = SystemClock.now().duration_since(began).as_secs();
    println!("\n\n{}", campaign.counters);
    let counters = &campaign.counters;
    let (kills, targeted) = (counters.kills(), counters.targeted_kills());
    let mut holds = true;
    for (shard, verdict) in campaign.audit(&Auditor(auditor)).iter().enumerate() {
        println!("Proxy {} of {shards}\n{}", shard + 1, verdict.printed);
        holds &= verdict.code == Some(0);
    }
    println!("{kills} kills in {seconds} s, {targeted} of them at their target request");
    if !holds {
        println!("The evidence is kept in {}", campaign.keep());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn report(done: u64, kills: u64) {
    if done.is_multiple_of(REPORT_EVERY) || done == kills {
        print!("\r  {done} of {kills} kills");
        // Progress that is not shown is no reason to stop.
        let _ = std::io::stdout().flush();
    }
}

/// Kills proxies and the primary of one PostgreSQL.
async fn kill_replicas(options: &replicas::Options, auditor: &Auditor) -> ExitCode {
    let replicas::Options {
        kills,
        replicas,
        seed,
        ..
    } = *options;
    println!("To repeat it: cargo xtask bench --kills {kills} --replicas {replicas} --seed {seed}");
    let began = SystemClock.now();
    let campaign = replicas::run(options, move |done| report(done, kills)).await;
    let seconds = SystemClock.now().duration_since(began).as_secs();
    println!("\n\n{}", campaign.counters);
    let counters = campaign.counters.clone();
    let verdict = campaign.audit(auditor);
    println!("{}", verdict.printed);
    println!(
        "{} kills of {replicas} proxies and their primary in {seconds} s, {} of them at their target request, {} of the primary",
        counters.kills(),
        counters.targeted_kills(),
        counters.of("kills of the primary"),
    );
    if verdict.code != Some(0) {
        println!("The evidence is kept in {}", campaign.keep());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
