//! The shop's log: one JSON object a line for each delivery that reached it.
//!
//! ```json
//! {"at":"2026-01-02T03:04:05.678Z","id":"evt_…","timestamp":"1767323045","signature":"v1,…","body":"{…}","answer":204}
//! ```
//!
//! `body` is the exact text that was received. `answer` is the status of the response, null when the connection was
//! closed instead. A line is written before its response is sent.

use std::path::Path;

use anyhow::Context as _;
use florin_invariants::{Delivery, Signature};
use jiff::Timestamp;
use serde::Deserialize;

use crate::lines::lines;

#[derive(Deserialize)]
struct Line {
    at: String,
    /// `webhook-id`
    id: String,
    /// `webhook-timestamp`
    timestamp: String,
    /// `webhook-signature`
    signature: String,
    body: String,
    answer: Option<u16>,
}

/// Reads every delivery, oldest first.
///
/// # Errors
/// The file cannot be read, or a line is no delivery.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Delivery>> {
    lines(path, |line| {
        let line: Line = serde_json::from_str(line).context("no delivery")?;
        let at: Timestamp = line.at.parse()?;
        Ok(Delivery {
            at: at.as_millisecond(),
            id: line.id,
            body: line.body,
            is_accepted: matches!(line.answer, Some(200..=299)),
            signature: Some(Signature {
                timestamp: line.timestamp,
                signature: line.signature,
            }),
        })
    })
}
