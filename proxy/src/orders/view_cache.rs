//! The views that were rendered last, and what client tokens open: a status read asks the database only after a change.
//!
//! A read that begins after a commit never gets what was there before. Where all writes pass this process, a view is kept
//! with the [`VersionStamp`] from before the order was read, and is served while that is the order's stamp. Where other processes
//! write to the same database ([`florin_storage::Storage::has_other_writers`]), a view is kept with the order's
//! [`OrderVersion`] from before it was read, and each read compares the version: one row of each of three tables, by their
//! keys, in place of loading and rendering the order.

use std::future::Future;
use std::sync::Arc;

use florin_orders::{OrderId, TokenHash};
use florin_storage::{OrderVersion, TokenGrant};
use jiff::Timestamp;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Mutex;

use crate::orders::changes::{OrderChanges, VersionStamp};

/// Client tokens that are kept; one takes about 200 bytes.
const MAX_GRANTS: usize = 32_768;
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// What the room is laid out for: views of 4 KiB.
const EXPECTED_VIEWS: usize = 8_192;
const ENTRY_BYTES: u64 = 256;
/// Orders whose views are loaded at once. Readers of one order wait for one load.
const LOADS: usize = 256;

pub(crate) trait View {
    fn size(&self) -> usize;
}

pub(crate) struct ViewCache<V> {
    changes: Arc<OrderChanges>,
    grants: Cache<TokenHash, Arc<TokenGrant>>,
    views: Cache<OrderId, Entry<V>, Size>,
    loads: Box<[Mutex<()>]>,
    has_other_writers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Stamp(VersionStamp),
    Version(OrderVersion),
}

/// A view, and what must be the same for it to be current.
type Entry<V> = (Basis, Arc<V>);

#[derive(Clone)]
struct Size;

impl<V: View> Weighter<OrderId, Entry<V>> for Size {
    fn weight(&self, _: &OrderId, (_, view): &Entry<V>) -> u64 {
        ENTRY_BYTES + view.size() as u64
    }
}

impl<V: View> ViewCache<V> {
    /// An empty cache; one that compares versions if other processes write.
    pub(crate) fn new(changes: Arc<OrderChanges>, has_other_writers: bool) -> Self {
        Self {
            changes,
            grants: Cache::new(MAX_GRANTS),
            views: Cache::with_weighter(EXPECTED_VIEWS, MAX_BYTES, Size),
            loads: std::iter::repeat_with(Mutex::default).take(LOADS).collect(),
            has_other_writers,
        }
    }

    /// What a client token opens at a time; `None` for an unknown or expired token.
    pub(crate) async fn grant<E>(
        &self,
        token: TokenHash,
        now: Timestamp,
        load: impl Future<Output = Result<Option<TokenGrant>, E>>,
    ) -> Result<Option<Arc<TokenGrant>>, E> {
        let grant = if let Some(grant) = self.grants.get(&token) {
            grant
        } else {
            let Some(grant) = load.await?.map(Arc::new) else {
                return Ok(None);
            };
            self.grants.insert(token, grant.clone());
            grant
        };
        Ok((now < grant.expires_at).then_some(grant))
    }

    /// The view of an order: the kept one if it is current and valid, or what `load` makes. `version` is asked for where
    /// other processes write; without one nothing is kept.
    pub(crate) async fn view<E>(
        &self,
        order: &OrderId,
        is_valid: impl Fn(&V) -> bool,
        version: impl Future<Output = Result<Option<OrderVersion>, E>>,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<Arc<V>, E> {
        let version = if self.has_other_writers {
            Some(version.await?.map(Basis::Version))
        } else {
            None
        };
        let basis = || version.unwrap_or_else(|| self.stamp(order));
        if let Some(view) = self.kept(order, basis(), &is_valid) {
            return Ok(view);
        }
        let _turn = self.loads[self.changes.bucket(order, LOADS)].lock().await;
        let basis = basis();
        if let Some(view) = self.kept(order, basis, &is_valid) {
            return Ok(view);
        }
        let view = Arc::new(load.await?);
        if let Some(basis) = basis {
            self.views.insert(order.clone(), (basis, view.clone()));
        }
        Ok(view)
    }

    /// The kept view of an order, if it is current and valid; `None` where only the database knows.
    pub(crate) fn current(&self, order: &OrderId, is_valid: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        if self.has_other_writers {
            return None;
        }
        self.kept(order, self.stamp(order), is_valid)
    }

    fn stamp(&self, order: &OrderId) -> Option<Basis> {
        self.changes.stamp(order).map(Basis::Stamp)
    }

    fn kept(
        &self,
        order: &OrderId,
        basis: Option<Basis>,
        is_valid: impl Fn(&V) -> bool,
    ) -> Option<Arc<V>> {
        let (kept_by, view) = self.views.get(order)?;
        (basis == Some(kept_by) && is_valid(&view)).then_some(view)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use florin_orders::fixtures::{at, invoice, new_attempt, terms};
    use florin_storage::{SqliteStorage, StorageError};
    use jiff::SignedDuration;
    use tempfile::TempDir;
    use tokio::task::{JoinSet, yield_now};

    use super::*;
    use crate::orders::changes::OrderSubscriptions;
    use crate::orders::tracked_storage::TrackedStorage;
    use crate::spans::Spans;

    /// The version of an order stands for its view.
    impl View for u64 {
        fn size(&self) -> usize {
            4 * 1024
        }
    }

    struct Cached {
        storage: TrackedStorage,
        views: ViewCache<u64>,
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
        let storage =
            TrackedStorage::new(Arc::new(storage), changes.clone(), Arc::new(Spans::none()));
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

    fn unversioned() -> std::future::Ready<Result<Option<OrderVersion>, StorageError>> {
        std::future::ready(Ok(None))
    }

    impl Cached {
        async fn stored(&self, order: &OrderId) -> Result<u64, StorageError> {
            let snapshot = self.storage.snapshot(order).await?;
            Ok(snapshot.unwrap().order.version)
        }

        async fn seen(&self, order: &OrderId) -> u64 {
            let load = async {
                self.loads.fetch_add(1, Ordering::Relaxed);
                self.stored(order).await
            };
            let view = self.views.view(order, |_| true, unversioned(), load);
            *view.await.unwrap()
        }

        fn loads(&self) -> u64 {
            self.loads.swap(0, Ordering::Relaxed)
        }

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
        assert_eq!(cached.seen(&id(1)).await, stored);
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
            let before = cached.stored(&order).await.unwrap();
            let seen = cached.seen(&order).await;
            // The write may still be carried out between the two reads.
            let after = cached.stored(&order).await.unwrap();
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
            assert_eq!(cached.seen(&order).await, stored, "{write}");
            assert_eq!(cached.loads(), 1, "{write}");
            assert_eq!(cached.seen(&order).await, stored, "{write}");
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
        storage
            .schedule_poll(&order, SignedDuration::ZERO, at(1))
            .await
            .unwrap();
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
        let see_both = async || [cached.seen(&id(1)).await, cached.seen(&id(2)).await];
        see_both().await;
        cached.loads();
        assert!(storage.expire_orders(at(0)).await.unwrap().is_empty());
        see_both().await;
        assert_eq!(cached.loads(), 0, "nothing changed");
        assert_eq!(storage.expire_orders(at(86_400)).await.unwrap().len(), 2);
        let seen = see_both().await;
        for (number, seen) in [1, 2].into_iter().zip(seen) {
            assert_eq!(cached.stored(&id(number)).await.unwrap(), seen);
        }
        assert_eq!(cached.loads(), 2);
    }

    #[tokio::test]
    async fn a_view_is_kept_for_as_long_as_its_version() {
        let cached = cached(true).await;
        let read = async |version: i64, is_valid: bool| {
            let version = (version > 0).then(|| OrderVersion::new([version, 0, 0, 0]));
            let version = std::future::ready(Ok(version));
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
        assert_eq!(
            [read(0, true).await, read(0, true).await],
            [1, 1],
            "none is known"
        );
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
                Ok::<_, StorageError>(0)
            });
            let view = cached.views.view(&order, |_| true, unversioned(), load);
            view.await.unwrap();
        }
        let kept = cached.views.views.weight();
        assert!((MAX_BYTES / 2..=MAX_BYTES).contains(&kept), "{kept}");
    }
}
