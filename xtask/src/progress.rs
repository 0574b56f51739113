//! Cargo's builds with an estimate of the time that is left.
//!
//! Cargo's own progress bar counts one build at a time and names every library; the estimate covers all builds of a command.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _, stdout};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use florin_setup::{Workspace, output};
use serde_json::Value;
use xshell::Cmd;

/// Without a terminal, a line is printed this often.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// No estimate before so many libraries are compiled.
const ENOUGH: usize = 12;

/// Counts the packages of all builds that a command is about to run.
pub(crate) struct Progress<T> {
    total: usize,
    done: usize,
    /// Those of `done` that were not there already.
    compiled: usize,
    time: T,
    next_line: Duration,
}

/// `builds`: the arguments of each `cargo build` that follows.
///
/// # Errors
/// `cargo tree` does not know a package.
pub(crate) fn of(
    workspace: &Workspace,
    builds: &[&str],
) -> anyhow::Result<Progress<impl Fn() -> Duration + use<>>> {
    let mut total = 0;
    for build in builds {
        let tree = workspace
            .cargo("tree --locked --offline --prefix none --edges normal,build --format {p}");
        let tree = tree.args(build.split_whitespace()).read()?;
        let packages: BTreeSet<&str> = tree
            .lines()
            .map(|line| line.trim_end_matches(" (*)"))
            .collect();
        total += packages.len();
    }
    let (done, compiled, next_line) = (0, 0, LINE_EVERY);
    Ok(Progress {
        total,
        done,
        compiled,
        time: output::stopwatch(),
        next_line,
    })
}

impl<T: Fn() -> Duration> Progress<T> {
    /// Runs `cargo`, a `cargo build`, and shows how far it is.
    ///
    /// # Errors
    /// It failed; its messages are on the terminal.
    pub(crate) fn build(&mut self, cargo: Cmd<'_>) -> anyhow::Result<()> {
        let cargo = cargo.args(["--quiet", "--message-format", "json-render-diagnostics"]);
        let mut child = Command::from(cargo)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cargo cannot be started")?;
        let messages = child.stdout.take().expect("its output is piped");
        for message in BufReader::new(messages).lines() {
            let message: Value = serde_json::from_str(&message?).context("cargo prints JSON")?;
            if message["reason"] == "compiler-artifact"
                && message["target"]["kind"][0] != "custom-build"
            {
                self.done += 1;
                self.compiled += usize::from(message["fresh"] == false);
                self.show();
            }
        }
        if stdout().is_terminal() {
            print!("\r\x1b[K");
        }
        ensure!(
            child.wait()?.success(),
            "cargo could not build it; its messages are above"
        );
        Ok(())
    }

    fn show(&mut self) {
        if self.compiled < ENOUGH {
            return;
        }
        // A library that is built for the host and for the target counts twice.
        let done = self.done.min(self.total);
        let text = format!("  {done} of {} libraries{}", self.total, self.left());
        if stdout().is_terminal() {
            print!("\r{text}\x1b[K");
            // A line that is not shown is shown with the next one.
            let _ = stdout().flush();
        } else if (self.time)() >= self.next_line {
            println!("{text}");
            self.next_line = (self.time)() + LINE_EVERY;
        }
    }

    /// What is left takes as long, library by library, as what was compiled so far.
    fn left(&self) -> String {
        let missing = self.total.saturating_sub(self.done);
        let seconds = (self.time)().as_secs() * missing as u64 / self.compiled as u64;
        match seconds {
            0 => String::new(),
            1..90 => format!(", about {} s left", seconds.next_multiple_of(10)),
            _ => format!(", about {} min left", seconds.div_ceil(60)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_what_was_compiled() {
        let left = |total, done, seconds| {
            let time = move || Duration::from_secs(seconds);
            let next_line = LINE_EVERY;
            Progress {
                total,
                done,
                compiled: 100,
                time,
                next_line,
            }
            .left()
        };
        assert_eq!(left(300, 200, 60), ", about 60 s left");
        assert_eq!(left(500, 200, 60), ", about 3 min left");
        assert_eq!(left(200, 201, 60), "");
    }
}
