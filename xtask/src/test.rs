//! `cargo xtask test`: every check, to the end, also after one that fails.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::workspace::Workspace;
use crate::{bench, demo, output, setup, test_run};

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Only the checks whose name contains this text, such as HTTP
    #[arg(long, value_name = "TEXT", default_value_t)]
    only: String,
    /// Also what takes hours: every browser in every test, 10,000 kills, 100,000 simulated orders, more requests for each operation
    #[arg(long)]
    long: bool,
}

/// The seed of the simulated orders: the same in each run. `cargo xtask simulate` draws others, and more.
const SIMULATION_SEED: u64 = 11;
/// The seed of the kills. `cargo xtask bench --kills` draws others.
const KILL_SEED: u64 = 4242;

/// The journeys start programs as well; `cargo test` alone does not build them. Built together, programs and tests share their
/// libraries; a package that is built alone compiles them once more, with other features.
const PROGRAMS_AND_TESTS: &str =
    "build --profile test --locked --quiet --workspace --bins --tests --examples";

/// A check: what is true when it passes, and how that is found out, in its long form or not.
type Check = (&'static str, fn(&Workspace, bool) -> anyhow::Result<()>);

/// Cheap ones first. All share one set of compiled libraries.
const CHECKS: [Check; 10] = [
    ("The code is formatted", format),
    ("The dependencies keep the rules", dependencies),
    ("The widget builds", |workspace, _| {
        bundle::make(workspace, Variant::Release)
    }),
    ("The widget keeps its budget", |workspace, _| {
        bundle::check_sizes(workspace, Variant::Release)
    }),
    ("Clippy has nothing to say", |workspace, _| {
        clippy(workspace, "--workspace --all-targets")
    }),
    (
        "Clippy has nothing to say about the widget in the browser",
        |workspace, _| {
            let widget = "--package florin-widget --target wasm32-unknown-unknown";
            clippy(workspace, widget)?;
            let split = "--no-default-features --features split";
            clippy(workspace, &format!("{widget} {split}"))
        },
    ),
    (
        "The contract with the browser needs no operating system",
        |workspace, _| {
            let packages = "--package florin-money --package florin-checkout-api";
            workspace.build(&format!("--target wasm32-unknown-unknown {packages}"))
        },
    ),
    ("The documentation is whole", |workspace, _| {
        let doc = workspace.cargo("doc --locked --workspace --no-deps --quiet");
        // A link from a public page to a private part helps readers of the source.
        let flags = "-D warnings -A rustdoc::private_intra_doc_links";
        Ok(doc.env("RUSTDOCFLAGS", flags).run()?)
    }),
    ("The tests pass", |workspace, is_long| {
        // With `--only`, this check would test the bundle that was built last.
        bundle::make(workspace, Variant::Release)?;
        bundle::cargo_with(workspace, Variant::Release, PROGRAMS_AND_TESTS).run()?;
        let metadata = workspace.cargo("metadata --no-deps --format-version 1 --offline");
        let metadata = serde_json::from_str(&metadata.read()?)?;
        let folder = temporary_folder(workspace)?;
        let unstable = test_run::all(&metadata, is_long, |arguments, threads| {
            let test = workspace.cargo("test --locked --workspace").args(arguments);
            let test = test.env("TMPDIR", &folder);
            let test = test.env("FLORIN_SIM_SEED", SIMULATION_SEED.to_string());
            let test = test.env("FLORIN_KILL_SEED", KILL_SEED.to_string());
            test.env("RUST_TEST_THREADS", threads.to_string()).into()
        })?;
        for test in unstable {
            output::failed(format!("unstable, passed only alone: {test}"));
        }
        // After a failure it is kept: it may hold the evidence. What cannot be removed harms no later run.
        if folder.starts_with(MEMORY) {
            let _ = fs::remove_dir_all(folder);
        }
        Ok(())
    }),
    ("The HTTP is as it is described", http),
];

const LONG_CHECKS: [Check; 2] = [
    ("10,000 kills lose and repeat nothing", |workspace, _| {
        bench::ten_thousand_kills(workspace)
    }),
    ("100,000 simulated orders keep the rules", |workspace, _| {
        bench::simulate_many(workspace)
    }),
];

pub(crate) fn run(workspace: &Workspace, args: &TestArgs) -> anyhow::Result<()> {
    let checks = chosen(&args.only, args.long)?;
    setup::set_up(workspace)?;
    setup::install_for_tests(workspace)?;
    let mut failures = Vec::new();
    let number = checks.len();
    for (name, run) in checks {
        output::heading(name);
        let time = output::stopwatch();
        match run(workspace, args.long) {
            Ok(()) => output::passed(format!("{name} ({})", time())),
            Err(error) => {
                let failure = format!("{name} ({}): {error:#}", time());
                output::failed(&failure);
                failures.push(failure);
            }
        }
    }
    println!(
        "\n{} passed, {} failed",
        number - failures.len(),
        failures.len()
    );
    ensure!(failures.is_empty(), "failed: {}", failures.join("\n"));
    Ok(())
}

fn chosen(only: &str, is_long: bool) -> anyhow::Result<Vec<Check>> {
    let only = only.to_lowercase();
    let long_checks = LONG_CHECKS.into_iter().filter(|_| is_long);
    let all = CHECKS.into_iter().chain(long_checks);
    let chosen = all.filter(|(name, _)| name.to_lowercase().contains(&only));
    let chosen: Vec<Check> = chosen.collect();
    if chosen.is_empty() {
        let names = CHECKS.map(|(name, _)| name).join(" · ");
        bail!("no check's name contains {only:?}; the names are: {names}");
    }
    Ok(chosen)
}

const MEMORY: &str = "/dev/shm";
/// Megabytes that the databases and profiles of a run fit into, several times.
const ENOUGH_MEMORY: u64 = 4096;

/// The folder for the files of the tests: in memory where there is room, unless the caller chose one. A disk that stalls for seconds
/// is an outage to the proxy, and fails a test.
fn temporary_folder(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let sh = &workspace.sh;
    let free = cmd!(sh, "df --output=avail --block-size=1M {MEMORY}");
    let free = free.quiet().ignore_stderr().read().unwrap_or_default();
    let free = free
        .lines()
        .last()
        .and_then(|line| line.trim().parse().ok());
    if std::env::var_os("TMPDIR").is_some() || free < Some(ENOUGH_MEMORY) {
        return Ok(std::env::temp_dir());
    }
    let folder = PathBuf::from(format!("{MEMORY}/florin-tests-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    // PostgreSQL runs as another user.
    fs::set_permissions(&folder, Permissions::from_mode(0o1777))?;
    Ok(folder)
}

fn clippy(workspace: &Workspace, what: &str) -> anyhow::Result<()> {
    let clippy = format!("clippy --locked --quiet {what} -- -D warnings");
    Ok(workspace.cargo(&clippy).run()?)
}

fn format(workspace: &Workspace, _: bool) -> anyhow::Result<()> {
    workspace.cargo("fmt --all --check").run()?;
    let leptosfmt = workspace.sh.cmd(setup::LEPTOSFMT.program(workspace)?);
    let config = ["--config-file", "widget/leptosfmt.toml"];
    let check = leptosfmt
        .args(config)
        .args(["--check", "--quiet", "widget/src"]);
    check
        .quiet()
        .run()
        .context("format the views with: leptosfmt --config-file widget/leptosfmt.toml widget/src")
}

/// Known advisories are looked up where this machine has the database of cargo-deny. Tests download nothing but packages, so
/// they do not fetch it.
fn dependencies(workspace: &Workspace, _: bool) -> anyhow::Result<()> {
    let cargo_deny = setup::CARGO_DENY.program(workspace)?;
    let mut checks = vec!["bans", "licenses", "sources"];
    if has_advisories() {
        checks.push("advisories");
    } else {
        output::step(
            "No advisories are looked up: `cargo deny fetch db` downloads them from GitHub",
        );
    }
    let options = ["--offline", "--locked", "--log-level", "error"];
    let check = ["check", "--hide-inclusion-graph"];
    let deny = workspace.sh.cmd(cargo_deny).args(options).args(check);
    Ok(deny.args(checks).quiet().run()?)
}

/// Returns `true` if cargo-deny has a database in its default folder.
fn has_advisories() -> bool {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let databases = cargo.or_else(home).map(|cargo| cargo.join("advisory-dbs"));
    let entries = databases.and_then(|databases| fs::read_dir(databases).ok());
    entries.is_some_and(|entries| entries.flatten().any(|entry| entry.path().is_dir()))
}

/// Schemathesis reads `/openapi.json` of a demo on free ports, and sends what a client may send and what none should.
/// `tests/schemathesis` has its settings.
fn http(workspace: &Workspace, is_long: bool) -> anyhow::Result<()> {
    let st = setup::schemathesis(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::cargo_with(workspace, Variant::Release, PROGRAMS_AND_TESTS).run()?;
    let sh = &workspace.sh;
    let (folder, demo) = (
        sh.create_temp_dir()?,
        workspace.debug_program("florin-demo"),
    );
    let port = demo::free_port_base()
        .context("no --port-base has free ports")?
        .to_string();
    let settings = workspace.root.join("tests/schemathesis");
    let log = folder.path().join("florin.log");
    // The same requests at every run.
    let (examples, seconds) = if is_long { ("40", "600") } else { ("15", "40") };
    let options = ["--seed", "20261121", "--max-examples", examples];
    let options = [&options[..], &["--max-time", seconds]].concat();
    let path = folder.path();
    let inside = sh.push_dir(path);
    let passed = cmd!(sh, "{demo} --port-base {port} --folder {path} -- {st} --config-file {settings}/schemathesis.toml run {options...} http://127.0.0.1:{port}/openapi.json")
        .env("PYTHONPATH", &settings)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .quiet()
        .run();
    drop(inside);
    let text = fs::read_to_string(&log).unwrap_or_default();
    let errors = errors(&text);
    if passed.is_err() || !errors.is_empty() {
        errors.iter().for_each(output::failed);
        let kept = workspace.target.join("schemathesis.log");
        sh.copy_file(&log, &kept)?;
        output::failed(format!("The demo's log is {}", kept.display()));
    }
    passed?;
    ensure!(errors.is_empty(), "errors were logged, see above");
    Ok(())
}

/// The one error that a holder of a store's key may cause: the store should know about requests for other prices.
const ALARM: &str = "a reference came again at another price";

/// The errors in a log, panics included: nothing else that a client sends may cause one.
fn errors(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.split_whitespace().nth(1) == Some("ERROR") && !line.contains(ALARM))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_chosen_by_a_part_of_their_name() {
        let count = |only| chosen(only, false).map(|checks| checks.len());
        assert_eq!(count("http").unwrap(), 1);
        assert_eq!(count("clippy").unwrap(), 2);
        assert_eq!(count("").unwrap(), CHECKS.len());
        assert_eq!(chosen("kills", true).unwrap().len(), 1);
        let error = count("tidiness").unwrap_err().to_string();
        let begin =
            "no check's name contains \"tidiness\"; the names are: The code is formatted · ";
        assert!(error.starts_with(begin), "{error}");
    }

    #[test]
    fn errors_are_found_in_a_log() {
        let log = "2026-11-22T00:00:00Z  INFO proxy: an ERROR\n2026-11-22T00:00:00Z ERROR proxy: panicked at x\n\
                   2026-11-22T00:00:00Z ERROR proxy: a reference came again at another price\n";
        assert_eq!(errors(log).len(), 1);
    }
}
