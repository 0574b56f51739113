//! The restored backups: one JSON object a line, oldest first.
//!
//! ```json
//! {"made_at":"2026-01-02T03:04:05Z","at":"2026-01-02T03:09:05Z","backup":"backup-1.db","replaced":"replaced-1.db"}
//! ```
//!
//! `made_at` is when the backup was requested, and `at` when it took the place of the database, while no proxy ran; both by
//! the right clock. `backup` and `replaced` are files of SQLite beside the log: the backup, and the database before.

use std::path::Path;

use anyhow::Context as _;
use florin_invariants::{Millis, Restore};
use jiff::Timestamp;
use serde::Deserialize;

use crate::database_file;
use crate::logs::lines;

#[derive(Deserialize)]
struct Line {
    made_at: String,
    at: String,
    backup: String,
    replaced: String,
}

/// Reads every restore with both databases.
///
/// # Errors
/// The log cannot be read, a line is no restore, or a file is no database of the proxy.
pub(crate) async fn read(path: &Path) -> anyhow::Result<Vec<Restore>> {
    let lines: Vec<Line> = lines(path, |line| {
        serde_json::from_str(line).context("no restore")
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut restores = Vec::new();
    for line in lines {
        restores.push(Restore {
            made_at: millis(&line.made_at)?,
            at: millis(&line.at)?,
            backup: database_file::read(&folder.join(&line.backup)).await?,
            replaced: database_file::read(&folder.join(&line.replaced)).await?,
        });
    }
    Ok(restores)
}

fn millis(time: &str) -> anyhow::Result<Millis> {
    let time: Timestamp = time.parse()?;
    Ok(time.as_millisecond())
}
