//! `cargo test` of the whole workspace, in several runs. A few failed tests are run again, alone.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead as _, BufReader, pipe};
use std::process::{Command, ExitStatus};
use std::thread;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

const SEPARATE: [&str; 3] = ["api", "browser", "campaign"];
/// The targets whose failed tests are not repeated: they draw their faults from a seed. All others share the machine's time with
/// servers, browsers or the campaign.
const NOT_REPEATED: [&str; 2] = ["--test campaign", "--test simulation"];
/// With more failed tests than these, none is repeated.
const MOST_REPEATED: usize = 3;
/// A repeated test has to pass this many times in a row.
const REPETITIONS: u32 = 3;
/// The long form of the tests includes those that are ignored. These are no tests: they write files.
const LONG: [&str; 6] = [
    "--",
    "--include-ignored",
    "--skip",
    "pictures_of_every_state",
    "--skip",
    "writes_the_databases_of_this_version",
];

#[derive(Debug, Default)]
struct Report {
    tests: Vec<String>,
    /// As cargo lists them, those that crashed included: `-p florin-tests --test browser`.
    targets: Vec<String>,
    /// The number of failed targets that ran all their tests.
    ended: usize,
}

impl Report {
    fn read(&mut self, line: &str) {
        let test = line.strip_prefix("test ");
        if let Some(test) = test.and_then(|test| test.strip_suffix(" ... FAILED")) {
            let test = test.trim_end_matches(" - should panic");
            self.tests.push(test.to_owned());
        } else if line.starts_with("test result: FAILED") {
            self.ended += 1;
        } else if line.trim().starts_with("`-p ") {
            self.targets.push(line.trim().trim_matches('`').to_owned());
        }
    }

    /// The arguments that run the failed tests alone, if they are few and none is of `NOT_REPEATED`.
    fn repetition(&self) -> Option<Vec<&str>> {
        let is_complete = self.ended == self.targets.len();
        let is_seeded = NOT_REPEATED
            .iter()
            .any(|seeded| self.targets.iter().any(|target| target.ends_with(seeded)));
        if !is_complete || is_seeded || !(1..=MOST_REPEATED).contains(&self.tests.len()) {
            return None;
        }
        let targets = self.targets.iter();
        let targets = targets.flat_map(|target| target.split(' ').skip(2));
        let tests = self.tests.iter().map(String::as_str);
        let alone = ["--", "--include-ignored", "--exact"];
        Some(targets.chain(alone).chain(tests).collect())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.targets.join(", "))?;
        self.tests
            .iter()
            .try_for_each(|test| write!(f, "\n  {test}"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    AsItComes,
    /// In one piece, so that it does not mix with that of another run.
    AtItsEnd,
}

/// Runs the command, and adds what it prints about failures to the report.
fn run(mut command: Command, output: Output, report: &mut Report) -> anyhow::Result<ExitStatus> {
    // Cargo names a target on standard error, and libtest its tests on standard output: one pipe keeps their order.
    let (reader, writer) = pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cargo cannot be started")?;
    // The command holds the writing end open.
    drop(command);
    let failed_before = report.targets.len();
    let mut kept = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        report.read(&line);
        if output == Output::AsItComes {
            println!("{line}");
        } else {
            kept.push(line);
        }
    }
    if !kept.is_empty() {
        println!("{}", kept.join("\n"));
    }
    let status = child.wait()?;
    ensure!(
        status.success() || report.targets.len() > failed_before,
        "{status}: a run ended before its tests did; failed so far: {report}"
    );
    Ok(status)
}

/// The arguments of `cargo test --workspace`, and the number of tests at a time for each processor.
type Run<'a> = (Vec<&'a str>, usize);

#[derive(Debug, PartialEq, Eq)]
struct Runs<'a> {
    /// It waits for restarts, disasters and drains: other runs go on beside it.
    campaign: Run<'a>,
    beside_campaign: [Run<'a>; 2],
    /// Their servers and browsers need the machine for themselves.
    afterwards: [Run<'a>; 2],
}

/// `metadata` is what `cargo metadata` prints: a run that leaves targets out names all others.
fn runs(metadata: &Value, is_long: bool) -> Runs<'_> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"] == json!(["test"]));
    let names: BTreeSet<&str> = tests.filter_map(|target| target["name"].as_str()).collect();
    let others = names.into_iter().filter(|name| !SEPARATE.contains(name));
    let others = others.flat_map(|name| ["--test", name]);
    let others = ["--lib", "--bins"].into_iter().chain(others).collect();
    let more: &[&str] = if is_long { &LONG } else { &[] };
    let [api, browser, campaign] = SEPARATE.map(|name| [&["--test", name], more].concat());
    Runs {
        campaign: (campaign, 2),
        beside_campaign: [(others, 2), (vec!["--doc"], 2)],
        // The api tests wait most of their time: for a poll, a delivery, a lease.
        afterwards: [(api, 4), (browser, 2)],
    }
}

/// Runs all tests of the workspace. `cargo_test` makes the command from the arguments behind `cargo test --workspace` and the number of
/// tests at a time, `metadata` is what `cargo metadata` prints.
///
/// Servers and browser engines share the machine with the tests. Up to three tests that fail while all others pass are run
/// again, alone, three times. Returns those that passed each time. Those of `NOT_REPEATED` are never repeated.
pub(crate) fn all(
    metadata: &Value,
    is_long: bool,
    cargo_test: impl Fn(&[&str], usize) -> Command,
) -> anyhow::Result<Vec<String>> {
    let runs = runs(metadata, is_long);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let command = |(arguments, threads): &Run<'_>| {
        let arguments = [&["--no-fail-fast"], &arguments[..]].concat();
        cargo_test(&arguments, threads * processors)
    };
    let (mut report, mut of_campaign) = (Report::default(), Report::default());
    let campaign = command(&runs.campaign);
    thread::scope(|scope| {
        let campaign = scope.spawn(|| run(campaign, Output::AtItsEnd, &mut of_campaign));
        for one in &runs.beside_campaign {
            run(command(one), Output::AsItComes, &mut report)?;
        }
        campaign.join().expect("a run does not panic")
    })?;
    for one in &runs.afterwards {
        run(command(one), Output::AsItComes, &mut report)?;
    }
    report.tests.extend(of_campaign.tests);
    report.targets.extend(of_campaign.targets);
    report.ended += of_campaign.ended;
    if report.targets.is_empty() {
        return Ok(Vec::new());
    }
    let Some(arguments) = report.repetition() else {
        bail!("{report}");
    };
    for _ in 0..REPETITIONS {
        let mut again = Report::default();
        let status = run(cargo_test(&arguments, 1), Output::AsItComes, &mut again)?;
        ensure!(status.success(), "{report}\nagain, alone: {again}");
    }
    Ok(report.tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Report {
        let mut report = Report::default();
        text.lines().for_each(|line| report.read(line));
        report
    }

    const BROWSER: &str = "     Running tests/browser/main.rs (target/debug/deps/browser-1)
test engines::a ... ok
test engines::b ... FAILED
test engines::c - should panic ... FAILED

test result: FAILED. 1 passed; 2 failed
error: 1 target failed:
    `-p florin-tests --test browser`
";

    #[test]
    fn every_target_is_in_one_run() {
        let target = |kind: &str, name: &str| json!({ "kind": [kind], "name": name });
        let metadata = json!({ "packages": [
            { "targets": [target("lib", "florin_money"), target("test", "it")] },
            { "targets": [target("test", "it"), target("bin", "florin-proxy")] },
            { "targets": [target("test", "api"), target("test", "browser"), target("test", "campaign")] },
        ] });
        let names = |(arguments, _): &Run<'_>| arguments.join(" ");
        let short = runs(&metadata, false);
        assert_eq!(names(&short.campaign), "--test campaign");
        let beside = short.beside_campaign.each_ref().map(names);
        assert_eq!(beside, ["--lib --bins --test it", "--doc"]);
        let afterwards = short.afterwards.each_ref().map(names);
        assert_eq!(afterwards, ["--test api", "--test browser"]);
        let long = names(&runs(&metadata, true).afterwards[1]);
        assert!(long.starts_with("--test browser -- --include-ignored --skip "));
    }

    #[test]
    fn a_run_that_ends_before_its_tests_fails_whatever_passes_again() {
        let cargo_test = |arguments: &[&str], _| {
            let script = match arguments {
                [.., "api"] => "echo 'error: could not compile'; exit 101",
                ["--no-fail-fast", .., "browser"] => "printf %s \"$0\"; exit 101",
                _ => "exit 0",
            };
            let mut command = Command::new("sh");
            command.args(["-c", script, BROWSER]);
            command
        };
        let error = all(&json!({}), false, cargo_test).unwrap_err().to_string();
        assert!(error.contains("before its tests did"), "{error}");
    }

    #[test]
    fn a_few_failed_tests_of_targets_with_servers_are_repeated() {
        let repetition = |text: &str| report(text).repetition().map(|all| all.join(" "));
        assert_eq!(
            repetition(BROWSER).unwrap(),
            "--test browser -- --include-ignored --exact engines::b engines::c"
        );
        let storage = "test losses::d ... FAILED\ntest result: FAILED. 0 passed; 1 failed\n    `-p florin-storage --lib`\n";
        assert_eq!(
            repetition(&[BROWSER, storage].concat()).unwrap(),
            "--test browser --lib -- --include-ignored --exact engines::b engines::c losses::d"
        );
        let too_many = [BROWSER, storage, storage].concat();
        let crashed = format!("{BROWSER}    `-p florin-tests --test api`\n");
        let [campaign, simulation] =
            ["campaign", "simulation"].map(|seeded| BROWSER.replace("browser", seeded));
        for text in [too_many, crashed, campaign, simulation] {
            assert_eq!(repetition(&text), None, "{text}");
        }
    }
}
