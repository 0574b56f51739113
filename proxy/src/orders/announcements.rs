//! Changes of orders that wait to be announced to the other proxies on the same database.

use std::collections::HashSet;

use florin_orders::OrderId;
use florin_storage::Changed;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// While the database cannot be reached, changes gather; above this number they are announced as a change of all orders.
const MAX_ORDERS: usize = 1_000;

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn order(number: u16) -> OrderId {
        let mut bits = [0; 16];
        bits[..2].copy_from_slice(&number.to_be_bytes());
        OrderId::from_random(bits)
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
        for number in 0..2_000 {
            announcements.push(&order(number));
        }
        assert!(announcements.waiting.lock().orders.len() <= MAX_ORDERS + 1);
        assert_eq!(announcements.take(), Some(Changed::All));
        announcements.push_all();
        announcements.push(&order(1));
        assert_eq!(announcements.take(), Some(Changed::All));
    }
}
