//! Subscriptions: the open event streams of each order.
//!
//! A notification carries no data: its stream reads the order again. A lost one costs time only, since streams also poll
//! the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ledger::OrderId;
use tokio::sync::watch;

/// The subscriptions of all orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSubscriptions(Arc<Mutex<HashMap<OrderId, watch::Sender<()>>>>);

/// One subscription; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    order: OrderId,
    woken: Option<watch::Receiver<()>>,
    subscriptions: OrderSubscriptions,
}

impl OrderSubscriptions {
    /// Subscribes to an order.
    pub(crate) fn subscribe(&self, order: &OrderId) -> Subscription {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = all
            .entry(order.clone())
            .or_insert_with(|| watch::channel(()).0);
        Subscription {
            order: order.clone(),
            woken: Some(sender.subscribe()),
            subscriptions: self.clone(),
        }
    }

    /// Notifies the subscriptions of an order.
    pub(crate) fn notify(&self, order: &OrderId) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = all.get(order) {
            sender.send_replace(());
        }
    }
}

impl OrderSubscriptions {
    /// Notifies all subscriptions.
    pub(crate) fn notify_all(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for sender in all.values() {
            sender.send_replace(());
        }
    }

    /// The number of an order's subscriptions.
    pub(crate) fn count(&self, order: &OrderId) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(order).map_or(0, watch::Sender::receiver_count)
    }
}

impl Subscription {
    /// Waits for the next notification.
    pub(crate) async fn changed(&mut self) {
        if let Some(woken) = &mut self.woken
            && woken.changed().await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.woken = None;
        let mut all = self
            .subscriptions
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if all
            .get(&self.order)
            .is_some_and(|sender| sender.receiver_count() == 0)
        {
            all.remove(&self.order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_subscription_is_notified_of_its_order_alone_and_removed_when_it_is_dropped() {
        let subscriptions = OrderSubscriptions::default();
        let (mine, other) = (OrderId::from_random([1; 16]), OrderId::from_random([2; 16]));
        let mut watcher = subscriptions.subscribe(&mine);
        subscriptions.notify(&other);
        let early = tokio::time::timeout(std::time::Duration::from_millis(20), watcher.changed());
        assert!(early.await.is_err());
        subscriptions.notify(&mine);
        watcher.changed().await;
        drop(watcher);
        assert!(subscriptions.0.lock().unwrap().is_empty());
    }
}
