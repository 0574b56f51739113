//! What a restart keeps: invoices, hosted checkouts and the time, in a file of JSON.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// Between two looks for changes.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reads a file; `None` if there is none yet.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> anyhow::Result<Option<T>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("{} cannot be read", file.display()))?,
    };
    let kept = serde_json::from_str(&text);
    let kept = kept.with_context(|| {
        let file = file.display();
        format!("{file} was not written by this version of the sandbox: delete it, or name another with --state")
    })?;
    Ok(Some(kept))
}

/// Writes what changed, each second and at the end.
pub(crate) async fn write(file: &Path, kept: impl Fn() -> String, shutdown: &CancellationToken) {
    let mut interval = tokio::time::interval(INTERVAL);
    let mut written = String::new();
    loop {
        let is_over = tokio::select! {
            () = shutdown.cancelled() => true,
            _ = interval.tick() => false,
        };
        let text = kept();
        if text != written {
            match replace(file, &text) {
                Ok(()) => written = text,
                Err(error) => tracing::error!("{} cannot be written: {error}", file.display()),
            }
        }
        if is_over {
            return;
        }
    }
}

/// A sandbox that is killed leaves the file before it, whole.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let part = file.with_extension("part");
    std::fs::write(&part, text)?;
    std::fs::rename(part, file)
}
