//! Changes of orders since they were read, by which the cache of views is validated, and their announcements.
//!
//! A write announces itself before it begins and after it has ended. What was read in between belongs to no known version
//! and is not kept. A reader takes a [`VersionStamp`] before it reads; what it read is current for as long as the stamp is.
//!
//! Orders share counters by their hash, so that the counters need no room for each order. A change of one order makes a
//! few others be read again.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use florin_orders::OrderId;
use florin_storage::Changed;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

/// 64 KiB of counters.
const COUNTERS: usize = 8_192;

/// The writes in progress, in the lower half of a counter; the upper half counts the changes.
const WRITE: u64 = 1;
const CHANGE: u64 = 1 << 32;

#[derive(Debug)]
pub(crate) struct OrderChanges {
    counters: Box<[AtomicU64]>,
    /// Writes that may change any order.
    all: AtomicU64,
    /// Without a random key: ids are drawn by the proxy, and orders must share counters in the same way whenever a simulation
    /// repeats them.
    hasher: BuildHasherDefault<DefaultHasher>,
    subscriptions: OrderSubscriptions,
    /// For the other processes that use the database, if there are any.
    announcements: Option<Arc<Announcements>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionStamp {
    order: u64,
    all: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Scope {
    Order(OrderId),
    /// Any: the write names none, or finds them itself.
    All,
}

/// A write in progress. Dropping it announces a change, whatever became of the write.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    changes: Arc<OrderChanges>,
    scope: Scope,
    has_changed: bool,
}

impl OrderChanges {
    /// Notifies these subscriptions of every change, and announces it to other processes.
    pub(crate) fn new(
        subscriptions: OrderSubscriptions,
        announcements: Option<Arc<Announcements>>,
    ) -> Self {
        Self {
            counters: std::iter::repeat_with(AtomicU64::default)
                .take(COUNTERS)
                .collect(),
            all: AtomicU64::default(),
            hasher: BuildHasherDefault::default(),
            subscriptions,
            announcements,
        }
    }

    /// The moment before a read of an order; `None` while a write may change the order.
    pub(crate) fn stamp(&self, order: &OrderId) -> Option<VersionStamp> {
        // In this order: a write of all orders announces those that it found before it ends as one that changed nothing.
        let all = self.all.load(Ordering::SeqCst);
        let order = self.counter(order).load(Ordering::SeqCst);
        let stamp = VersionStamp { order, all };
        let is_idle = |counter: u64| counter.is_multiple_of(CHANGE);
        (is_idle(stamp.order) && is_idle(stamp.all)).then_some(stamp)
    }

    pub(crate) fn begin(self: &Arc<Self>, scope: Scope) -> WriteGuard {
        self.counter_of(&scope).fetch_add(WRITE, Ordering::SeqCst);
        WriteGuard {
            changes: self.clone(),
            scope,
            has_changed: true,
        }
    }

    /// Makes what was read before be read again, without a notification: the poll schedule changed, which no view shows.
    pub(crate) fn invalidate(&self, scope: &Scope) {
        self.counter_of(scope).fetch_add(CHANGE, Ordering::SeqCst);
    }

    fn notify(&self, order: &OrderId) {
        self.subscriptions.notify(order);
        if let Some(announcements) = &self.announcements {
            announcements.push(order);
        }
    }

    fn notify_all(&self) {
        self.subscriptions.notify_all();
        if let Some(announcements) = &self.announcements {
            announcements.push_all();
        }
    }

    fn counter_of(&self, scope: &Scope) -> &AtomicU64 {
        match scope {
            Scope::Order(order) => self.counter(order),
            Scope::All => &self.all,
        }
    }

    fn counter(&self, order: &OrderId) -> &AtomicU64 {
        &self.counters[self.bucket(order, COUNTERS)]
    }

    pub(crate) fn bucket(&self, order: &OrderId, buckets: usize) -> usize {
        let bucket = self.hasher.hash_one(order) % buckets as u64;
        usize::try_from(bucket).expect("it is less than the number of buckets")
    }
}

impl WriteGuard {
    pub(crate) fn changed_nothing(&mut self) {
        self.has_changed = false;
    }

    pub(crate) fn mark_changed(&self, order: &OrderId) {
        self.changes.invalidate(&Scope::Order(order.clone()));
        self.changes.notify(order);
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        let counter = self.changes.counter_of(&self.scope);
        if !self.has_changed {
            counter.fetch_sub(WRITE, Ordering::SeqCst);
            return;
        }
        counter.fetch_add(CHANGE - WRITE, Ordering::SeqCst);
        match &self.scope {
            Scope::Order(order) => self.changes.notify(order),
            Scope::All => self.changes.notify_all(),
        }
    }
}

/// While the database cannot be reached, changes gather; above this number they are announced as a change of all orders.
const MAX_ORDERS: usize = 1_000;

/// Changes that wait to be announced to the other proxies on the same database.
#[derive(Debug, Default)]
pub(crate) struct Announcements {
    waiting: Mutex<Waiting>,
    wakeup: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    orders: HashSet<OrderId>,
    all: bool,
}

impl Announcements {
    pub(crate) fn push(&self, order: &OrderId) {
        {
            let mut waiting = self.waiting.lock();
            if !waiting.all && waiting.orders.insert(order.clone()) {
                waiting.all = waiting.orders.len() > MAX_ORDERS;
            }
        }
        self.wakeup.notify_one();
    }

    pub(crate) fn push_all(&self) {
        self.waiting.lock().all = true;
        self.wakeup.notify_one();
    }

    /// Announces the changes since the last announcement. Those that could not be announced wait for the next one.
    pub(crate) async fn announce<E>(
        &self,
        announce: impl AsyncFnOnce(&Changed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(changed) = self.take() else {
            return Ok(());
        };
        let announced = announce(&changed).await;
        if announced.is_err() {
            match changed {
                Changed::All => self.push_all(),
                Changed::Orders(orders) => orders.iter().for_each(|order| self.push(order)),
            }
        }
        announced
    }

    pub(crate) async fn ready(&self) {
        self.wakeup.notified().await;
    }

    fn take(&self) -> Option<Changed> {
        let Waiting { orders, all } = std::mem::take(&mut *self.waiting.lock());
        if all {
            return Some(Changed::All);
        }
        (!orders.is_empty()).then(|| Changed::Orders(orders.into_iter().collect()))
    }
}

// Subscriptions: the open event streams of each order.
//
// A notification carries no data: a stream asks for the view, which is rendered once and shared by all streams of the
// order.

#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSubscriptions(Arc<Mutex<HashMap<OrderId, watch::Sender<()>>>>);

#[derive(Debug)]
pub(crate) struct Subscription {
    order: OrderId,
    changes: Option<watch::Receiver<()>>,
    subscriptions: OrderSubscriptions,
}

impl OrderSubscriptions {
    pub(crate) fn subscribe(&self, order: &OrderId) -> Subscription {
        let mut all = self.0.lock();
        let changes = all.entry(order.clone()).or_default();
        Subscription {
            order: order.clone(),
            changes: Some(changes.subscribe()),
            subscriptions: self.clone(),
        }
    }

    pub(crate) fn notify(&self, order: &OrderId) {
        let all = self.0.lock();
        if let Some(changes) = all.get(order) {
            changes.send_replace(());
        }
    }

    pub(crate) fn notify_all(&self) {
        let all = self.0.lock();
        for changes in all.values() {
            changes.send_replace(());
        }
    }

    pub(crate) fn orders(&self) -> Vec<OrderId> {
        self.0.lock().keys().cloned().collect()
    }

    pub(crate) fn count(&self, order: &OrderId) -> usize {
        let all = self.0.lock();
        all.get(order).map_or(0, watch::Sender::receiver_count)
    }

    pub(crate) fn total(&self) -> usize {
        let all = self.0.lock();
        all.values().map(watch::Sender::receiver_count).sum()
    }
}

impl Subscription {
    pub(crate) async fn changed(&mut self) {
        if let Some(changes) = &mut self.changes
            && changes.changed().await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.changes = None;
        let mut all = self.subscriptions.0.lock();
        if all
            .get(&self.order)
            .is_some_and(|changes| changes.receiver_count() == 0)
        {
            all.remove(&self.order);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn order(number: u8) -> OrderId {
        OrderId::from_random([number; 16])
    }

    fn changes() -> Arc<OrderChanges> {
        Arc::new(OrderChanges::new(OrderSubscriptions::default(), None))
    }

    #[test]
    fn nothing_is_current_while_a_write_is_in_progress() {
        let (changes, mine) = (changes(), order(1));
        for scope in [Scope::Order(mine.clone()), Scope::All] {
            let before = changes.stamp(&mine);
            let first = changes.begin(scope.clone());
            let second = changes.begin(scope);
            assert_eq!(changes.stamp(&mine), None);
            drop(first);
            assert_eq!(changes.stamp(&mine), None);
            drop(second);
            assert!(changes.stamp(&mine).is_some());
            assert_ne!(changes.stamp(&mine), before);
        }
    }

    #[test]
    fn a_write_that_changes_nothing_leaves_what_was_read_current() {
        let (changes, mine) = (changes(), order(1));
        let before = changes.stamp(&mine);
        let mut writing = changes.begin(Scope::Order(mine.clone()));
        writing.changed_nothing();
        drop(writing);
        assert_eq!(changes.stamp(&mine), before);
        changes.invalidate(&Scope::Order(mine.clone()));
        assert_ne!(changes.stamp(&mine), before);
    }

    #[tokio::test]
    async fn every_write_notifies_the_subscriptions_of_its_orders() {
        let changes = changes();
        for scope in [Scope::Order(order(1)), Scope::All] {
            let mut subscription = changes.subscriptions.subscribe(&order(1));
            drop(changes.begin(scope));
            subscription.changed().await;
        }
        let mut subscription = changes.subscriptions.subscribe(&order(2));
        let mut writing = changes.begin(Scope::All);
        writing.mark_changed(&order(2));
        writing.changed_nothing();
        drop(writing);
        subscription.changed().await;
    }

    #[tokio::test]
    async fn changes_of_one_order_are_one_announcement() {
        let announcements = Announcements::default();
        assert_eq!(announcements.take(), None);
        for _ in 0..3 {
            announcements.push(&order(1));
        }
        announcements.ready().await;
        assert_eq!(announcements.take(), Some(Changed::Orders(vec![order(1)])));
        assert_eq!(announcements.take(), None);
    }

    #[tokio::test]
    async fn what_could_not_be_announced_is_announced_later() {
        let announcements = Announcements::default();
        for (push, expected) in [
            (
                Changed::Orders(vec![order(1)]),
                Changed::Orders(vec![order(1)]),
            ),
            (Changed::All, Changed::All),
        ] {
            match push {
                Changed::Orders(orders) => announcements.push(&orders[0]),
                Changed::All => announcements.push_all(),
            }
            announcements.ready().await;
            let failed = announcements.announce(async |_| Err("the database is away"));
            assert_eq!(failed.await, Err("the database is away"));
            let again = tokio::time::timeout(Duration::from_secs(5), announcements.ready());
            again.await.expect("the change waits");
            let mut announced = None;
            let repeated = announcements.announce(async |changed: &Changed| {
                announced = Some(changed.clone());
                Ok::<(), ()>(())
            });
            assert_eq!(repeated.await, Ok(()));
            assert_eq!(announced, Some(expected));
            assert_eq!(announcements.take(), None);
        }
    }

    #[test]
    fn changes_gather_in_bounded_memory() {
        let announcements = Announcements::default();
        for number in 0..2_000_u16 {
            let mut bits = [0; 16];
            bits[..2].copy_from_slice(&number.to_be_bytes());
            announcements.push(&OrderId::from_random(bits));
        }
        assert!(announcements.waiting.lock().orders.len() <= MAX_ORDERS + 1);
        assert_eq!(announcements.take(), Some(Changed::All));
        announcements.push_all();
        announcements.push(&order(1));
        assert_eq!(announcements.take(), Some(Changed::All));
    }

    #[tokio::test]
    async fn a_subscription_is_notified_of_its_order_alone_and_removed_when_it_is_dropped() {
        let subscriptions = OrderSubscriptions::default();
        let (mine, other) = (order(1), order(2));
        let mut subscription = subscriptions.subscribe(&mine);
        subscriptions.notify(&other);
        let early = tokio::time::timeout(Duration::from_millis(20), subscription.changed());
        assert!(early.await.is_err());
        subscriptions.notify(&mine);
        subscription.changed().await;
        drop(subscription);
        assert!(subscriptions.0.lock().is_empty());
    }
}
