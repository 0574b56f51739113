//! `florin-proxy check-config`: everything that is wrong with the configuration.

use std::process::ExitCode;

use clap::Args;
use florin_proxy::config::{Config, Problem, Problems};
use serde_json::{Value, json};

use crate::commands::doctor::{Finding, Status, essentials};

/// What is checked.
#[derive(Args)]
pub(crate) struct Check {
    /// Also asks the gateway, with a signed call, the webhook endpoints and the database server
    #[arg(long)]
    online: bool,
}

/// Reports the problems and the warnings. Nothing is started, and no order is written.
pub(crate) fn run(check: &Check, loaded: Result<Config, Problems>, json: bool) -> ExitCode {
    let checked = loaded.and_then(|mut config| {
        let asked = examine(check, &config);
        let found = asked.unwrap_or_else(|message| vec![problem("database_url", message)]);
        let (failed, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(is_failed, _)| *is_failed);
        let bare = |found: Vec<(bool, Problem)>| found.into_iter().map(|(_, problem)| problem);
        config.warnings.extend(bare(warnings));
        if failed.is_empty() {
            Ok(config)
        } else {
            Err(Problems(bare(failed).collect()))
        }
    });
    let (problems, warnings, stores) = match checked {
        Ok(config) => (Vec::new(), config.warnings, Some(config.stores.len())),
        Err(problems) => (problems.0, Vec::new(), None),
    };
    if json {
        let report = json!({
            "ok": problems.is_empty(),
            "stores": stores,
            "problems": listed(&problems),
            "warnings": listed(&warnings),
        });
        println!("{report}");
    } else if let Some(stores) = stores {
        for Problem { key, message } in &warnings {
            eprintln!("Warning: {key}: {message}");
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

/// The configuration is valid by itself; an existing database must fit it, and online also the rest of the world. Each
/// problem with `true` if it is more than a warning.
fn examine(check: &Check, config: &Config) -> Result<Vec<(bool, Problem)>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let environment = config.environment.as_str();
    runtime.block_on(async {
        florin_storage::check_database(&config.database_url, environment).await?;
        if !check.online {
            return Ok(Vec::new());
        }
        let findings = essentials(config)
            .await
            .map_err(|error| error.to_string())?;
        let problems = findings
            .into_iter()
            .filter(|finding| finding.status != Status::Ok);
        Ok(problems.map(described).collect())
    })
}

/// A finding as a problem: its sentence, then its remedy.
fn described(finding: Finding) -> (bool, Problem) {
    let message = match finding.remedy {
        Some(remedy) => format!("{}. Remedy: {remedy}", finding.message),
        None => finding.message,
    };
    let problem = Problem {
        key: finding.key,
        message,
    };
    (finding.status == Status::Failed, problem)
}

fn problem(key: &str, message: String) -> (bool, Problem) {
    let key = key.to_owned();
    (true, Problem { key, message })
}
