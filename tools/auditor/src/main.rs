//! `florin-auditor`: checks a run of the proxy by its database and logs.
//!
//! It reads the proxy's database, the gateway's log and the shop's log. It sends no request and shares no code with the
//! proxy. It prints one line per invariant with the number of checked objects, and below it the rows that break it.
//! Exits with 0 if all invariants hold, 1 if one is broken, 2 if evidence is missing.

mod evidence;
mod finding;
mod invariants;
mod signature;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::evidence::Evidence;
use crate::finding::Finding;

/// Checks a run of the proxy by its database, the gateway's log and the shop's log.
#[derive(Parser)]
#[command(name = "florin-auditor")]
struct Arguments {
    /// The ledger: an SQLite file that no proxy has open.
    #[arg(long, value_name = "FILE")]
    database: PathBuf,
    /// What `florin-sandbox --log` wrote.
    #[arg(long, value_name = "FILE")]
    sandbox_log: PathBuf,
    /// What the shop's endpoint wrote: a JSON object for each delivery.
    #[arg(long, value_name = "FILE")]
    shop_log: PathBuf,
    /// What the store's deliveries are signed with: `whsec_…`.
    #[arg(long, env = "AUDITOR_WEBHOOK_SECRET", hide_env_values = true)]
    webhook_secret: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match audit(Arguments::parse()).await {
        Ok(findings) => report(&findings),
        Err(error) => {
            eprintln!("florin-auditor: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn audit(arguments: Arguments) -> anyhow::Result<Vec<Finding>> {
    let Arguments {
        database,
        sandbox_log,
        shop_log,
        webhook_secret,
    } = arguments;
    let secret = signature::secret(&webhook_secret)?;
    let evidence = Evidence::read(&database, &sandbox_log, &shop_log, secret).await?;
    // Where nothing happened, everything holds: that proves nothing.
    anyhow::ensure!(
        !evidence.ledger.credits.is_empty() && !evidence.heard.is_empty(),
        "nothing was paid or nothing was delivered: there is nothing to check"
    );
    Ok(invariants::judge(&evidence))
}

fn report(findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    let broken = findings.iter().filter(|finding| !finding.holds()).count();
    if broken > 0 {
        println!("{broken} of {} invariants are broken", findings.len());
        return ExitCode::FAILURE;
    }
    println!("all {} invariants hold", findings.len());
    ExitCode::SUCCESS
}
