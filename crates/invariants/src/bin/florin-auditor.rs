//! `florin-auditor`: checks a run of the proxy by its database and logs.
//!
//! It sends no request and shares no code with the proxy. It prints one line per rule with the number of checked objects,
//! and below it what breaks the rule. Exits with 0 if all rules hold, 1 if one is broken, 2 if evidence is missing.

use std::process::ExitCode;

use clap::Parser as _;
use florin_invariants::{Sources, audit};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let findings = match audit(&Sources::parse()).await {
        Ok(findings) => findings,
        Err(error) => {
            eprintln!("florin-auditor: {error:#}");
            return ExitCode::from(2);
        }
    };
    for finding in &findings {
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
