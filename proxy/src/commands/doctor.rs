//! `florin-proxy doctor`: everything outside the configuration that a payment needs, each finding with its remedy.

use florin_proxy::config::{Config, Problem};
use serde_json::json;

use crate::doctor::{Finding, Status, essentials, public_url};

/// Examines and prints. Returns `true` if nothing failed.
pub(crate) fn run(config: &Config, json: bool) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let findings = runtime.block_on(examine(config))?;
    let is_well = findings
        .iter()
        .all(|finding| finding.status != Status::Failed);
    if json {
        println!("{}", json!({"ok": is_well, "findings": findings}));
        return Ok(is_well);
    }
    for Finding {
        key,
        status,
        message,
        remedy,
    } in &findings
    {
        let word = match status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "failed",
        };
        println!("{word:<8} {key}: {message}");
        if let Some(remedy) = remedy {
            println!("         → {remedy}");
        }
    }
    Ok(is_well)
}

async fn examine(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = config.warnings.iter().map(warning).collect();
    findings.extend(essentials(config).await?);
    findings.extend(public_url(config).await?);
    Ok(findings)
}

/// A warning of the configuration has its remedy in its sentence.
fn warning(Problem { key, message }: &Problem) -> Finding {
    Finding {
        key: key.clone(),
        status: Status::Warning,
        message: message.clone(),
        remedy: None,
    }
}
