//! State that the processes on one database share besides orders: announcements, limits and totals.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use florin_orders::{OrderId, StoreId, WebhookId};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    Orders(Vec<OrderId>),
    All,
}

/// Compares equal while an order, its current attempt and its poll schedule stay as they are. It says nothing of which
/// version is the later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderVersion([i64; 4]);

impl OrderVersion {
    /// The version that a store makes of these numbers.
    pub fn new(numbers: [i64; 4]) -> Self {
        Self(numbers)
    }
}

/// Receives what other processes announce.
///
/// An announcement only says that it is time to read. It may be lost with the connection: a reader compares versions
/// ([`SharedStorage::versions`]) when it begins to listen, and now and then.
#[async_trait]
pub trait ChangeListener: Send + fmt::Debug {
    /// Waits for the next announcement. To be called until it fails, and never cancelled.
    ///
    /// # Errors
    /// The connection was lost. A connection that is silently dead is noticed within 7 seconds.
    async fn next(&mut self) -> Result<Changed>;
}

/// What a limit counts by: a digest, so that a dump of the database lists no addresses of customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitKey(pub(crate) [u8; 32]);

impl LimitKey {
    /// The key of `text` in the limit of this name.
    pub fn new(limit: &str, text: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(limit);
        digest.update([0]);
        digest.update(text);
        Self(digest.finalize().into())
    }
}

/// The schema, the clock, the transactions and the standbys of a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// The number of the last migration.
    pub schema: i64,
    /// The time by the server's clock.
    pub now: Timestamp,
    /// Seconds since the oldest open transaction that has written began, of any program, prepared ones included; 0 without one.
    /// Events are listed up to it. `None` for a role that may not see it.
    pub oldest_write_seconds: Option<i64>,
    /// `None` for a role that may not see them.
    pub standbys: Option<Standbys>,
}

/// The connections of a process to a database server, for reading or for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolState {
    /// `read` or `write`.
    pub name: &'static str,
    pub in_use: u64,
    pub limit: u64,
    /// How often all were in use for longer than the configuration lets a request wait, since the process began.
    pub timeouts: u64,
}

/// Standbys that are connected to a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standbys {
    pub connected: i64,
    /// Those that a commit waits for, or may wait for.
    pub synchronous: i64,
}

/// The database itself, and what the processes that use it share besides orders. A database without other writers has the
/// defaults.
#[async_trait]
pub trait SharedStorage: fmt::Debug + Send + Sync {
    /// Returns `true` if other processes write to the same database. What this process has read may then be out of date
    /// although this process wrote nothing: it is used while its version is the same ([`Self::versions`]).
    fn has_other_writers(&self) -> bool {
        true
    }

    /// The schema and the clock of the database's server; `None` for a file.
    async fn server_state(&self) -> Result<Option<ServerState>> {
        Ok(None)
    }

    /// The connections to the database's server; none to a file.
    fn pools(&self) -> Vec<PoolState> {
        Vec::new()
    }

    /// The versions of orders, unknown ones left out. A database without other writers has none.
    async fn versions(&self, _orders: &[OrderId]) -> Result<Vec<(OrderId, OrderVersion)>> {
        Ok(Vec::new())
    }

    /// Announces committed changes to the other processes, without a promise that it arrives.
    async fn announce(&self, _changed: &Changed) -> Result<()> {
        Ok(())
    }

    /// Begins to listen to the announcements of the other processes; `None` for a database without other writers.
    async fn listen(&self) -> Result<Option<Box<dyn ChangeListener>>> {
        Ok(None)
    }

    /// Counts a request against the limit of its key, over all processes. A request uses `each` of the key's allowance of
    /// one minute. Returns how long to wait if it is used up. Without other writers nothing is counted here: the process
    /// counts in memory.
    async fn count_request(
        &self,
        _key: LimitKey,
        _each: SignedDuration,
        _now: Timestamp,
    ) -> Result<Option<SignedDuration>> {
        Ok(None)
    }

    /// Deletes a batch of the counts of keys whose allowance is full again. Returns their number; 0 if none is left.
    async fn delete_unused_counts(&self, _now: Timestamp) -> Result<u64> {
        Ok(0)
    }

    /// Reports whether this process finds payments later than planned; the report counts for [`crate::DELAY_REPORT`]. Returns
    /// `true` if another process does.
    async fn share_delay(&self, _is_delayed: bool, _now: Timestamp) -> Result<bool> {
        Ok(false)
    }

    /// Totals for the operator. Costs a few rows for each store, however many orders there are.
    async fn totals(&self) -> Result<Totals>;

    /// Checks that the database is still the one that was opened, and that the latest commit succeeded. Writes nothing.
    async fn check_database(&self) -> Result<()>;

    /// Writes a row to the disk and reads it, as an order would be written.
    async fn check_writing(&self, now: Timestamp) -> Result<()>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Attempts whose latest response needs review by a person, or names another address. Those that are no longer polled do not count,
    /// nor those about which an operator decided.
    pub needing_review: u64,
    /// The outbox of each webhook that ever had an event, in no order.
    pub outboxes: Vec<Outbox>,
    pub commits: Commits,
    /// Bytes that the process may still write to the database's volume; absent where the database is on another machine.
    pub free_bytes: Option<u64>,
    /// Size of the file's write-ahead log; absent where the database is on another machine.
    pub wal_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    pub store_id: StoreId,
    pub webhook: WebhookId,
    pub waiting: u64,
    /// When the oldest of them happened; absent if none waits.
    pub oldest_at: Option<Timestamp>,
    pub is_disabled: bool,
}

/// The commits of this process that reached the disk, since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// Transactions that they contain. Transactions that wait at the same time share a commit.
    pub transactions: u64,
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

    pub(crate) fn count(&mut self, transactions: u64, elapsed: Duration) {
        self.transactions += transactions;
        self.total += elapsed;
        let index = Self::BOUNDS.iter().position(|bound| elapsed <= *bound);
        self.by_duration[index.unwrap_or(Self::BOUNDS.len())] += 1;
    }
}
