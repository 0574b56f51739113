//! Totals of a database, for the operator. They are read when they are asked for, each by an index.

use core::time::Duration;

use florin_orders::StoreId;
use jiff::Timestamp;

/// The totals of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Attempts whose latest response needs review by a person, or names another address. Those that are no longer polled do not count,
    /// nor those about which an operator decided.
    pub needing_review: u64,
    /// The outbox of each store that ever had an event, in no order.
    pub outboxes: Vec<Outbox>,
    /// What this process committed.
    pub commits: Commits,
    /// Bytes that the process may still write to the database's volume; absent where the database is on another machine.
    pub free_bytes: Option<u64>,
    /// Size of the file's write-ahead log; absent where the database is on another machine.
    pub wal_bytes: Option<u64>,
}

/// What waits for one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// The store.
    pub store_id: StoreId,
    /// Events that wait for delivery.
    pub waiting: u64,
    /// When the oldest of them happened; absent if none waits.
    pub oldest_at: Option<Timestamp>,
    /// `true` if the store's endpoint is disabled.
    pub is_disabled: bool,
}

/// The commits of this process that reached the disk, since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// Transactions that they contain. Transactions that wait at the same time share a commit.
    pub transactions: u64,
    /// The sum of their durations.
    pub total: Duration,
    /// How long transactions waited for the writer, which carries out one at a time.
    pub waited: Duration,
    /// Their number by duration: up to each of [`Commits::BOUNDS`], and longer.
    pub by_duration: [u64; Self::BOUNDS.len() + 1],
}

impl Commits {
    /// Bounds of durations, the shortest first. A disk that really writes takes 1 to 10 ms.
    pub const BOUNDS: [Duration; 4] = [
        Duration::from_millis(5),
        Duration::from_millis(25),
        Duration::from_millis(100),
        Duration::from_secs(1),
    ];

    /// Counts a commit of so many transactions that took `elapsed`.
    pub(crate) fn count(&mut self, transactions: u64, elapsed: Duration) {
        self.transactions += transactions;
        self.total += elapsed;
        let index = Self::BOUNDS.iter().position(|bound| elapsed <= *bound);
        self.by_duration[index.unwrap_or(Self::BOUNDS.len())] += 1;
    }
}
