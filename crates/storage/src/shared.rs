//! State that the processes on one database share besides orders: announcements, files, prices, limits.

use async_trait::async_trait;
use florin_orders::OrderId;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::StorageError;

/// Which orders changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// These.
    Orders(Vec<OrderId>),
    /// Any of them.
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
/// ([`crate::Storage::versions`]) when it begins to listen, and now and then.
#[async_trait]
pub trait ChangeListener: Send + std::fmt::Debug {
    /// Waits for the next announcement. To be called until it fails, and never cancelled.
    ///
    /// # Errors
    /// The connection was lost. A connection that is silently dead is noticed within 7 seconds.
    async fn next(&mut self) -> Result<Changed, StorageError>;
}

/// A file whose name changes with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticFile {
    /// Its name.
    pub name: String,
    /// The content.
    pub whole: Vec<u8>,
    /// The content, compressed with brotli.
    pub brotli: Option<Vec<u8>>,
}

/// The gateway's prices as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceList {
    /// When they were fetched, in whole milliseconds.
    pub fetched_at: Timestamp,
    /// The prices, as the caller writes them.
    pub body: String,
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
    /// Connections in use.
    pub in_use: u64,
    /// Connections that may be open.
    pub limit: u64,
    /// How often all were in use for longer than the configuration lets a request wait, since the process began.
    pub timeouts: u64,
}

/// Standbys that are connected to a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standbys {
    /// All of them.
    pub connected: i64,
    /// Those that a commit waits for, or may wait for.
    pub synchronous: i64,
}
