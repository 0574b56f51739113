//! Reads of orders' versions, gathered: a change that wakes thousands of streams is a few queries, and not one for each stream.
//!
//! Some queries run at once. Callers that come meanwhile wait for the next one, which begins when one of them has ended. A
//! caller joins no query that has begun: a version is never older than the call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use florin_orders::OrderId;
use florin_storage::{OrderVersion, StorageError};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};

/// Queries at once: one that waits for a silent connection does not delay all others.
const QUERIES: usize = 4;
/// Orders of one query.
const BATCH: usize = 1_000;

/// Reads the versions of orders, unknown ones left out.
type Read = Box<
    dyn Fn(Vec<OrderId>) -> BoxFuture<'static, Result<Vec<(OrderId, OrderVersion)>, StorageError>>
        + Send
        + Sync,
>;

/// The versions of orders, or the failure of the query, for all callers.
type Found = Arc<Result<HashMap<OrderId, OrderVersion>, Arc<StorageError>>>;

/// The reads of one process.
pub(crate) struct VersionReads {
    read: Read,
    turns: Semaphore,
    /// The query that begins next, if there is one.
    next: Mutex<Option<Gathered>>,
}

/// A query that has not begun.
struct Gathered {
    orders: HashSet<OrderId>,
    found: Shared<oneshot::Receiver<Found>>,
}

impl VersionReads {
    /// `read` is called with some orders at a time.
    pub(crate) fn new(read: Read) -> Arc<Self> {
        Arc::new(Self {
            read,
            turns: Semaphore::new(QUERIES),
            next: Mutex::default(),
        })
    }

    /// The version of an order, as it is now or later; `None` for an unknown order.
    ///
    /// # Errors
    /// That of the query, which all its callers share.
    pub(crate) async fn version(
        self: &Arc<Self>,
        order: &OrderId,
    ) -> Result<Option<OrderVersion>, StorageError> {
        let found = self.join(order).await;
        let found = found.map_err(|_| StorageError::Unreachable("the query ended".to_owned()))?;
        match &*found {
            Ok(versions) => Ok(versions.get(order).copied()),
            Err(error) => Err(StorageError::Shared(error.clone())),
        }
    }

    /// Adds an order to the next query.
    fn join(self: &Arc<Self>, order: &OrderId) -> Shared<oneshot::Receiver<Found>> {
        let mut next = self.next.lock();
        let gathered = next.get_or_insert_with(|| {
            let (report, found) = oneshot::channel();
            // In a separate task: a caller that gives up ends no query of others.
            tokio::spawn(self.clone().query(report));
            Gathered {
                orders: HashSet::new(),
                found: found.shared(),
            }
        });
        gathered.orders.insert(order.clone());
        gathered.found.clone()
    }

    async fn query(self: Arc<Self>, report: oneshot::Sender<Found>) {
        let turn = self.turns.acquire().await;
        let gathered = self.next.lock().take();
        let orders = gathered.map(|gathered| gathered.orders).unwrap_or_default();
        let found = self.read(orders.into_iter().collect()).await;
        drop(turn);
        // Fails if all callers have given up.
        let _ = report.send(Arc::new(found.map_err(Arc::new)));
    }

    async fn read(
        &self,
        orders: Vec<OrderId>,
    ) -> Result<HashMap<OrderId, OrderVersion>, StorageError> {
        let mut versions = HashMap::with_capacity(orders.len());
        for batch in orders.chunks(BATCH) {
            versions.extend((self.read)(batch.to_vec()).await?);
        }
        Ok(versions)
    }
}

#[cfg(test)]
mod tests;
