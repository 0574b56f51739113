//! What a long command is doing: one line on standard error, where that is a terminal, and never with `--json`.

use std::io::{IsTerminal as _, stderr};

use florin_storage::CopyStep;

/// The line. It is gone when this is dropped.
pub(crate) struct Progress {
    what: &'static str,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, json: bool) -> Self {
        let is_shown = !json && stderr().is_terminal();
        let progress = Self { what, is_shown };
        progress.show("…");
        progress
    }

    pub(crate) fn rows(&self, step: &CopyStep) {
        let CopyStep {
            table,
            number,
            count,
            rows,
        } = step;
        self.show(&format!(" {number}/{count} {table}: {rows} rows"));
    }

    fn show(&self, text: &str) {
        if self.is_shown {
            // Source: ECMA-48, "EL": the line is cleared.
            eprint!("\r\x1b[K{}{text}", self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}
