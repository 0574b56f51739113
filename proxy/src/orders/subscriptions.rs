//! Who watches an order right now, and waking them.
//!
//! A wake-up carries nothing: whoever is woken reads the ledger again. A lost one loses nothing, since streams also
//! look by themselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ledger::OrderId;
use tokio::sync::watch;

/// The watchers of all orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSubscriptions(Arc<Mutex<HashMap<OrderId, watch::Sender<()>>>>);

/// One watcher; it ends with the value.
#[derive(Debug)]
pub(crate) struct Subscription {
    order: OrderId,
    woken: Option<watch::Receiver<()>>,
    subscriptions: OrderSubscriptions,
}

impl OrderSubscriptions {
    /// Starts watching an order.
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

    /// Wakes everybody who watches an order.
    pub(crate) fn notify(&self, order: &OrderId) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = all.get(order) {
            sender.send_replace(());
        }
    }
}

impl OrderSubscriptions {
    /// Wakes everybody.
    pub(crate) fn notify_all(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for sender in all.values() {
            sender.send_replace(());
        }
    }

    /// How many watch an order.
    pub(crate) fn count(&self, order: &OrderId) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(order).map_or(0, watch::Sender::receiver_count)
    }
}

impl Subscription {
    /// Waits for the next wake-up.
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
    async fn a_watcher_is_woken_for_its_order_alone_and_forgotten_when_it_leaves() {
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
