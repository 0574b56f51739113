//! Subscriptions: the open event streams of each order, and the view that they share.
//!
//! A notification carries no data: a stream asks for the view, which is rendered once and shared by all streams of the
//! order. A lost notification costs time only, since streams also poll the database.

use std::collections::HashMap;
use std::sync::Arc;

use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, watch};

/// How long a view is shared; its countdowns and a change of another process are late by as much.
const SHARED_FOR: SignedDuration = SignedDuration::from_secs(1);

/// An order's view, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderedView {
    /// Changes whenever the view does, except for the passing of time.
    pub etag: String,
    /// The view as JSON.
    pub json: String,
    /// When it was rendered.
    pub rendered_at: Timestamp,
    /// Until when pages follow the order, once it is paid.
    pub followed_until: Option<Timestamp>,
}

impl RenderedView {
    fn is_fresh(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.rendered_at);
        (SignedDuration::ZERO..SHARED_FOR).contains(&age)
    }
}

/// The view that was rendered last, and after how many changes.
type SharedView = Arc<AsyncMutex<Option<(u64, Arc<RenderedView>)>>>;

/// What the subscriptions of one order share.
#[derive(Debug)]
struct Channel {
    /// Counts the changes, so that a view that was rendered before a change is not shared after it.
    changes: watch::Sender<u64>,
    view: SharedView,
}

impl Channel {
    fn notify(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// The subscriptions of all orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderSubscriptions(Arc<Mutex<HashMap<OrderId, Channel>>>);

/// One subscription; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    order: OrderId,
    changes: Option<watch::Receiver<u64>>,
    view: SharedView,
    subscriptions: OrderSubscriptions,
}

impl OrderSubscriptions {
    /// Subscribes to an order.
    pub(crate) fn subscribe(&self, order: &OrderId) -> Subscription {
        let mut all = self.0.lock();
        let channel = all.entry(order.clone()).or_insert_with(|| Channel {
            changes: watch::channel(0).0,
            view: SharedView::default(),
        });
        Subscription {
            order: order.clone(),
            changes: Some(channel.changes.subscribe()),
            view: channel.view.clone(),
            subscriptions: self.clone(),
        }
    }

    /// Notifies the subscriptions of an order.
    pub(crate) fn notify(&self, order: &OrderId) {
        let all = self.0.lock();
        if let Some(channel) = all.get(order) {
            channel.notify();
        }
    }

    /// Notifies all subscriptions.
    pub(crate) fn notify_all(&self) {
        let all = self.0.lock();
        for channel in all.values() {
            channel.notify();
        }
    }

    /// The number of an order's subscriptions.
    pub(crate) fn count(&self, order: &OrderId) -> usize {
        let all = self.0.lock();
        all.get(order)
            .map_or(0, |channel| channel.changes.receiver_count())
    }

    /// The number of all subscriptions.
    pub(crate) fn total(&self) -> usize {
        let all = self.0.lock();
        all.values()
            .map(|channel| channel.changes.receiver_count())
            .sum()
    }

    /// The view that an order's streams share, if it is fresh and has this tag.
    pub(crate) fn shared_view(
        &self,
        order: &OrderId,
        etag: &str,
        now: Timestamp,
    ) -> Option<Arc<RenderedView>> {
        let all = self.0.lock();
        let shared = all.get(order)?.view.try_lock().ok()?;
        let (_, view) = shared.as_ref()?;
        (view.etag == etag && view.is_fresh(now)).then(|| view.clone())
    }
}

impl Subscription {
    /// Waits for the next notification.
    pub(crate) async fn changed(&mut self) {
        if let Some(changes) = &mut self.changes
            && changes.changed().await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }

    /// The order's view: the shared one, or what `render` makes if that is older than the last change or no longer fresh.
    /// `None` if `render` returns it.
    pub(crate) async fn view(
        &self,
        now: impl Fn() -> Timestamp,
        render: impl Future<Output = Option<RenderedView>>,
    ) -> Option<Arc<RenderedView>> {
        let mut shared = self.view.lock().await;
        let changes = self.changes.as_ref().map_or(0, |changes| *changes.borrow());
        if let Some((after, view)) = &*shared
            && *after == changes
            && view.is_fresh(now())
        {
            return Some(view.clone());
        }
        let view = Arc::new(render.await?);
        *shared = Some((changes, view.clone()));
        Some(view)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.changes = None;
        let mut all = self.subscriptions.0.lock();
        if all
            .get(&self.order)
            .is_some_and(|channel| channel.changes.receiver_count() == 0)
        {
            all.remove(&self.order);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    fn order(number: u8) -> OrderId {
        OrderId::from_random([number; 16])
    }

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    /// The number of the rendering that a subscription gets at a time.
    async fn seen(subscription: &Subscription, renderings: &Cell<u32>, now: i64) -> String {
        let render = async {
            renderings.set(renderings.get() + 1);
            Some(RenderedView {
                etag: "tag".to_owned(),
                json: renderings.get().to_string(),
                rendered_at: at(now),
                followed_until: None,
            })
        };
        let view = subscription.view(|| at(now), render).await;
        view.unwrap().json.clone()
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

    #[tokio::test]
    async fn a_view_is_rendered_once_for_all_subscriptions_of_its_order() {
        let (subscriptions, renderings) = (OrderSubscriptions::default(), Cell::new(0));
        let streams = [(); 100].map(|()| subscriptions.subscribe(&order(1)));
        for stream in &streams {
            assert_eq!(seen(stream, &renderings, 0).await, "1");
        }
        let other = subscriptions.subscribe(&order(2));
        assert_eq!(seen(&other, &renderings, 0).await, "2");
    }

    #[tokio::test]
    async fn a_view_from_before_a_change_is_not_shared_after_it() {
        let (subscriptions, renderings) = (OrderSubscriptions::default(), Cell::new(0));
        let stream = subscriptions.subscribe(&order(1));
        assert_eq!(seen(&stream, &renderings, 0).await, "1");
        subscriptions.notify(&order(1));
        assert_eq!(seen(&stream, &renderings, 0).await, "2");
        subscriptions.notify_all();
        assert_eq!(seen(&stream, &renderings, 0).await, "3");
    }

    #[tokio::test]
    async fn a_view_is_shared_for_less_than_a_second() {
        let (subscriptions, renderings) = (OrderSubscriptions::default(), Cell::new(0));
        let stream = subscriptions.subscribe(&order(1));
        for (now, expected) in [(0, "1"), (999, "1"), (1000, "2"), (500, "3")] {
            assert_eq!(seen(&stream, &renderings, now).await, expected, "{now}");
        }
    }

    #[tokio::test]
    async fn a_status_read_takes_the_shared_view_of_its_tag_alone() {
        let (subscriptions, renderings) = (OrderSubscriptions::default(), Cell::new(0));
        let mine = order(1);
        assert_eq!(subscriptions.shared_view(&mine, "tag", at(0)), None);
        let stream = subscriptions.subscribe(&mine);
        assert_eq!(subscriptions.shared_view(&mine, "tag", at(0)), None);
        seen(&stream, &renderings, 0).await;
        assert!(subscriptions.shared_view(&mine, "tag", at(0)).is_some());
        assert_eq!(subscriptions.shared_view(&mine, "another", at(0)), None);
        assert_eq!(subscriptions.shared_view(&mine, "tag", at(1000)), None);
    }
}
