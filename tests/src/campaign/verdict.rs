//! The auditor's verdict on a shard.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::event_reader::EVENT_LOG;
use super::shard::{CLOCK_LOG, DATABASE, RESTORE_LOG, SANDBOX_LOG, SHOP_LOG};
use crate::world::secrets;

/// `florin-auditor`
#[derive(Clone, Debug)]
pub struct Auditor(pub PathBuf);

/// A verdict.
#[derive(Debug)]
pub struct Verdict {
    /// 0: every invariant holds. 1: one is broken. 2: evidence is missing.
    pub code: Option<i32>,
    /// A line for each invariant.
    pub printed: String,
}

impl Auditor {
    /// Audits the evidence in a folder.
    pub fn audit(&self, folder: &Path) -> Verdict {
        let database = folder.join(DATABASE).display().to_string();
        let logs = [("--clock-log", CLOCK_LOG), ("--restore-log", RESTORE_LOG)];
        self.audit_with(folder, &database, &logs)
    }

    /// Audits the evidence in a folder, with the database of a server and the log of a reader of the events.
    pub fn audit_server(&self, folder: &Path, url: &str) -> Verdict {
        self.audit_with(
            folder,
            url,
            &[("--event-log", EVENT_LOG), ("--clock-log", CLOCK_LOG)],
        )
    }

    fn audit_with(&self, folder: &Path, database: &str, logs: &[(&str, &str)]) -> Verdict {
        let mut command = Command::new(&self.0);
        for (option, log) in logs {
            command.arg(option).arg(folder.join(log));
        }
        let output = command
            .env("AUDITOR_WEBHOOK_SECRET", secrets::WEBHOOK)
            .env("AUDITOR_DATABASE", database)
            .arg("--sandbox-log")
            .arg(folder.join(SANDBOX_LOG))
            .arg("--shop-log")
            .arg(folder.join(SHOP_LOG))
            .output();
        let output = output.unwrap_or_else(|error| {
            panic!(
                "{} cannot be started: {error}. Build it with: cargo build -p florin-auditor",
                self.0.display()
            )
        });
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Verdict {
            code: output.status.code(),
            printed: [text(&output.stdout), text(&output.stderr)].concat(),
        }
    }
}

impl Verdict {
    /// The names of the invariants that are broken.
    pub fn broken(&self) -> Vec<&str> {
        let lines = self
            .printed
            .lines()
            .filter_map(|line| line.strip_prefix("BAD "));
        lines
            .filter_map(|line| line.split_whitespace().next())
            .collect()
    }
}
