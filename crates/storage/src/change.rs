//! Changes of orders, as the processes that share a database announce them to each other.

use async_trait::async_trait;
use florin_orders::OrderId;

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
