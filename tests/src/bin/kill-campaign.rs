//! `kill-campaign`: the kill campaign at any length, with its summary. `cargo xtask bench --kills N` builds all that it
//! needs and runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use florin_proxy::clock::{Clock as _, SystemClock};
use support::campaign::{self, Auditor, Options};

/// Kills the proxy again and again while customers buy, and has the auditor judge what is left.
#[derive(Parser)]
#[command(name = "kill-campaign")]
struct Arguments {
    /// How often it is killed, in all.
    #[arg(long, default_value_t = 500)]
    kills: u64,
    /// Proxies that are killed side by side.
    #[arg(long, default_value_t = 3)]
    lanes: u64,
    /// What customers, blows and faults follow from.
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
        lanes,
        seed,
        proxy,
        auditor,
    } = Arguments::parse();
    let config = Options {
        kills,
        lanes,
        seed,
        proxy,
    };
    println!("To try the same again: cargo xtask bench --kills {kills} --seed {seed}");
    let began = SystemClock.now();
    let campaign = campaign::run(&config, move |done| {
        if done.is_multiple_of(REPORT_EVERY) || done == kills {
            print!("\r  {done} of {kills} kills");
            // Progress that is not shown is no reason to stop.
            let _ = std::io::stdout().flush();
        }
    })
    .await;
    let seconds = SystemClock.now().duration_since(began).as_secs();
    println!("\n\n{}", campaign.tally);
    let tally = &campaign.tally;
    let (kills, aimed) = (tally.kills(), tally.aimed_kills());
    let mut holds = true;
    for (lane, verdict) in campaign.judged_by(&Auditor(auditor)).iter().enumerate() {
        println!("Proxy {} of {lanes}\n{}", lane + 1, verdict.printed);
        holds &= verdict.code == Some(0);
    }
    println!("{kills} kills in {seconds} s, {aimed} of them at the moment that was aimed at");
    if !holds {
        println!("The evidence is kept in {}", campaign.keep());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
