//! `cargo xtask test`: every check, to the end, whatever fails on the way.

use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::arguments::{LifeWishes, TestWishes};
use crate::program::Program;
use crate::screen::{self, bad, good, heading};
use crate::stopwatch::Stopwatch;
use crate::workspace::Workspace;
use crate::{bench, budget, bundle, schemathesis, tools};

/// One check: what it says of the repository, and how it finds out.
struct Check {
    claim: &'static str,
    run: fn(&Workspace) -> anyhow::Result<()>,
}

/// Cheap ones first. All share one set of compiled libraries, but for the simulation, whose code is optimised.
const CHECKS: [Check; 11] = [
    Check {
        claim: "The code is formatted",
        run: format,
    },
    Check {
        claim: "The dependencies keep the rules",
        run: dependencies,
    },
    Check {
        claim: "The widget builds",
        run: |workspace| bundle::make(workspace, bundle::Variant::Release),
    },
    Check {
        claim: "The widget keeps its budget",
        run: |workspace| {
            let kept = budget::print(workspace, bundle::Variant::Release)?;
            anyhow::ensure!(kept, "the widget is larger than promised");
            Ok(())
        },
    },
    Check {
        claim: "Clippy has nothing to say",
        run: |workspace| {
            let host = [
                "clippy",
                "--locked",
                "--workspace",
                "--all-targets",
                "--quiet",
            ];
            cargo(workspace, &[&host[..], &["--", "-D", "warnings"]].concat())
        },
    },
    Check {
        claim: "Clippy has nothing to say about the widget in the browser",
        run: |workspace| {
            let browser = ["clippy", "--locked", "--package", "widget", "--quiet"];
            let wasm = ["--target", "wasm32-unknown-unknown"];
            let deny = ["--", "-D", "warnings"];
            cargo(workspace, &[&browser[..], &wasm, &deny].concat())?;
            let split = ["--no-default-features", "--features", "split"];
            cargo(workspace, &[&browser[..], &wasm, &split, &deny].concat())
        },
    },
    Check {
        claim: "The contract with the browser needs no operating system",
        run: |workspace| {
            let build = [
                "build",
                "--locked",
                "--quiet",
                "--target",
                "wasm32-unknown-unknown",
            ];
            let packages = ["--package", "money", "--package", "checkout-api"];
            cargo(workspace, &[&build[..], &packages].concat())
        },
    },
    Check {
        claim: "The documentation is whole",
        run: |workspace| {
            Program::cargo(workspace)
                .args(["doc", "--locked", "--workspace", "--no-deps", "--quiet"])
                // A link from a public page to a private part is a help to whoever reads the source.
                .env(
                    "RUSTDOCFLAGS",
                    "-D warnings -A rustdoc::private_intra_doc_links",
                )
                .run()
        },
    },
    Check {
        claim: "The tests pass",
        run: |workspace| {
            // Alone, this check would look at whatever was built last.
            bundle::make(workspace, bundle::Variant::Release)?;
            // The journeys start these as programs as well; `cargo test` alone does not build them.
            let programs = ["--package", "proxy", "--package", "auditor"];
            let build = ["build", "--locked", "--quiet"];
            cargo(workspace, &[&build[..], &programs].concat())?;
            Program::cargo(workspace)
                .args(["test", "--locked", "--workspace", "--no-fail-fast"])
                // Just enough to see that it runs: another check plays the rest, optimised.
                .env("FLORIN_SIM_LIVES", "100")
                .run()
        },
    },
    Check {
        claim: "The HTTP is as it is described",
        run: schemathesis::run,
    },
    Check {
        claim: "Simulated orders live through whatever fails",
        run: |workspace| {
            let (lives, seed) = (20_000, None);
            bench::lives::play(workspace, &LifeWishes { lives, seed }).map(drop)
        },
    },
];

/// Runs the wanted checks; fails when one fails.
///
/// # Errors
/// None of the checks is wanted, or the set-up cannot be completed; the sentence says what to do.
pub(crate) fn run(workspace: &Workspace, wishes: &TestWishes) -> anyhow::Result<ExitCode> {
    let checks = wanted(wishes)?;
    tools::set_up(workspace)?;
    tools::install_for_tests(workspace)?;
    let mut failed = Vec::new();
    for check in &checks {
        heading(check.claim);
        let watch = Stopwatch::start();
        let outcome = (check.run)(workspace);
        let time = screen::time(watch.elapsed());
        match outcome {
            Ok(()) => good(format!("{} ({time})", check.claim)),
            Err(error) => {
                bad(format!("{} ({time}): {error:#}", check.claim));
                failed.push(check.claim);
            }
        }
    }
    if !failed.is_empty() {
        heading("What failed");
        failed.iter().for_each(bad);
    }
    println!(
        "\n{} passed, {} failed",
        checks.len() - failed.len(),
        failed.len()
    );
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn wanted(wishes: &TestWishes) -> anyhow::Result<Vec<&'static Check>> {
    let text = wishes.only.as_deref().unwrap_or_default().to_lowercase();
    let checks = CHECKS
        .iter()
        .filter(|check| check.claim.to_lowercase().contains(&text));
    let checks: Vec<_> = checks.collect();
    if checks.is_empty() {
        let claims: Vec<_> = CHECKS.iter().map(|check| check.claim).collect();
        bail!(
            "no check claims {text:?}; they claim: {}",
            claims.join(" · ")
        );
    }
    Ok(checks)
}

fn cargo(workspace: &Workspace, words: &[&str]) -> anyhow::Result<()> {
    Program::cargo(workspace).args(words).run()
}

fn format(workspace: &Workspace) -> anyhow::Result<()> {
    cargo(workspace, &["fmt", "--all", "--check"])?;
    let folder = tools::LEPTOSFMT.folder(workspace)?;
    Program::new(folder.join(tools::LEPTOSFMT.name), workspace)
        .args(["--check", "--quiet", "widget/src"])
        .run()
        .context("format the views with: leptosfmt widget/src")
}

fn dependencies(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = tools::CARGO_DENY.folder(workspace)?;
    Program::new(folder.join(tools::CARGO_DENY.name), workspace)
        .args(["--offline", "--locked", "--log-level", "error"])
        .args([
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ])
        .run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_check_can_be_had_alone() {
        let claims = |text: &str| {
            let only = Some(text.to_owned());
            wanted(&TestWishes { only }).map(|checks| checks.len())
        };
        assert_eq!(claims("http").unwrap(), 1);
        assert_eq!(claims("clippy").unwrap(), 2);
        let sentence = claims("tidiness").unwrap_err().to_string();
        let begin = "no check claims \"tidiness\"; they claim: The code is formatted · ";
        assert!(sentence.starts_with(begin), "{sentence}");
        assert_eq!(wanted(&TestWishes::default()).unwrap().len(), CHECKS.len());
    }
}
