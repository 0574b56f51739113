//! All that happens, in order: what was asked and answered, and what moved on the chains.
//!
//! The last entries are kept for the developer's page. With a file, each entry is also appended to it as one line of
//! JSON, written before anybody is answered: whoever reads it after a crash misses nothing that was told.
//!
//! | `kind` | members besides `number`, `at`, `kind` |
//! |---|---|
//! | `started` | `seed` |
//! | `request` | `call` (see GET `/sandbox/requests/{call}`), `method`, `path` (with query, below `/api`), `nonce`, `asked` (the body, `null` when it is no JSON), `status` (`null`: no answer), `retry_after` (seconds), `did`, `answer`, `code`, `message`, `fault` |
//! | `chosen` | `invoice_id`, `crypto_code`, `amount`: what is to be paid for a hosted checkout |
//! | `payment` | `invoice_id`, `crypto_code`, `amount`, `transaction_hash`, `confirmations` |
//! | `unseen_payment` | `invoice_id`, `crypto_code` |
//! | `replaced` | `invoice_id`, `transaction_hash` |
//! | `block`, `reorg` | `chain` (`all`, or one), `blocks` |
//! | `status` | `invoice_id`, `from`, `to` |
//! | `callback_spoiled` | `invoice_id`, `status`, `fault` |
//! | `callback_dropped` | `invoice_id`, `status` (too many others waited) |
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

/// Entries that are remembered.
const CAPACITY: usize = 1_000;

/// The journal.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    recent: VecDeque<Entry>,
    count: u64,
    file: Option<File>,
}

/// One thing that happened.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Counted from 1 since the start.
    pub(crate) number: u64,
    /// RFC 3339, UTC, by the sandbox's clock.
    pub(crate) at: String,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// What happened. The members are told in the module's table.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Event {
    Started {
        seed: u64,
    },
    Request {
        /// Its number among the calls.
        call: u64,
        method: String,
        path: String,
        nonce: Option<String>,
        /// The request's body; `null` when it is empty or no JSON.
        asked: Option<Box<Value>>,
        status: Option<u16>,
        /// The header of the answer, in seconds.
        retry_after: Option<u32>,
        /// `null` when nothing was done.
        did: Option<&'static str>,
        /// What was answered, or would have been without the fault; `null` for the long list of prices.
        answer: Option<Value>,
        code: Option<&'static str>,
        message: Option<String>,
        fault: Option<String>,
    },
    /// The customer picked an asset on the service's page, and is to pay this much of it.
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
        confirmations: u32,
    },
    /// A payment on another chain, or in another asset, that the service never sees.
    UnseenPayment {
        invoice_id: String,
        crypto_code: String,
    },
    Replaced {
        invoice_id: String,
        transaction_hash: String,
    },
    Block {
        chain: &'static str,
        blocks: u32,
    },
    Reorg {
        chain: &'static str,
        blocks: u32,
    },
    Status {
        invoice_id: String,
        from: &'static str,
        to: &'static str,
    },
    /// A callback that a fault spoils: how, it says.
    CallbackSpoiled {
        invoice_id: String,
        status: &'static str,
        fault: String,
    },
    /// A callback that nobody sends, as too many others wait.
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
    CallbackAnswered {
        invoice_id: String,
        status: &'static str,
        attempt: u32,
        accepted: bool,
        answer: Option<u16>,
        why: Option<String>,
    },
}

impl Journal {
    /// A journal that is also appended to a file.
    ///
    /// # Errors
    /// When the file cannot be opened for writing.
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

    /// Adds what happened, under the next number. A file that takes no more is told of and let go.
    pub(crate) fn add(&mut self, now: Timestamp, event: Event) {
        self.count += 1;
        let entry = Entry {
            number: self.count,
            at: now.to_string(),
            event,
        };
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&entry).expect("an entry has text keys alone");
            line.push(b'\n');
            // One write per line and no buffer: a line is in the file whole, or not at all.
            if let Err(error) = file.write_all(&line) {
                tracing::error!("the log takes no more lines, it ends here: {error}");
                self.file = None;
            }
        }
        self.recent.truncate(CAPACITY - 1);
        self.recent.push_front(entry);
    }

    /// The number of the newest entry; 0 before there is one.
    pub(crate) fn last_number(&self) -> u64 {
        self.count
    }

    /// The entries after a number that are still remembered, oldest first.
    pub(crate) fn after(&self, number: u64) -> Vec<Entry> {
        let newer = self.recent.iter().take_while(|entry| entry.number > number);
        let mut newer: Vec<Entry> = newer.cloned().collect();
        newer.reverse();
        newer
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
        let entries = journal.after(0);
        assert_eq!(entries.len(), CAPACITY);
        assert_eq!((entries[0].number, entries[999].number), (4, 1_003));
        assert_eq!(journal.after(1_001).len(), 2);
        assert_eq!(journal.after(1_003).len(), 0);
    }
}
