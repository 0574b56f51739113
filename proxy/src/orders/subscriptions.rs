//! Subscriptions: the open event streams of each order.
//!
//! A notification carries no data: a stream asks for the view, which is rendered once and shared by all streams of the
//! order.

use std::collections::HashMap;
use std::sync::Arc;

use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::watch;

/// A few comparisons: after this time without one, each stream reads its order with its heartbeat.
const LONGEST_UNCOMPARED: SignedDuration = SignedDuration::from_secs(15);

#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSubscriptions(Arc<Mutex<HashMap<OrderId, watch::Sender<()>>>>);

/// One subscription; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    order: OrderId,
    changes: Option<watch::Receiver<()>>,
    subscriptions: OrderSubscriptions,
}

/// When the versions of all orders with subscriptions were compared last, and the subscriptions of those that other processes
/// had changed were notified.
#[derive(Debug, Default)]
pub(crate) struct LastComparison(Mutex<Option<Timestamp>>);

impl LastComparison {
    /// Records a comparison by the time at which it began.
    pub(crate) fn record(&self, began: Timestamp) {
        *self.0.lock() = Some(began);
    }

    /// Returns `true` if the last comparison began less than 15 seconds ago.
    pub(crate) fn is_recent(&self, now: Timestamp) -> bool {
        let began = *self.0.lock();
        let age = began.map(|began| now.duration_since(began));
        // A time in the future is of a clock that was ahead.
        age.is_some_and(|age| (SignedDuration::ZERO..LONGEST_UNCOMPARED).contains(&age))
    }
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

    #[test]
    fn a_comparison_is_recent_for_less_than_its_longest_time_and_never_before_it_began() {
        let (comparison, began) = (LastComparison::default(), Timestamp::UNIX_EPOCH);
        assert!(!comparison.is_recent(began));
        comparison.record(began);
        let after = |millis| began + SignedDuration::from_millis(millis);
        for (millis, is_recent) in [(-1, false), (0, true), (14_999, true), (15_000, false)] {
            assert_eq!(comparison.is_recent(after(millis)), is_recent, "{millis}");
        }
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
