//! The journal, in order: calls and responses, payments, blocks, statuses and callbacks.
//!
//! The newest entries are kept for the page. With a file, each entry is also appended to it as one line of JSON, before
//! the caller gets its response: after a crash the file has everything that was answered.
//!
//! | `kind` | members besides `number`, `at`, `kind` |
//! |---|---|
//! | `started` | `seed` |
//! | `request` | `method`, `path` (with query, below `/api`), `nonce`, `traceparent` (the header; absent without one), `asked` (the body, `null` when it is no JSON), `status` (`null`: no response), `retry_after` (seconds), `did`, `answer`, `code`, `message`, `fault` |
//! | `chosen` | `invoice_id`, `crypto_code`, `amount`: what is to be paid for a hosted checkout |
//! | `payment` | `invoice_id`, `crypto_code`, `amount`, `transaction_hash` |
//! | `replaced` | `invoice_id`, `transaction_hash` |
//! | `block`, `reorg` | `chain` (`all`, or one), `blocks` |
//! | `status` | `invoice_id`, `from`, `to` |
//! | `callback_fault` | `invoice_id`, `status`, `fault` |
//! | `callback_dropped` | `invoice_id`, `status` (the queue is full) |
//! | `callback_sent` | `invoice_id`, `status`, `url`, `attempt` |
//! | `callback_answered` | `invoice_id`, `status`, `attempt`, `accepted`, `answer` (the status, or `null`), `why` |

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::asset::Chain;
use crate::faults::Fault;

/// Entries that are kept.
const CAPACITY: usize = 1_000;

/// The journal.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    newest_first: VecDeque<Entry>,
    count: u64,
    file: Option<File>,
}

/// One event.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Counted from 1 since the start.
    pub(crate) number: u64,
    /// RFC 3339, UTC, by the sandbox's clock.
    pub(crate) at: String,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// What happened. The module's table describes the members.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Event {
    Started {
        seed: u64,
    },
    Request {
        method: String,
        path: String,
        nonce: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        traceparent: Option<String>,
        asked: Option<Box<Value>>,
        status: Option<u16>,
        retry_after: Option<u32>,
        /// `null` when nothing was done.
        did: Option<&'static str>,
        /// The response before its fault; `null` for the long list of prices.
        response: Option<Value>,
        code: Option<&'static str>,
        message: Option<String>,
        fault: Option<Fault>,
    },
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
        chain: Scope,
        blocks: u32,
    },
    Reorg {
        chain: Scope,
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
    CallbackDropped {
        invoice_id: String,
        status: &'static str,
    },
    CallbackSent {
        invoice_id: String,
        status: &'static str,
        url: String,
        attempt: u32,
    },
    CallbackResponse {
        invoice_id: String,
        status: &'static str,
        attempt: u32,
        accepted: bool,
        response: Option<u16>,
        why: Option<String>,
    },
}

/// One chain, or all.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    All,
    #[serde(untagged)]
    One(Chain),
}

impl From<Option<Chain>> for Scope {
    fn from(chain: Option<Chain>) -> Self {
        chain.map_or(Self::All, Self::One)
    }
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

    /// The newest entries.
    pub(crate) fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.newest_first.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_keeps_the_newest_entries_and_counts_all() {
        let mut journal = Journal::default();
        for seed in 0..1_003 {
            journal.add(Timestamp::UNIX_EPOCH, Event::Started { seed });
        }
        let numbers: Vec<u64> = journal.newest_first().map(|entry| entry.number).collect();
        assert_eq!(numbers.len(), CAPACITY);
        assert_eq!((numbers[0], numbers[999]), (1_003, 4));
    }
}
