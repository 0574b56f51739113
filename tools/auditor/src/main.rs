//! `florin-auditor`: checks a run of the proxy by its database and logs.
//!
//! It reads the proxy's database, the gateway's log and the shop's log into the evidence of `florin-invariants`, and
//! checks every rule for a drained proxy. It sends no request and shares no code with the proxy. It prints one line per
//! rule with the number of checked objects, and below it what breaks the rule. Exits with 0 if all rules hold, 1 if one
//! is broken, 2 if evidence is missing.

mod database_file;
mod database_server;
mod logs;
mod restore_log;
mod sandbox_log;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use florin_invariants::{ClockRecord, Evidence, Finding, Millis, Moment, Shop, check, secret};

use crate::sandbox_log::SandboxLog;

/// Checks a run of the proxy by its database, the gateway's log and the shop's log.
#[derive(Parser)]
#[command(name = "florin-auditor")]
struct Arguments {
    /// The proxy's SQLite file, which no proxy has open; or `postgres://…`, which no proxy writes to.
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "AUDITOR_DATABASE",
        hide_env_values = true
    )]
    database: String,
    /// The log of `florin-sandbox --log`.
    #[arg(long, value_name = "FILE")]
    sandbox_log: PathBuf,
    /// The log of the shop's endpoint: a JSON object for each delivery.
    #[arg(long, value_name = "FILE")]
    shop_log: PathBuf,
    /// What a reader of `GET /v1/events` has read, if there was one: a JSON object for each event.
    #[arg(long, value_name = "FILE")]
    event_log: Option<PathBuf>,
    /// The changes of the proxy's clock, if it was wrong at times: a JSON object for each.
    #[arg(long, value_name = "FILE")]
    clock_log: Option<PathBuf>,
    /// The restored backups, if there were any: a JSON object for each.
    #[arg(long, value_name = "FILE")]
    restore_log: Option<PathBuf>,
    /// The secret of the store's webhook: `whsec_…`.
    #[arg(long, env = "AUDITOR_WEBHOOK_SECRET", hide_env_values = true)]
    webhook_secret: String,
}

/// The proxy may write so long after the gateway's last line.
const AFTERWARDS: Millis = 60_000;

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
    let evidence = read(&arguments).await?;
    // Where nothing happened, every rule holds: that proves nothing.
    anyhow::ensure!(
        !evidence.database.credits.is_empty() && !evidence.shop.deliveries.is_empty(),
        "nothing was paid or nothing was delivered: there is nothing to check"
    );
    Ok(check(&evidence, Moment::Drained))
}

async fn read(arguments: &Arguments) -> anyhow::Result<Evidence> {
    let secret = secret(&arguments.webhook_secret);
    let is_server = database_server::is_address(&arguments.database);
    let SandboxLog {
        gateway, ended_at, ..
    } = SandboxLog::read(&arguments.sandbox_log, is_server)?;
    let clock = match &arguments.clock_log {
        Some(path) => logs::clock_changes(path, ended_at + AFTERWARDS)?,
        None => ClockRecord::default(),
    };
    let (mut database, files) = if is_server {
        database_server::read(&arguments.database).await?
    } else {
        let path = Path::new(&arguments.database);
        (database_file::read(path).await?, database_file::bytes(path))
    };
    let listing = arguments.event_log.as_deref().map(logs::listing);
    let mut restores = match &arguments.restore_log {
        Some(path) => restore_log::read(path).await?,
        None => Vec::new(),
    };
    let others = restores
        .iter_mut()
        .flat_map(|restore| [&mut restore.backup, &mut restore.replaced]);
    let databases = others.chain([&mut database]);
    for credit in databases.flat_map(|database| &mut database.credits) {
        credit.at = clock.right_time(credit.at);
    }
    Ok(Evidence {
        taken_at: ended_at,
        due_at: Millis::MAX,
        clock,
        database,
        gateway,
        shop: Shop {
            deliveries: logs::deliveries(&arguments.shop_log)?,
            subscribed: None,
            webhook_secret: secret.context("the webhook's secret is whsec_ and base64")?,
            listing: listing.transpose()?,
        },
        restores,
        files,
        ..Evidence::default()
    })
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
