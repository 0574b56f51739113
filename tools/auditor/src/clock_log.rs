//! The changes of the proxy's clock: one JSON object a line, oldest first.
//!
//! ```json
//! {"at":"2026-01-02T03:04:05.678Z","ahead_ms":3600000}
//! ```
//!
//! `at` is by the right clock. `ahead_ms` is how far the proxy's clock is ahead since then; negative when it is behind.

use std::path::Path;

use anyhow::Context as _;
use florin_invariants::{ClockChange, ClockRecord, Millis};
use jiff::Timestamp;
use serde::Deserialize;

use crate::lines::lines;

#[derive(Deserialize)]
struct Line {
    at: String,
    ahead_ms: i64,
}

/// Reads every change. The record ends at `until`.
///
/// # Errors
/// The file cannot be read, or a line is no change.
pub(crate) fn read(path: &Path, until: Millis) -> anyhow::Result<ClockRecord> {
    let changes = lines(path, |line| {
        let line: Line = serde_json::from_str(line).context("no change of the clock")?;
        let at: Timestamp = line.at.parse()?;
        Ok(ClockChange {
            at: at.as_millisecond(),
            ahead: line.ahead_ms,
        })
    });
    Ok(ClockRecord {
        changes: changes?,
        until,
    })
}
