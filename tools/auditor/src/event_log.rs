//! The log of a reader of `GET /v1/events`: one JSON object a line for each event, in the order of reading.
//!
//! ```json
//! {"store":"demo","id":"evt_…"}
//! ```

use std::path::Path;

use anyhow::Context as _;
use florin_invariants::Listing;
use serde::Deserialize;

use crate::lines::lines;

#[derive(Deserialize)]
struct Line {
    store: String,
    id: String,
}

/// Reads every event. They are those of one store.
///
/// # Errors
/// The file cannot be read or is empty, a line is no event, or there are two stores.
pub(crate) fn read(path: &Path) -> anyhow::Result<Listing> {
    let read = lines(path, |line| {
        let line: Line = serde_json::from_str(line).context("no event")?;
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
