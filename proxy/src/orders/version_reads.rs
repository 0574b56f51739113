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
const BATCH: usize = 1_000;

type Read = Box<
    dyn Fn(Vec<OrderId>) -> BoxFuture<'static, Result<Vec<(OrderId, OrderVersion)>, StorageError>>
        + Send
        + Sync,
>;

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
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

    use tokio::task::{JoinHandle, yield_now};

    use super::*;

    /// A task that can run has run by then.
    const TURNS: usize = 1_000;

    struct Stored {
        version: AtomicI64,
        queries: AtomicUsize,
        fails: bool,
        returns: Semaphore,
    }

    impl Stored {
        fn new(fails: bool) -> (Arc<Self>, Arc<VersionReads>) {
            let stored = Arc::new(Self {
                version: AtomicI64::new(1),
                queries: AtomicUsize::new(0),
                fails,
                returns: Semaphore::new(0),
            });
            let read = stored.clone();
            let reads =
                VersionReads::new(Box::new(move |orders| read.clone().read(orders).boxed()));
            (stored, reads)
        }

        async fn read(
            self: Arc<Self>,
            orders: Vec<OrderId>,
        ) -> Result<Vec<(OrderId, OrderVersion)>, StorageError> {
            self.queries.fetch_add(1, Ordering::SeqCst);
            let version = OrderVersion::new([self.version.load(Ordering::SeqCst), 0, 0, 0]);
            self.returns.acquire().await.unwrap().forget();
            if self.fails {
                return Err(StorageError::Unreachable("gone".to_owned()));
            }
            Ok(orders.into_iter().map(|order| (order, version)).collect())
        }

        fn queries(&self) -> usize {
            self.queries.load(Ordering::SeqCst)
        }

        async fn begun(&self, queries: usize) {
            for _ in 0..TURNS {
                if self.queries() >= queries {
                    return;
                }
                yield_now().await;
            }
            panic!("{} of {queries} queries have begun", self.queries());
        }
    }

    fn order(number: u8) -> OrderId {
        OrderId::from_random([number; 16])
    }

    type Asked = JoinHandle<Result<Option<OrderVersion>, StorageError>>;

    fn ask(reads: &Arc<VersionReads>, number: u8) -> Asked {
        let reads = reads.clone();
        tokio::spawn(async move { reads.version(&order(number)).await })
    }

    fn version(number: i64) -> OrderVersion {
        OrderVersion::new([number, 0, 0, 0])
    }

    #[tokio::test]
    async fn callers_that_come_while_queries_run_share_the_next_one() {
        let (stored, reads) = Stored::new(false);
        let mut asked = Vec::new();
        for number in 1..=QUERIES {
            asked.push(ask(&reads, 0));
            stored.begun(number).await;
        }
        for number in 0..1_000_u16 {
            asked.push(ask(&reads, u8::try_from(number % 200).unwrap()));
        }
        for _ in 0..10 {
            yield_now().await;
        }
        assert_eq!(stored.queries(), QUERIES);
        stored.returns.add_permits(1_000);
        for asked in asked {
            assert_eq!(asked.await.unwrap().unwrap(), Some(version(1)));
        }
        assert_eq!(stored.queries(), QUERIES + 1);
    }

    #[tokio::test]
    async fn a_caller_joins_no_query_that_has_begun() {
        let (stored, reads) = Stored::new(false);
        let before = ask(&reads, 1);
        stored.begun(1).await;
        stored.version.store(2, Ordering::SeqCst);
        let after = ask(&reads, 1);
        stored.begun(2).await;
        stored.returns.add_permits(2);
        assert_eq!(before.await.unwrap().unwrap(), Some(version(1)));
        assert_eq!(after.await.unwrap().unwrap(), Some(version(2)));
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_ends_no_query_of_others() {
        let (stored, reads) = Stored::new(false);
        let (first, second) = (ask(&reads, 1), ask(&reads, 2));
        stored.begun(1).await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        stored.returns.add_permits(1);
        assert_eq!(second.await.unwrap().unwrap(), Some(version(1)));
        assert_eq!(stored.queries(), 1);
    }

    #[tokio::test]
    async fn callers_share_a_failure_and_the_next_one_asks_again() {
        let (stored, reads) = Stored::new(true);
        stored.returns.add_permits(1_000);
        let asked = [ask(&reads, 1), ask(&reads, 2)];
        for asked in asked {
            let error = asked.await.unwrap().unwrap_err();
            assert_eq!(error.outage(), Some(florin_storage::Outage::Unreachable));
        }
        assert_eq!(stored.queries(), 1);
        ask(&reads, 1).await.unwrap().unwrap_err();
        assert_eq!(stored.queries(), 2);
    }

    #[tokio::test]
    async fn many_orders_are_several_queries() {
        let (stored, reads) = Stored::new(false);
        stored.returns.add_permits(1_000);
        let asked: Vec<Asked> = (0..=u16::try_from(BATCH).unwrap())
            .map(|number| {
                let mut bits = [0; 16];
                bits[..2].copy_from_slice(&number.to_be_bytes());
                let reads = reads.clone();
                tokio::spawn(async move { reads.version(&OrderId::from_random(bits)).await })
            })
            .collect();
        for asked in asked {
            assert_eq!(asked.await.unwrap().unwrap(), Some(version(1)));
        }
        assert_eq!(stored.queries(), 2);
    }
}
