//! Logs with one JSON object a line.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// Reads each line of a log; an error names the file and the line.
///
/// # Errors
/// The file cannot be read, or `read` rejects a line.
pub(crate) fn lines<T>(
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
