//! Reads and writes of one order at once, on a real database.

use std::sync::atomic::{AtomicU64, Ordering};

use florin_orders::fixtures::{at, invoice, new_attempt, terms};
use florin_storage::{SqliteStorage, Storage, StorageError};
use tempfile::TempDir;
use tokio::task::{JoinSet, yield_now};

use super::*;
use crate::orders::subscriptions::OrderSubscriptions;
use crate::orders::tracked_storage::TrackedStorage;
use crate::spans::Spans;

#[derive(Debug, PartialEq, Eq)]
struct Version(u64);

impl View for Version {
    fn size(&self) -> usize {
        4 * 1024
    }
}

struct Cached {
    storage: TrackedStorage,
    views: ViewCache<Version>,
    loads: AtomicU64,
    _folder: TempDir,
}

fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

async fn cached(has_other_writers: bool) -> Arc<Cached> {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("florin.db").display());
    let storage = SqliteStorage::open(&url, "test").await.unwrap();
    let changes = Arc::new(OrderChanges::new(OrderSubscriptions::default(), None));
    let storage = TrackedStorage::new(Arc::new(storage), changes.clone(), Arc::new(Spans::none()));
    for number in [1, 2] {
        let (id, token) = (id(number), TokenHash([number; 32]));
        let terms = terms(&format!("r{number}"));
        let opened = storage.open_order(&id, &terms, token, at(100), at(0));
        opened.await.unwrap();
    }
    Arc::new(Cached {
        storage,
        views: ViewCache::new(changes, has_other_writers),
        loads: AtomicU64::default(),
        _folder: folder,
    })
}

/// Of a store without other writers, and of one that knows no versions.
fn unversioned() -> std::future::Ready<Result<Option<OrderVersion>, StorageError>> {
    std::future::ready(Ok(None))
}

impl Cached {
    async fn stored(&self, order: &OrderId) -> Result<Version, StorageError> {
        let snapshot = self.storage.snapshot(order).await?;
        Ok(Version(snapshot.unwrap().order.version))
    }

    async fn seen(&self, order: &OrderId) -> u64 {
        let load = async {
            self.loads.fetch_add(1, Ordering::Relaxed);
            self.stored(order).await
        };
        self.views
            .view(order, |_| true, unversioned(), load)
            .await
            .unwrap()
            .0
    }

    fn loads(&self) -> u64 {
        self.loads.swap(0, Ordering::Relaxed)
    }

    /// Changes an order; returns the version that was committed.
    async fn change(&self, order: &OrderId, number: u64) -> u64 {
        let email = format!("buyer-{number}@example.org");
        let kept = self.storage.keep_receipt_email(order, Some(&email), at(0));
        let kept = kept.await;
        kept.unwrap().unwrap().snapshot.order.version
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_read_that_begins_after_a_write_never_gets_an_older_view() {
    const CHANGES: u64 = 150;
    let (cached, committed) = (cached(false).await, Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for writer in 0..2 {
        let (cached, committed) = (cached.clone(), committed.clone());
        tasks.spawn(async move {
            for number in 0..CHANGES {
                let version = cached.change(&id(1), number * 2 + writer).await;
                committed.fetch_max(version, Ordering::SeqCst);
                yield_now().await;
            }
        });
    }
    for _ in 0..4 {
        let (cached, committed) = (cached.clone(), committed.clone());
        tasks.spawn(async move {
            let mut latest = 0;
            while committed.load(Ordering::SeqCst) < CHANGES * 2 {
                let at_least = committed.load(Ordering::SeqCst).max(latest);
                latest = cached.seen(&id(1)).await;
                assert!(latest >= at_least, "{latest} after {at_least}");
                yield_now().await;
            }
        });
    }
    tasks.join_all().await;
    let stored = cached.stored(&id(1)).await.unwrap();
    assert_eq!(Version(cached.seen(&id(1)).await), stored);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_caller_gives_up_is_seen() {
    let (cached, order) = (cached(false).await, id(1));
    for steps in 0..200 {
        let give_up = async {
            for _ in 0..steps {
                yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = cached.change(&order, steps) => {}
            () = give_up => {}
        }
        cached.seen(&order).await;
        // The database carries out one write after another.
        cached.change(&id(2), steps).await;
        let Version(before) = cached.stored(&order).await.unwrap();
        let seen = cached.seen(&order).await;
        // The write may still be carried out between the two reads.
        let Version(after) = cached.stored(&order).await.unwrap();
        assert!((before..=after).contains(&seen), "{steps} steps: {seen}");
    }
}

#[tokio::test]
async fn a_view_is_loaded_once_per_change() {
    let cached = cached(false).await;
    for _ in 0..3 {
        let reads: JoinSet<u64> = (0..100)
            .map(|_| {
                let cached = cached.clone();
                async move { cached.seen(&id(1)).await }
            })
            .collect();
        let seen = reads.join_all().await;
        assert!(seen.iter().all(|version| *version == seen[0]), "{seen:?}");
        assert_eq!(cached.loads(), 1);
        cached.change(&id(1), seen[0]).await;
    }
}

#[tokio::test]
async fn every_write_of_an_order_is_seen() {
    let cached = cached(false).await;
    let (storage, order, attempt) = (&cached.storage, id(1), new_attempt(1));
    let is_seen = async |write: &str| {
        let stored = cached.stored(&order).await.unwrap();
        assert_eq!(Version(cached.seen(&order).await), stored, "{write}");
        assert_eq!(cached.loads(), 1, "{write}");
        assert_eq!(Version(cached.seen(&order).await), stored, "{write}");
        assert_eq!(cached.loads(), 0, "{write}");
    };
    is_seen("none").await;
    let begun = storage.begin_attempt(&order, &attempt, at(0)).await;
    begun.unwrap();
    is_seen("begin").await;
    let opened = storage.open_attempt(&attempt.id, &invoice(1), at(0)).await;
    opened.unwrap();
    is_seen("open").await;
    storage.mark_as_paid(&order, None, at(1)).await.unwrap();
    is_seen("mark").await;
    storage.schedule_poll(&order, at(1)).await.unwrap();
    is_seen("schedule").await;
    let due = storage.due_attempts(florin_orders::PollPriority::Watched, at(2), at(60), 1);
    let due = due.await.unwrap().remove(0);
    is_seen("lease").await;
    storage.reschedule_poll(&due, at(3), at(2)).await.unwrap();
    is_seen("reschedule").await;
    let observation = florin_orders::fixtures::exact("PENDING");
    let recorded = storage.record_observation(&due, &observation).await;
    recorded.unwrap();
    is_seen("record").await;
    storage.cancel_order(&order, at(4)).await.unwrap();
    is_seen("cancel").await;
}

#[tokio::test]
async fn writes_that_find_their_orders_are_seen() {
    let cached = cached(false).await;
    let storage = &cached.storage;
    for number in [1, 2] {
        cached.seen(&id(number)).await;
    }
    cached.loads();
    assert!(storage.expire_orders(at(0)).await.unwrap().is_empty());
    for number in [1, 2] {
        cached.seen(&id(number)).await;
    }
    assert_eq!(cached.loads(), 0, "nothing changed");
    assert_eq!(storage.expire_orders(at(86_400)).await.unwrap().len(), 2);
    for number in [1, 2] {
        let stored = cached.stored(&id(number)).await.unwrap();
        assert_eq!(Version(cached.seen(&id(number)).await), stored);
    }
    assert_eq!(cached.loads(), 2);
}

#[tokio::test]
async fn nothing_is_kept_where_other_processes_write_and_no_version_is_known() {
    let cached = cached(true).await;
    for _ in 0..3 {
        cached.seen(&id(1)).await;
    }
    assert_eq!(cached.loads(), 3);
}

#[tokio::test]
async fn a_view_is_kept_for_as_long_as_its_version() {
    let cached = cached(true).await;
    let read = async |version: i64, is_valid: bool| {
        let version = async { Ok(Some(OrderVersion::new([version, 0, 0, 0]))) };
        let load = async {
            cached.loads.fetch_add(1, Ordering::Relaxed);
            cached.stored(&id(1)).await
        };
        let order = id(1);
        let view = cached.views.view(&order, |_| is_valid, version, load);
        view.await.unwrap();
        cached.loads()
    };
    assert_eq!([read(1, true).await, read(1, true).await], [1, 0]);
    assert_eq!([read(2, true).await, read(2, true).await], [1, 0]);
    assert_eq!([read(2, false).await, read(2, true).await], [1, 0]);
    assert_eq!(read(1, true).await, 1, "versions have no order");
    // Writes of this process are in the version as well.
    assert!(cached.views.current(&id(1), |_| true).is_none());
}

#[tokio::test]
async fn a_token_is_looked_up_once_and_opens_nothing_after_its_end() {
    let cached = cached(false).await;
    let token = TokenHash([1; 32]);
    let mut lookups = 0;
    for (now, opens) in [(0, true), (99, true), (100, false), (99, true)] {
        let load = async {
            lookups += 1;
            cached.storage.token_grant(token).await
        };
        let found = cached.views.grant(token, at(now), load).await.unwrap();
        let order = found.map(|grant| grant.order_id.clone());
        assert_eq!(order, opens.then(|| id(1)), "{now}");
    }
    assert_eq!(lookups, 1);
    let unknown = TokenHash([9; 32]);
    let load = cached.storage.token_grant(unknown);
    let found = cached.views.grant(unknown, at(0), load).await;
    assert_eq!(found.unwrap(), None);
}

#[tokio::test]
async fn the_views_have_a_bounded_size() {
    let cached = cached(false).await;
    for number in 0..20_000_u32 {
        let mut bits = [0; 16];
        bits[..4].copy_from_slice(&number.to_be_bytes());
        let (order, load) = (OrderId::from_random(bits), async {
            Ok::<_, StorageError>(Version(0))
        });
        let view = cached.views.view(&order, |_| true, unversioned(), load);
        view.await.unwrap();
    }
    let kept = cached.views.views.weight();
    assert!((MAX_BYTES / 2..=MAX_BYTES).contains(&kept), "{kept}");
}
