//! The commands of `florin-proxy`, one a file, and their reference.

pub(crate) mod database;
pub(crate) mod doctor;
pub(crate) mod gateway;
pub(crate) mod init;
pub(crate) mod operator;
pub(crate) mod secrets;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Command};
use florin_proxy::config::{Config, Problem, Problems};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::commands::doctor::{Finding, Status, essentials};

pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// The reference below `## Commands` of docs/reference/commands.md.
pub(crate) fn reference(mut command: Command) -> String {
    command.build();
    let mut page = String::new();
    write_command(&mut page, &mut command).expect("a text takes every text");
    page.trim_start().to_owned()
}

fn write_command(page: &mut String, command: &mut Command) -> std::fmt::Result {
    let help = command.render_long_help().to_string();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(page, "\n### `{name}`\n\n```text")?;
    for line in help.trim_end().lines() {
        writeln!(page, "{}", line.trim_end())?;
    }
    writeln!(page, "```")?;
    for below in command.get_subcommands_mut() {
        if !below.is_hide_set() && below.get_name() != "help" {
            write_command(page, below)?;
        }
    }
    Ok(())
}

/// What `florin-proxy check-config` checks.
#[derive(Args)]
pub(crate) struct Check {
    /// Also asks the gateway, with a signed call, the webhook endpoints and the database server
    #[arg(long)]
    online: bool,
}

/// Reports the problems and the warnings. Nothing is started, and no order is written.
pub(crate) fn check(check: &Check, loaded: Result<Config, Problems>, json: bool) -> ExitCode {
    let mut addresses = BTreeMap::new();
    let (problems, warnings, stores) = match loaded {
        Err(problems) => (problems.0, Vec::new(), None),
        Ok(config) => {
            let found = examine(check, &config);
            let found = found.unwrap_or_else(|message| vec![Finding::unusable_database(message)]);
            let of = |status| {
                let found = found.iter().filter(move |finding| finding.status == status);
                found.map(Finding::problem)
            };
            addresses = config.gateway.first_addresses();
            match of(Status::Failed).collect::<Vec<_>>() {
                failed if failed.is_empty() => {
                    let warnings = config.warnings.into_iter().chain(of(Status::Warning));
                    (failed, warnings.collect(), Some(config.stores.len()))
                }
                failed => (failed, Vec::new(), None),
            }
        }
    };
    if json {
        let report = json!({
            "ok": problems.is_empty(),
            "stores": stores,
            "first_addresses": addresses,
            "problems": listed(&problems),
            "warnings": listed(&warnings),
        });
        println!("{report}");
    } else if let Some(stores) = stores {
        for Problem { key, message } in &warnings {
            eprintln!("Warning: {key}: {message}");
        }
        for (code, address) in &addresses {
            println!("{code}: the first address is {address}. Compare it with the wallet's.");
        }
        println!("The configuration is complete: {stores} store(s).");
    } else {
        eprint!(
            "The configuration cannot be used:\n{}",
            Problems(problems.clone())
        );
    }
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    }
}

fn listed(problems: &[Problem]) -> Vec<Value> {
    let entry = |Problem { key, message }: &Problem| json!({"key": key, "message": message});
    problems.iter().map(entry).collect()
}

/// The configuration is valid by itself; an existing database must fit it, and online also the rest of the world.
fn examine(check: &Check, config: &Config) -> Result<Vec<Finding>, String> {
    let runtime = runtime().map_err(|error| error.to_string())?;
    let environment = config.environment.as_str();
    runtime.block_on(async {
        florin_storage::check_database(&config.database_url, environment).await?;
        if !check.online {
            return Ok(Vec::new());
        }
        let findings = essentials(config).await;
        findings.map_err(|error| error.to_string())
    })
}
