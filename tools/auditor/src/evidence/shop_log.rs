//! What the shop's endpoint wrote down: one JSON object a line for each delivery that reached it.
//!
//! ```json
//! {"at":"2026-01-02T03:04:05.678Z","id":"evt_…","timestamp":"1767323045","signature":"v1,…","body":"{…}","answer":204}
//! ```
//!
//! `body` is the exact text that came. `answer` is the status that was sent back, null when the connection was closed
//! instead. A line is written before its answer is sent.

use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::lines;

/// One delivery as it reached the shop.
#[derive(Debug, Deserialize)]
pub(crate) struct Delivery {
    #[serde(deserialize_with = "time")]
    pub(crate) at: Timestamp,
    /// `webhook-id`
    pub(crate) id: String,
    /// `webhook-timestamp`
    pub(crate) timestamp: String,
    /// `webhook-signature`
    pub(crate) signature: String,
    pub(crate) body: String,
    pub(crate) answer: Option<u16>,
}

impl Delivery {
    /// Whether the shop took it.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self.answer, Some(200..=299))
    }
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// First one first.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Delivery>> {
    lines(path)?
        .iter()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}: no delivery", path.display(), index + 1))
        })
        .collect()
}
