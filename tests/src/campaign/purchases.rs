//! Which invoice has which address, and which are completed: read from the service's log as it grows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;

/// What the log has told so far.
#[derive(Debug)]
pub(super) struct Register(Mutex<State>);

#[derive(Debug)]
struct State {
    path: PathBuf,
    log: Option<BufReader<File>>,
    /// A line that was not there whole at the last look.
    begun: String,
    by_address: BTreeMap<String, String>,
    completed: BTreeMap<String, Timestamp>,
}

impl Register {
    pub(super) fn of(path: PathBuf) -> Self {
        Self(Mutex::new(State {
            path,
            log: None,
            begun: String::new(),
            by_address: BTreeMap::new(),
            completed: BTreeMap::new(),
        }))
    }

    /// The invoice with this address.
    pub(super) fn invoice_at(&self, address: &str) -> String {
        let found = self.read().by_address.get(address).cloned();
        found.unwrap_or_else(|| panic!("{address} was shown, and is of no invoice of the service"))
    }

    /// Every invoice that is completed, and since when.
    pub(super) fn completed(&self) -> BTreeMap<String, Timestamp> {
        self.read().completed.clone()
    }

    fn read(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.read_on();
        state
    }
}

impl State {
    fn read_on(&mut self) {
        if self.log.is_none() {
            self.log = File::open(&self.path).ok().map(BufReader::new);
        }
        while let Some(log) = &mut self.log {
            let read = log.read_line(&mut self.begun).expect("the log is text");
            if read == 0 || !self.begun.ends_with('\n') {
                return;
            }
            let line = std::mem::take(&mut self.begun);
            self.learn(&serde_json::from_str(&line).expect("a line of the log is JSON"));
        }
    }

    fn learn(&mut self, line: &Value) {
        let text = |pointer: &str| Some(line.pointer(pointer)?.as_str()?.to_owned());
        if line["did"] == "created_invoice"
            && let (Some(address), Some(id)) =
                (text("/answer/deposit_address"), text("/answer/invoice_id"))
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
