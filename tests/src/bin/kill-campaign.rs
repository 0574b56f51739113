//! `kill-campaign`: the kill campaign at any length, with its summary. `cargo xtask bench --kills N` builds all that it
//! needs and runs it.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use support::campaign::{self, Options};

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let Options { kills, seed, .. } = options;
    let replicas = options.replicas;
    let of_replicas = replicas.map_or_else(String::new, |count| format!("--replicas {count} "));
    let on = options.gateway.as_ref().map_or("", |_| "--real-chains ");
    println!("To repeat it: cargo xtask bench --kills {kills} {on}{of_replicas}--seed {seed}");
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
