//! Subscriptions: the open event streams of each order.
//!
//! A notification carries no data: a stream asks for the view, which is rendered once and shared by all streams of the
//! order.

use std::collections::HashMap;
use std::sync::Arc;

use florin_orders::OrderId;
use parking_lot::Mutex;
use tokio::sync::watch;

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
