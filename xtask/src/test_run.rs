//! `cargo test` of the whole workspace, in several runs: their output as it comes, then each failed test with its message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead as _, BufReader, pipe};
use std::process::{Command, ExitStatus};
use std::thread;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

/// The targets with a separate run each.
const SEPARATE: [&str; 3] = ["api", "browser", "campaign"];

/// The targets whose failed tests are not repeated: they draw their faults from a seed. All others share the machine's time with servers,
/// browsers or the campaign.
const NOT_REPEATED: [&str; 2] = ["--test campaign", "--test simulation"];
/// With more failed tests than these, none is repeated.
const MOST_REPEATED: usize = 3;
/// So many times in a row a repeated test has to pass.
const REPETITIONS: u32 = 3;
/// Lines of a target's failure messages that the summary repeats.
const MOST_LINES: usize = 60;

/// The failed tests of one target, such as `tests/api/main.rs`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Failures {
    tests: Vec<String>,
    /// What libtest prints about them.
    messages: Vec<String>,
    /// `true` if every test was run: libtest printed its result.
    is_complete: bool,
}

/// What a run of `cargo test` printed about failures.
#[derive(Debug, Default)]
struct Report {
    /// By the path of their target.
    failures: BTreeMap<String, Failures>,
    /// The targets that cargo lists as failed, those that crashed included.
    failed_targets: Vec<String>,
    target: String,
    in_messages: bool,
}

impl Report {
    fn read(&mut self, line: &str) {
        let words = line.trim_start();
        if let Some(target) = words.strip_prefix("Running ") {
            target.clone_into(&mut self.target);
        } else if let Some(library) = words.strip_prefix("Doc-tests ") {
            self.target = format!("documentation of {library}");
        } else if let Some(test) = line
            .strip_prefix("test ")
            .and_then(|line| line.strip_suffix(" ... FAILED"))
        {
            let test = test.trim_end_matches(" - should panic").to_owned();
            self.failures().tests.push(test);
        } else if line == "failures:" {
            // The first heading is that of the messages, the second that of a list of names.
            self.in_messages = !self.in_messages;
        } else if line.starts_with("test result:") {
            self.in_messages = false;
            if let Some(failures) = self.failures.get_mut(&self.target) {
                failures.is_complete = true;
            }
        } else if self.in_messages {
            if !is_of_backtrace(words) {
                self.failures().messages.push(line.to_owned());
            }
        } else if words.starts_with("`-p ") {
            self.failed_targets.push(words.to_owned());
        }
    }

    fn failures(&mut self) -> &mut Failures {
        self.failures.entry(self.target.clone()).or_default()
    }

    /// The arguments that run the failed tests alone, if they are few and none is of `NOT_REPEATED`.
    fn repetition(&self) -> Option<Vec<&str>> {
        let tests = self.failures.values().flat_map(|failures| &failures.tests);
        let tests: Vec<&str> = tests.map(String::as_str).collect();
        // A target that crashed prints no result, and perhaps no failed test.
        let is_complete = self.failures.len() == self.failed_targets.len()
            && self.failures.values().all(|failures| failures.is_complete);
        if !is_complete || tests.len() > MOST_REPEATED {
            return None;
        }
        let mut arguments = Vec::new();
        for failed in &self.failed_targets {
            // Such as "`-p florin-tests --test browser`".
            let target = &failed[failed.find("--")?..].trim_end_matches('`');
            if NOT_REPEATED.contains(target) {
                return None;
            }
            arguments.extend(target.split(' '));
        }
        arguments.extend(["--", "--exact"]);
        (!tests.is_empty()).then(|| [arguments, tests].concat())
    }

    fn tests(self) -> Vec<String> {
        let failures = self.failures.into_values();
        failures.flat_map(|failures| failures.tests).collect()
    }
}

/// Returns `true` for a frame such as `12: tokio::run` or `at src/main.rs:7:5`: it would displace the messages.
fn is_of_backtrace(words: &str) -> bool {
    let number = words.split_once(": ").map(|(number, _)| number);
    words.starts_with("at ") || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failed_targets.join(", "))?;
        for failures in self.failures.values() {
            let lines = failures.messages.iter().take(MOST_LINES);
            for line in failures.tests.iter().chain(lines) {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}

/// The status of a run, and what it printed about failures.
type Outcome = (ExitStatus, Report);

/// Runs the command, prints its output as it comes, and reads it.
fn run(mut command: Command) -> anyhow::Result<Outcome> {
    // Cargo names a target on standard error, and libtest its tests on standard output: one pipe keeps their order.
    let (reader, writer) = pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cargo cannot be started")?;
    // The command holds the writing end open.
    drop(command);
    let mut report = Report::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        report.read(&line);
    }
    Ok((child.wait()?, report))
}

/// A run of `cargo test --workspace`: the further arguments, and the number of tests at a time for each processor.
type Run<'a> = (Vec<&'a str>, usize);

/// All runs.
#[derive(Debug, PartialEq, Eq)]
struct Runs<'a> {
    /// It waits for restarts, disasters and drains: other runs go on beside it.
    campaign: Run<'a>,
    beside_campaign: [Run<'a>; 2],
    /// Their servers and browsers need the machine for themselves.
    afterwards: [Run<'a>; 2],
}

/// `metadata` is what `cargo metadata` prints: a run that leaves targets out names all others.
fn runs(metadata: &Value) -> Runs<'_> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"] == json!(["test"]));
    let names: BTreeSet<&str> = tests.filter_map(|target| target["name"].as_str()).collect();
    let others = names.into_iter().filter(|name| !SEPARATE.contains(name));
    let others = others.flat_map(|name| ["--test", name]);
    let others = ["--lib", "--bins"].into_iter().chain(others).collect();
    let [api, browser, campaign] = SEPARATE.map(|name| vec!["--test", name]);
    Runs {
        campaign: (campaign, 2),
        beside_campaign: [(others, 2), (vec!["--doc"], 2)],
        // The api tests wait most of their time: for a poll, a delivery, a lease.
        afterwards: [(api, 4), (browser, 2)],
    }
}

/// Makes each run. The lines of two that go on at the same time mix: the error of [`all`] has each failure in one piece.
fn run_each(
    runs: &Runs<'_>,
    cargo_test: impl Fn(&[&str], usize) -> Command,
) -> anyhow::Result<Vec<Outcome>> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let command = |(arguments, threads): &Run<'_>| {
        let arguments = [&["--no-fail-fast"], &arguments[..]].concat();
        cargo_test(&arguments, threads * processors)
    };
    let in_turn = |runs: &[Run<'_>; 2]| -> anyhow::Result<Vec<Outcome>> {
        let outcomes = runs.iter().map(|one| run(command(one)));
        outcomes.collect()
    };
    let campaign = command(&runs.campaign);
    let (campaign, beside) = thread::scope(|scope| {
        let campaign = scope.spawn(|| run(campaign));
        let beside = in_turn(&runs.beside_campaign);
        (campaign.join().expect("a run does not panic"), beside)
    });
    let mut outcomes = beside?;
    outcomes.push(campaign?);
    outcomes.extend(in_turn(&runs.afterwards)?);
    Ok(outcomes)
}

/// Runs all tests of the workspace. `cargo_test` makes the command from the arguments behind `cargo test --workspace` and the number of
/// tests at a time, `metadata` is what `cargo metadata` prints.
///
/// Servers and browser engines share the machine with the tests. Up to three tests that fail while all others pass are run
/// again, alone, three times. Returns those that passed each time. Those of `NOT_REPEATED` are never repeated.
///
/// # Errors
/// A test failed. The error has each failed test and its message.
pub(crate) fn all(
    metadata: &Value,
    cargo_test: impl Fn(&[&str], usize) -> Command,
) -> anyhow::Result<Vec<String>> {
    let mut report = Report::default();
    let mut failed = None;
    for (status, one) in run_each(&runs(metadata), &cargo_test)? {
        ensure!(
            status.success() || !one.failed_targets.is_empty(),
            "{status}: a run ended before its tests did, with these failures: {one}"
        );
        report.failures.extend(one.failures);
        report.failed_targets.extend(one.failed_targets);
        failed = failed.or((!status.success()).then_some(status));
    }
    let Some(status) = failed else {
        return Ok(Vec::new());
    };
    let Some(arguments) = report.repetition() else {
        bail!("{status}: {report}");
    };
    for _ in 0..REPETITIONS {
        let (status, again) = run(cargo_test(&arguments, 1))?;
        ensure!(status.success(), "{report}\nagain, alone: {again}");
    }
    println!("{report}");
    Ok(report.tests())
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
test engines::d has been running for over 60 seconds

failures:

---- engines::b stdout ----
the element is not on the page
stack backtrace:
   0: core::panicking::panic_fmt
             at /library/panicking.rs:80:14

failures:
    engines::b

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
        let runs = runs(&metadata);
        assert_eq!(names(&runs.campaign), "--test campaign");
        let beside = runs.beside_campaign.each_ref().map(names);
        assert_eq!(beside, ["--lib --bins --test it", "--doc"]);
        let afterwards = runs.afterwards.each_ref().map(names);
        assert_eq!(afterwards, ["--test api", "--test browser"]);
    }

    #[test]
    fn a_run_that_ends_before_its_tests_fails_whatever_passes_again() {
        let cargo_test = |arguments: &[&str], _| {
            let is_first_time = arguments.contains(&"--no-fail-fast");
            let script = if arguments.contains(&"api") {
                "echo 'error: could not compile'; exit 101"
            } else if arguments.contains(&"browser") && is_first_time {
                "printf %s \"$0\"; exit 101"
            } else {
                "exit 0"
            };
            let mut command = Command::new("sh");
            command.args(["-c", script, BROWSER]);
            command
        };
        let error = all(&json!({}), cargo_test).unwrap_err().to_string();
        assert!(error.contains("before its tests did"), "{error}");
    }

    #[test]
    fn a_failed_test_is_reported_with_its_message() {
        let report = report(BROWSER);
        assert_eq!(
            report.to_string().lines().collect::<Vec<_>>(),
            [
                "`-p florin-tests --test browser`",
                "  engines::b",
                "  engines::c",
                "  ",
                "  ---- engines::b stdout ----",
                "  the element is not on the page",
                "  stack backtrace:",
                "  "
            ]
        );
    }

    #[test]
    fn a_few_failed_tests_of_targets_with_servers_are_repeated() {
        let repetition = |text: &str| report(text).repetition().map(|it| it.join(" "));
        assert_eq!(
            repetition(BROWSER).unwrap(),
            "--test browser -- --exact engines::b engines::c"
        );
        let storage = "     Running unittests src/lib.rs (target/debug/deps/florin_storage-1)
test losses::d ... FAILED
test result: FAILED. 0 passed; 1 failed
    `-p florin-storage --lib`
";
        assert_eq!(
            repetition(&[BROWSER, storage].concat()).unwrap(),
            "--test browser --lib -- --exact engines::b engines::c losses::d"
        );
        let crashed = format!("{BROWSER}    `-p florin-tests --test api`\n");
        assert_eq!(repetition(&crashed), None);
        let crashed_later = BROWSER.replace("test result: FAILED. 1 passed; 2 failed\n", "");
        assert_eq!(repetition(&crashed_later), None);
        for seeded in ["campaign", "simulation"] {
            assert_eq!(repetition(&BROWSER.replace("browser", seeded)), None);
        }
        let many = BROWSER.replace(
            "test engines::a ... ok",
            "test a ... FAILED\ntest b ... FAILED",
        );
        assert_eq!(repetition(&many), None);
        assert_eq!(repetition("error: could not compile `florin-proxy`"), None);
    }
}
