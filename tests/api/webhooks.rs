//! The store's endpoint is away, broken or confused: every event arrives all the same, in order.

use std::time::Duration;

use support::{Checkout, Reply, World, eventually, pause, pays_in_full};

use crate::steps::types;

async fn paid_order(world: &World) -> Checkout {
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    pays_in_full(world, &checkout).await;
    checkout
}

/// Lets hours pass, a few minutes at a time, until everything is told.
async fn is_told_in_the_end(world: &World, checkout: &Checkout) {
    let happened = world.store().events_of(&checkout.order).await;
    eventually("every event is told", async || {
        world.skip(Duration::from_mins(20));
        pause(Duration::from_millis(100)).await;
        let mut told = world.webhooks.event_types(&checkout.order);
        told.dedup();
        (told == types(&happened)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_is_down_hears_everything_later_and_in_order() {
    let mut world = World::start().await;
    world.store_link.cut().await;
    let checkout = paid_order(&world).await;
    assert!(world.webhooks.deliveries().is_empty());
    world.store_link.restore().await;
    is_told_in_the_end(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn no_event_overtakes_one_that_was_not_taken() {
    for reply in [Reply::Status(500), Reply::Status(404), Reply::Redirect] {
        let world = World::start().await;
        world.webhooks.reply_with(reply);
        let checkout = paid_order(&world).await;
        pause(Duration::from_millis(300)).await;
        let heard = world.webhooks.deliveries();
        assert!(!heard.is_empty());
        for delivery in &heard {
            assert_eq!((delivery.sequence, delivery.taken), (1, false), "{reply:?}");
        }
        world.webhooks.reply_with(Reply::Accept);
        is_told_in_the_end(&world, &checkout).await;
        world.end().await;
    }
}

#[tokio::test]
async fn an_event_that_is_told_again_is_the_same_event() {
    let world = World::start().await;
    world.webhooks.reply_with(Reply::Status(503));
    let checkout = world.shopper().open("ebook").await;
    let twice = eventually("a second try", async || {
        world.skip(Duration::from_secs(3));
        Some(world.webhooks.deliveries()).filter(|heard| heard.len() >= 2)
    })
    .await;
    assert_eq!(twice[0].id, twice[1].id);
    assert_eq!(twice[0].body, twice[1].body);
    assert!(twice[0].sent_at < twice[1].sent_at);
    world.webhooks.reply_with(Reply::Accept);
    is_told_in_the_end(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn after_ten_tries_a_person_is_called_and_the_store_can_still_read() {
    let world = World::start().await;
    world.expect_error("an event was given up");
    world.webhooks.reply_with(Reply::Status(500));
    let checkout = world.shopper().open("ebook").await;
    eventually("the event is given up", async || {
        world.skip(Duration::from_hours(5));
        pause(Duration::from_millis(50)).await;
        world.logged("an event was given up").then_some(())
    })
    .await;
    let heard = world.webhooks.deliveries();
    let tries: Vec<_> = heard.iter().filter(|one| one.id == heard[0].id).collect();
    assert_eq!(tries.len(), 10);
    for pair in tries.windows(2) {
        assert!(pair[0].sent_at < pair[1].sent_at);
    }
    let events = world.store().events_of(&checkout.order).await;
    assert_eq!(types(&events)[0], "order.created");
    world.webhooks.reply_with(Reply::Accept);
    eventually("what followed is told", async || {
        world.skip(Duration::from_hours(5));
        pause(Duration::from_millis(50)).await;
        let kinds = world.webhooks.event_types(&checkout.order);
        (kinds == ["order.expired"]).then_some(())
    })
    .await;
    world.end().await;
}
