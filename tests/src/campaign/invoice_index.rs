//! Index of the gateway's invoices by address, and which are completed; read from the sandbox's log as it grows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct InvoiceIndex(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    path: PathBuf,
    log: Option<BufReader<File>>,
    /// The beginning of a line that was incomplete at the last read.
    partial_line: String,
    by_address: BTreeMap<String, String>,
    completed: BTreeMap<String, Timestamp>,
}

impl InvoiceIndex {
    pub(super) fn of(path: PathBuf) -> Self {
        Self(Mutex::new(State {
            path,
            ..State::default()
        }))
    }

    pub(super) fn id_of_address(&self, address: &str) -> String {
        let found = self.read().by_address.get(address).cloned();
        found.unwrap_or_else(|| {
            panic!("{address} was shown and belongs to no invoice of the gateway")
        })
    }

    /// Returns every completed invoice with the time of its completion.
    pub(super) fn completed(&self) -> BTreeMap<String, Timestamp> {
        self.read().completed.clone()
    }

    fn read(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock();
        state.read_new_lines();
        state
    }
}

impl State {
    fn read_new_lines(&mut self) {
        if self.log.is_none() {
            self.log = File::open(&self.path).ok().map(BufReader::new);
        }
        while let Some(log) = &mut self.log {
            let read = log.read_line(&mut self.partial_line);
            if read.expect("the log is text") == 0 || !self.partial_line.ends_with('\n') {
                return;
            }
            let line = std::mem::take(&mut self.partial_line);
            self.apply(&serde_json::from_str(&line).expect("a line of the log is JSON"));
        }
    }

    fn apply(&mut self, line: &Value) {
        let text = |pointer: &str| Some(line.pointer(pointer)?.as_str()?.to_owned());
        if line["did"] == "create_invoice"
            && let (Some(address), Some(id)) = (
                text("/response/deposit_address"),
                text("/response/invoice_id"),
            )
        {
            self.by_address.insert(address, id);
        } else if line["kind"] == "status"
            && let Some(id) = text("/invoice_id")
        {
            if line["to"] == "COMPLETED"
                && let Some(at) = text("/at")
            {
                let at = at.parse().expect("the log's times are RFC 3339");
                self.completed.insert(id, at);
            } else {
                self.completed.remove(&id);
            }
        }
    }
}
