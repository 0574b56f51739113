//! Restarts of the proxy: nothing is lost, and nothing happens twice.

use std::time::Duration;

use serde_json::json;
use support::{World, WorldConfig, eventually, pay_in_full};

use crate::steps::{paid_event_count, sequences};

async fn restart(world: &mut World) {
    world.stop_proxy().await;
    world.start_proxy().await;
}

#[tokio::test]
async fn an_order_survives_a_restart_at_every_step() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.shopper().open("ebook").await;
    restart(&mut world).await;
    let shown = checkout.choose("BTC").await;
    restart(&mut world).await;
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["address"], shown["attempt"]["address"]);
    assert_eq!(checkout.report_paid().await["status"], "checking");
    restart(&mut world).await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    // The last blocks are mined while the proxy is stopped.
    world.stop_proxy().await;
    world.sandbox().mine(2).await;
    world.start_proxy().await;
    checkout.wait_for("paid").await;
    restart(&mut world).await;
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let events = world.store().events_of(&checkout.order).await;
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    let paid = world.webhooks.accepted(&checkout.order);
    assert_eq!(
        paid.iter()
            .filter(|delivery| delivery.kind == "order.paid")
            .count(),
        1
    );
    world.end().await;
}

#[tokio::test]
async fn events_not_delivered_before_a_restart_are_delivered_after_it() {
    let mut world = World::start().await;
    world.store_link.cut().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    world.stop_proxy().await;
    world.store_link.restore().await;
    world.skip(Duration::from_hours(1));
    world.start_proxy().await;
    let delivery = eventually("order.paid is delivered", async || {
        Some(world.webhooks.event_types(&checkout.order)).filter(|kinds| kinds.len() >= 3)
    })
    .await;
    assert_eq!(
        delivery,
        ["order.created", "order.attempt_opened", "order.paid"]
    );
    world.end().await;
}

#[tokio::test]
async fn an_attempt_interrupted_by_a_restart_does_not_block_the_order() {
    let mut world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    let slow = json!({ "endpoint": "create_invoice", "kind": "slow", "delay_ms": 1500 });
    world.sandbox().inject_fault(slow).await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
    let (url, token) = (world.proxy_url(), checkout.token().to_owned());
    let http = world.http().clone();
    let asking = tokio::spawn(async move {
        let request = http.post(format!("{url}/v1/checkout/attempt"));
        request.bearer_auth(token).json(&choice).send().await
    });
    eventually("an invoice is requested", async || {
        (world.sandbox().count("POST", "/invoice").await == 1).then_some(())
    })
    .await;
    world.stop_proxy().await;
    let _ = asking.await;
    world.start_proxy().await;
    world.skip(Duration::from_secs(30));
    eventually("an attempt can be opened", async || {
        let answer = checkout.request_attempt("BTC").await;
        (answer.status == 200).then_some(())
    })
    .await;
    pay_in_full(&world, &checkout).await;
    world.end().await;
}
