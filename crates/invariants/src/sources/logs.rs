//! Logs with one JSON object a line: the shop's deliveries, the events that a reader listed, the changes of the clock.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Deserialize;

use crate::clock::{ClockChange, ClockRecord, Millis};
use crate::evidence::{Delivery, Listing, Signature};

/// Reads each line of a log; an error names the file and the line.
///
/// # Errors
/// The file cannot be read, or `read` rejects a line.
pub(super) fn lines<T>(
    path: &Path,
    mut read: impl FnMut(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let lines = text.lines().enumerate().map(|(index, line)| {
        read(line).with_context(|| format!("{}, line {}", path.display(), index + 1))
    });
    lines.collect()
}

/// The shop's log: one JSON object a line for each delivery that reached it.
///
/// ```json
/// {"at":"2026-01-02T03:04:05.678Z","id":"evt_…","timestamp":"1767323045","signature":"v1,…","body":"{…}","response":204}
/// ```
///
/// `body` is the exact text that was received. `answer` is the status of the response, null when the connection was
/// closed instead. A line is written before its response is sent.
#[derive(Deserialize)]
struct DeliveryLine {
    at: String,
    /// `webhook-id`
    id: String,
    /// `webhook-timestamp`
    timestamp: String,
    /// `webhook-signature`
    signature: String,
    body: String,
    response: Option<u16>,
}

/// Reads every delivery, oldest first.
///
/// # Errors
/// The file cannot be read, or a line is no delivery.
pub(super) fn deliveries(path: &Path) -> anyhow::Result<Vec<Delivery>> {
    lines(path, |line| {
        let line: DeliveryLine = serde_json::from_str(line).context("no delivery")?;
        let at: Timestamp = line.at.parse()?;
        Ok(Delivery {
            at: at.as_millisecond(),
            id: line.id,
            body: line.body,
            is_accepted: matches!(line.response, Some(200..=299)),
            signature: Some(Signature {
                timestamp: line.timestamp,
                signature: line.signature,
            }),
        })
    })
}

/// The log of a reader of `GET /v1/events`: one JSON object a line for each event, in the order of reading.
///
/// ```json
/// {"store":"demo","id":"evt_…"}
/// ```
#[derive(Deserialize)]
struct EventLine {
    store: String,
    id: String,
}

/// Reads every event. They are those of one store.
///
/// # Errors
/// The file cannot be read or is empty, a line is no event, or there are two stores.
pub(super) fn listing(path: &Path) -> anyhow::Result<Listing> {
    let read = lines(path, |line| {
        let line: EventLine = serde_json::from_str(line).context("no event")?;
        Ok(line)
    })?;
    let store = read.first().map(|line| line.store.clone());
    let store = store.with_context(|| format!("{} is empty", path.display()))?;
    anyhow::ensure!(
        read.iter().all(|line| line.store == store),
        "{} has events of two stores",
        path.display()
    );
    let events = read.into_iter().map(|line| line.id).collect();
    Ok(Listing { store, events })
}

/// The changes of the proxy's clock: one JSON object a line, oldest first.
///
/// ```json
/// {"at":"2026-01-02T03:04:05.678Z","ahead_ms":3600000}
/// ```
///
/// `at` is by the right clock. `ahead_ms` is how far the proxy's clock is ahead since then; negative when it is behind.
#[derive(Deserialize)]
struct ClockLine {
    at: String,
    ahead_ms: i64,
}

/// Reads every change. The record ends at `until`.
///
/// # Errors
/// The file cannot be read, or a line is no change.
pub(super) fn clock_changes(path: &Path, until: Millis) -> anyhow::Result<ClockRecord> {
    let changes = lines(path, |line| {
        let line: ClockLine = serde_json::from_str(line).context("no change of the clock")?;
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
