//! The journal, in order: calls and responses, payments, blocks, statuses and callbacks.
//!
//! The newest entries are kept for the page. With a file, each entry is also appended to it as one line of JSON, before
//! the caller gets its response: after a crash the file has everything that was answered.
//!
//! An entry is a JSON object: `number`, `at`, `kind` and the members of that kind of [`Event`].

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use florin_gateway::api::request::Endpoint;
use florin_gateway::chain::Chain;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::faults::Fault;

const CAPACITY: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Journal {
    newest_first: VecDeque<Entry>,
    count: u64,
    file: Option<File>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Counted from 1 since the start.
    pub(crate) number: u64,
    /// RFC 3339, UTC, by the sandbox's clock.
    pub(crate) at: String,
    #[serde(flatten)]
    pub(crate) event: Event,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Event {
    Started {
        seed: u64,
    },
    Request {
        method: String,
        /// With its query, below `/api`.
        path: String,
        nonce: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        traceparent: Option<String>,
        /// The body; `null` when it is no JSON.
        asked: Option<Box<Value>>,
        /// `null`: no response.
        status: Option<u16>,
        /// In seconds.
        retry_after: Option<u32>,
        /// `null` when nothing was done.
        did: Option<Endpoint>,
        /// The response before its fault; `null` for the long list of prices.
        response: Option<Value>,
        fault: Option<Fault>,
    },
    /// The customer of a hosted checkout chose what to pay.
    Chosen {
        invoice_id: String,
        crypto_code: String,
        amount: String,
    },
    Payment {
        invoice_id: String,
        crypto_code: String,
        amount: String,
        transaction_hash: String,
    },
    Replaced {
        invoice_id: String,
        transaction_hash: String,
    },
    Block {
        /// `null`: on every chain.
        chain: Option<Chain>,
        blocks: u32,
    },
    Reorg {
        /// `null`: on every chain.
        chain: Option<Chain>,
        blocks: u32,
    },
    Status {
        invoice_id: String,
        from: &'static str,
        to: &'static str,
    },
    CallbackFault {
        invoice_id: String,
        status: &'static str,
        fault: Fault,
    },
    /// One try.
    Callback {
        invoice_id: String,
        status: &'static str,
        url: String,
        attempt: u32,
        accepted: bool,
        /// The status; `null`: no response.
        response: Option<u16>,
        why: Option<String>,
    },
}

impl Journal {
    /// A journal that is also appended to a file.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub(crate) fn appending_to(file: Option<&Path>) -> anyhow::Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.with_context(|| format!("cannot write the log to {}", path.display()))
        };
        Ok(Self {
            file: file.map(open).transpose()?,
            ..Self::default()
        })
    }

    /// Adds an event under the next number. A file that cannot be written is logged and closed.
    pub(crate) fn add(&mut self, now: Timestamp, event: Event) {
        self.count += 1;
        let entry = Entry {
            number: self.count,
            at: now.to_string(),
            event,
        };
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&entry).expect("an entry has string keys only");
            line.push(b'\n');
            // One write per line and no buffer: the file has a whole line, or nothing of it.
            if let Err(error) = file.write_all(&line) {
                tracing::error!("the log file cannot be written and ends here: {error}");
                self.file = None;
            }
        }
        self.newest_first.truncate(CAPACITY - 1);
        self.newest_first.push_front(entry);
    }

    pub(crate) fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.newest_first.iter()
    }
}
