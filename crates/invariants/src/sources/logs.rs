//! Logs with one JSON object a line: the shop's deliveries, the events that a reader listed, the changes of the clock.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::Value;

use crate::Millis;
use crate::evidence::{ClockRecord, Delivery, Listing, Signature};

pub(super) fn lines<T>(
    path: &Path,
    mut read: impl FnMut(&Value) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let lines = text.lines().enumerate().map(|(index, line)| {
        let mut read = || read(&serde_json::from_str(line)?);
        read().with_context(|| format!("{}, line {}", path.display(), index + 1))
    });
    lines.collect()
}

/// Reads every delivery of the shop's log, oldest first.
///
/// ```json
/// {"at":"2026-01-02T03:04:05.678Z","id":"evt_…","timestamp":"1767323045","signature":"v1,…","body":"{…}","response":204}
/// ```
///
/// `id`, `timestamp` and `signature` are the headers. `body` is the exact text that was received. `response` is the status of
/// the response, null when the connection was closed instead. A line is written before its response is sent.
pub(super) fn deliveries(path: &Path) -> anyhow::Result<Vec<Delivery>> {
    lines(path, |line| {
        let status = line["response"].as_u64();
        Ok(Delivery {
            at: time(line)?,
            id: text(line, "/id")?,
            body: text(line, "/body")?,
            is_accepted: status.is_some_and(|status| (200..300).contains(&status)),
            signature: Some(Signature {
                timestamp: text(line, "/timestamp")?,
                signature: text(line, "/signature")?,
            }),
        })
    })
}

/// Reads every event that a reader of `GET /v1/events` has read, in the order of reading. They are those of one store.
///
/// ```json
/// {"store":"demo","id":"evt_…"}
/// ```
pub(super) fn listing(path: &Path) -> anyhow::Result<Listing> {
    let read = lines(path, |line| Ok((text(line, "/store")?, text(line, "/id")?)))?;
    let store = read.first().map(|(store, _)| store.clone());
    let store = store.with_context(|| format!("{} is empty", path.display()))?;
    anyhow::ensure!(
        read.iter().all(|(other, _)| *other == store),
        "{} has events of two stores",
        path.display()
    );
    let events = read.into_iter().map(|(_, id)| id).collect();
    Ok(Listing { store, events })
}

/// Reads every change of the proxy's clock, oldest first. The record ends at `until`.
///
/// ```json
/// {"at":"2026-01-02T03:04:05.678Z","ahead_ms":3600000}
/// ```
///
/// `at` is by the right clock. `ahead_ms` is how far the proxy's clock is ahead since then; negative when it is behind.
pub(super) fn clock_changes(path: &Path, until: Millis) -> anyhow::Result<ClockRecord> {
    let changes = lines(path, |line| {
        let ahead = line["ahead_ms"]
            .as_i64()
            .context("no number at /ahead_ms")?;
        Ok((time(line)?, ahead))
    });
    Ok(ClockRecord {
        changes: changes?,
        until,
    })
}

pub(super) fn time(line: &Value) -> anyhow::Result<Millis> {
    let at: Timestamp = text(line, "/at")?.parse()?;
    Ok(at.as_millisecond())
}

pub(super) fn text(line: &Value, pointer: &str) -> anyhow::Result<String> {
    let found = line.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .with_context(|| format!("no text at {pointer}"))
}
