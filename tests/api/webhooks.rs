//! Webhooks to an endpoint that is down or rejects deliveries: every event arrives, in order.

use std::time::Duration;

use jiff::SignedDuration;
use support::{Checkout, Reply, World, pause, pay_in_full};

use crate::helpers::{event_types, skip_until};

async fn paid_order(world: &World) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(world, &checkout).await;
    checkout
}

/// Skips minutes until every event is delivered.
async fn wait_until_delivered(world: &World, checkout: &Checkout) {
    let happened = world.store().events_of(&checkout.order).await;
    let step = Duration::from_mins(20);
    skip_until(world, step, "every event is delivered", || {
        let mut delivered_events = world.webhooks.event_types(&checkout.order);
        delivered_events.dedup();
        delivered_events == event_types(&happened)
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_was_down_and_rejects_events_receives_everything_in_order() {
    let mut world = World::start().await;
    world.store_link.cut().await;
    let checkout = paid_order(&world).await;
    assert!(world.webhooks.deliveries().is_empty());
    world.webhooks.reply_with(Reply::Redirect);
    world.store_link.restore().await;
    skip_until(&world, Duration::from_mins(20), "a rejection", || {
        !world.webhooks.deliveries().is_empty()
    })
    .await;
    // Time for a later event, which must not be delivered first.
    pause(Duration::from_millis(300)).await;
    let rejected = world.webhooks.deliveries();
    for delivery in &rejected {
        assert_eq!((delivery.sequence, delivery.taken), (1, false));
    }
    world.webhooks.reply_with(Reply::Accept);
    wait_until_delivered(&world, &checkout).await;
    // The retried event is the same event.
    let taken = world.webhooks.accepted(&checkout.order).remove(0);
    assert_eq!(
        (&rejected[0].id, &rejected[0].body),
        (&taken.id, &taken.body)
    );
    assert_ne!(rejected[0].sent_at, taken.sent_at);
    world.end().await;
}

/// Away for hours: the next try by the schedule is as far ahead.
#[tokio::test]
async fn money_arrives_within_ten_seconds_of_the_endpoints_return() {
    let world = World::start().await;
    world.webhooks.reply_with(Reply::Status(500));
    let checkout = paid_order(&world).await;
    for _ in 0..20 {
        world.skip(Duration::from_mins(15));
        pause(Duration::from_millis(100)).await;
    }
    world.webhooks.reply_with(Reply::Accept);
    let is_back = world.clock.now();
    skip_until(&world, Duration::from_secs(1), "money arrives", || {
        let delivered = world.webhooks.event_types(&checkout.order);
        delivered.last().is_some_and(|kind| kind == "order.paid")
    })
    .await;
    let paid = world.webhooks.deliveries().pop().unwrap().arrived_at;
    let late = paid.duration_since(is_back);
    assert!(late <= SignedDuration::from_secs(10), "{late}");
    world.end().await;
}
