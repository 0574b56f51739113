//! Webhooks to an endpoint that is down or rejects deliveries: every event arrives, in order.

use std::time::Duration;

use jiff::SignedDuration;
use support::{Checkout, Reply, World, eventually, pause, pay_in_full};

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
async fn an_endpoint_that_was_down_receives_everything_in_order() {
    let mut world = World::start().await;
    world.store_link.cut().await;
    let checkout = paid_order(&world).await;
    assert!(world.webhooks.deliveries().is_empty());
    world.store_link.restore().await;
    wait_until_delivered(&world, &checkout).await;
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

#[tokio::test]
async fn no_event_overtakes_a_rejected_one() {
    for reply in [Reply::Status(500), Reply::Status(404), Reply::Redirect] {
        let world = World::start().await;
        world.webhooks.reply_with(reply);
        let checkout = paid_order(&world).await;
        // Time for a later event, which must not be delivered first.
        pause(Duration::from_millis(300)).await;
        let deliveries = world.webhooks.deliveries();
        assert!(!deliveries.is_empty());
        for delivery in &deliveries {
            assert_eq!((delivery.sequence, delivery.taken), (1, false), "{reply:?}");
        }
        world.webhooks.reply_with(Reply::Accept);
        wait_until_delivered(&world, &checkout).await;
        // The retried event is the same event.
        let rejected = &deliveries[0];
        let taken = world.webhooks.accepted(&checkout.order).remove(0);
        assert_eq!(rejected.id, taken.id);
        assert_eq!(rejected.body, taken.body);
        assert_ne!(rejected.sent_at, taken.sent_at);
        world.end().await;
    }
}

#[tokio::test]
async fn after_ten_deliveries_an_error_is_logged_and_the_event_log_still_works() {
    let world = World::start().await;
    world.expect_error("an event was given up");
    world.webhooks.reply_with(Reply::Status(500));
    let checkout = world.customer().open("ebook").await;
    let store = world.store();
    let events = store.events_of(&checkout.order).await;
    assert_eq!(event_types(&events)[0], "order.created");
    let path = format!("/v1/deliveries?event={}", events[0]["id"].as_str().unwrap());
    for count in 1..=10 {
        // Once a delivery is recorded, none is under way that the clock could time out.
        eventually("the delivery is recorded", async || {
            let recorded = store.get(&path).await.with(200).body;
            (recorded["deliveries"].as_array().unwrap().len() == count).then_some(())
        })
        .await;
        // Longer than any pause between two deliveries, jitter included.
        world.skip(Duration::from_hours(48));
    }
    eventually("the event is given up", async || {
        world.logged("an event was given up").then_some(())
    })
    .await;
    let deliveries = world.webhooks.deliveries();
    let tries: Vec<_> = deliveries
        .iter()
        .filter(|one| one.id == deliveries[0].id)
        .collect();
    assert_eq!(tries.len(), 10);
    for pair in tries.windows(2) {
        assert!(pair[0].sent_at < pair[1].sent_at);
    }
    world.webhooks.reply_with(Reply::Accept);
    let step = Duration::from_hours(5);
    skip_until(&world, step, "the following events are delivered", || {
        let mut kinds = world.webhooks.event_types(&checkout.order);
        // A delivery under way is timed out by the clock and repeated.
        kinds.dedup();
        kinds == ["order.expired"]
    })
    .await;
    world.end().await;
}
