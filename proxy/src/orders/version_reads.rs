//! Coalesced reads of orders' versions: a change that wakes thousands of streams is a few queries, and not one for each stream.
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
type SharedResult = Arc<Result<HashMap<OrderId, OrderVersion>, Arc<StorageError>>>;

pub(crate) struct VersionReads {
    read: Read,
    permits: Semaphore,
    next: Mutex<Option<PendingBatch>>,
}

struct PendingBatch {
    orders: HashSet<OrderId>,
    found: Shared<oneshot::Receiver<SharedResult>>,
}

impl VersionReads {
    /// `read` is called with some orders at a time.
    pub(crate) fn new(read: Read) -> Arc<Self> {
        Arc::new(Self {
            read,
            permits: Semaphore::new(QUERIES),
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
        let found = self.add_to_next_batch(order).await;
        let found = found.map_err(|_| StorageError::Unreachable("the query ended".to_owned()))?;
        match &*found {
            Ok(versions) => Ok(versions.get(order).copied()),
            Err(error) => Err(StorageError::Shared(error.clone())),
        }
    }

    fn add_to_next_batch(
        self: &Arc<Self>,
        order: &OrderId,
    ) -> Shared<oneshot::Receiver<SharedResult>> {
        let mut next = self.next.lock();
        let batch = next.get_or_insert_with(|| {
            let (report, found) = oneshot::channel();
            // In a separate task: a caller that gives up ends no query of others.
            tokio::spawn(self.clone().query(report));
            PendingBatch {
                orders: HashSet::new(),
                found: found.shared(),
            }
        });
        batch.orders.insert(order.clone());
        batch.found.clone()
    }

    async fn query(self: Arc<Self>, report: oneshot::Sender<SharedResult>) {
        let permit = self.permits.acquire().await;
        let batch = self.next.lock().take();
        let orders = batch.map(|batch| batch.orders).unwrap_or_default();
        let found = self.read(orders.into_iter().collect()).await;
        drop(permit);
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
