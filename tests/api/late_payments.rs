//! Late payments are found, assessed, reported and shown.

use std::time::Duration;

use florin_money::Amount;
use reqwest::header::ETAG;
use serde_json::{Value, json};
use support::{Checkout, World, WorldConfig, eventually, pause, pay_in_full};

use crate::helpers::{delivered_events, next_or_end, next_order, paid_event_count};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);
/// An invoice lives for 15 minutes.
const PAST_THE_END: Duration = Duration::from_mins(16);

async fn poll_count(world: &World) -> usize {
    world.sandbox().count("GET", "/invoice").await
}

/// Skips this time and waits for the next poll.
async fn wait_for_poll_after(world: &World, time: Duration) {
    world.wait_for_deliveries().await;
    let before = poll_count(world).await;
    world.skip(time);
    eventually("the invoice is polled", async || {
        (poll_count(world).await > before).then_some(())
    })
    .await;
}

/// Skips this time and checks that there is no poll.
async fn assert_no_poll_for(world: &World, time: Duration) {
    world.wait_for_deliveries().await;
    let before = poll_count(world).await;
    world.skip(time);
    // Time for a poll that must not be sent.
    pause(Duration::from_millis(2200)).await;
    assert_eq!(poll_count(world).await, before, "within {time:?}");
}

async fn invoice_of(world: &World, view: &Value) -> String {
    let address = view["attempt"]["address"].as_str().unwrap();
    world.sandbox().invoice_of(address).await
}

async fn wait_for_event(world: &World, checkout: &Checkout, kind: &str) {
    eventually(kind, async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds
            .iter()
            .any(|delivered_events| delivered_events == kind)
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_expired_invoice_is_polled_less_and_less_often_for_sixty_days() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    wait_for_poll_after(&world, PAST_THE_END).await;
    wait_for_event(&world, &checkout, "order.expired").await;
    // The next poll comes when a quarter of the time since the end has gone by again, at most after a day.
    for (apart, alone, then) in [
        (Duration::ZERO, Duration::from_secs(45), 2 * MINUTE),
        (Duration::from_hours(2), 25 * MINUTE, 10 * MINUTE),
        (Duration::from_hours(30), 7 * 60 * MINUTE, 120 * MINUTE),
        (8 * DAY, 23 * 60 * MINUTE, 120 * MINUTE),
        (40 * DAY, 23 * 60 * MINUTE, 120 * MINUTE),
    ] {
        if !apart.is_zero() {
            wait_for_poll_after(&world, apart).await;
        }
        assert_no_poll_for(&world, alone).await;
        wait_for_poll_after(&world, then).await;
    }
    wait_for_poll_after(&world, 12 * DAY).await;
    assert_no_poll_for(&world, 30 * DAY).await;
    world.end().await;
}

#[tokio::test]
async fn an_open_page_shows_a_payment_three_weeks_later() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    world.wait_for_deliveries().await;
    world.skip(21 * DAY);
    checkout.wait_for("expired").await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    assert_eq!(
        next_order(&mut stream, &mut buffer).await["status"],
        "expired"
    );
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["status"] != "paid" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    assert_eq!(
        view["attempt"]["received_in_crypto"],
        view["attempt"]["amount_in_crypto"]
    );
    assert_eq!(checkout.view().await["status"], "paid");
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[2..4],
        ["order.expired", "order.late_payment"]
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    // The link is valid for a month after the order's end.
    world.skip(11 * DAY);
    let gone = checkout.get("").await.refused(404, "not_found");
    let unknown = world.customer().with_token(&"0".repeat(64), "");
    let unknown = unknown.get("").await.refused(404, "not_found");
    assert_eq!(gone.without_request_id(), unknown.without_request_id());
    world.end().await;
}

/// A customer who pays twice still has the page open.
#[tokio::test]
async fn an_open_page_of_a_paid_order_shows_a_second_payment() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = invoice_of(&world, &checkout.choose("BTC").await).await;
    let second = invoice_of(&world, &checkout.choose("LTC").await).await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    world.sandbox().pay_invoice(&first, "exact").await;
    world.sandbox().mine(3).await;
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["status"] != "paid" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    assert_eq!(view["late_payment"], Value::Null);
    assert_eq!(view["next_poll_seconds"], 60);
    world.sandbox().pay_invoice(&second, "exact").await;
    world.sandbox().mine(3).await;
    while view["late_payment"] != "second" {
        view = next_order(&mut stream, &mut buffer).await;
        assert_eq!(view["status"], "paid");
    }
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

/// Ten thousand open pages of paid orders end their streams and requests.
#[tokio::test]
async fn a_paid_order_is_updated_for_an_hour() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    let view = next_order(&mut stream, &mut buffer).await;
    assert_eq!(view["next_poll_seconds"], 60);
    let tag = checkout.get("").await.with(200).headers[ETAG].clone();
    world.wait_for_deliveries().await;
    world.skip(59 * MINUTE);
    assert_eq!(checkout.view().await["next_poll_seconds"], 60);
    world.skip(MINUTE);
    // The last view announces that it is the last, also for a conditional request.
    let mut last = next_order(&mut stream, &mut buffer).await;
    while last["next_poll_seconds"] == 60 {
        last = next_order(&mut stream, &mut buffer).await;
    }
    assert_eq!(last["next_poll_seconds"], Value::Null);
    assert_eq!(next_or_end(&mut stream, &mut buffer).await, None);
    let after = checkout.get("").await.with(200);
    assert_ne!(after.headers[ETAG], tag);
    assert_eq!(after.body["next_poll_seconds"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_late_underpayment_is_reported_as_both_and_the_rest_completes_it() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("LTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    checkout.wait_for("expired").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(
        view["can_open_attempt"], false,
        "no second attempt is requested"
    );
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    let late = delivered_events
        .iter()
        .filter(|kind| *kind == "order.late_payment");
    assert_eq!(late.count(), 1, "{delivered_events:?}");
    assert_eq!(
        delivered_events[2..4],
        ["order.expired", "order.late_payment"]
    );
    assert!(
        delivered_events.contains(&"order.underpaid".to_owned()),
        "{delivered_events:?}"
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    world.end().await;
}

#[tokio::test]
async fn a_payment_of_a_cancelled_order_is_credited_and_reported() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let cancel = format!("/v1/orders/{}/cancel", checkout.order);
    world.store().post(&cancel, &json!({})).await.with(200);
    // The invoice's address can still be paid after the cancellation.
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[2..4],
        ["order.cancelled", "order.late_payment"]
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    world.end().await;
}

#[tokio::test]
async fn an_underpayment_of_the_first_address_is_shown_and_completed_there() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let invoice = invoice_of(&world, &first).await;
    world.sandbox().pay_invoice(&invoice, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(view["attempt"]["address"], first["attempt"]["address"]);
    let remaining = view["attempt"]["remaining_in_crypto"].as_str().unwrap();
    assert!(!Amount::parse(remaining).unwrap().is_zero());
    checkout.get("/quotes").await.refused(409, "order_closed");
    world.sandbox().pay_invoice(&invoice, "rest").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_invoice_with_a_lost_response_belongs_to_no_order() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let lost = json!({ "endpoint": "create_invoice", "kind": "drop" });
    world.sandbox().inject_fault(lost).await;
    checkout
        .request_attempt("BTC")
        .await
        .refused(503, "gateway_unavailable");
    let lost = world.sandbox().invoices().await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    // Its address was never shown; the gateway reports it all the same.
    world.sandbox().pay_invoice(&lost, "exact").await;
    world.sandbox().mine(3).await;
    // Time for a poll that must not be sent.
    pause(Duration::from_millis(1500)).await;
    assert_eq!(
        poll_count(&world).await,
        0,
        "a callback for an unknown invoice causes no poll"
    );
    assert_eq!(checkout.view().await["status"], "open");
    let second = checkout.choose("BTC").await;
    assert_ne!(invoice_of(&world, &second).await, lost);
    pay_in_full(&world, &checkout).await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

/// The gateway reports a stuck payment as failed and completes it weeks later, without a callback.
#[tokio::test]
async fn a_failed_payment_that_completes_weeks_later_is_credited() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    for days in [11, 50] {
        let checkout = world.customer().open("ebook").await;
        let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
        world.sandbox().pay_stuck(&invoice, "exact").await;
        checkout.wait_for("checking").await;
        world.wait_for_deliveries().await;
        world.skip(PAST_THE_END);
        checkout.wait_for("failed").await;
        // No customer has the order open. The poll of that day still finds nothing.
        wait_for_poll_after(&world, days * DAY).await;
        world.wait_for_deliveries().await;
        world.sandbox().raise_fee(&invoice).await;
        world.sandbox().mine(3).await;
        world.skip(25 * 60 * MINUTE);
        wait_for_event(&world, &checkout, "order.paid").await;
        let events = delivered_events(&world, &checkout.order).await;
        assert_eq!(events.last().unwrap(), "order.paid", "{events:?}");
        assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    }
    world.end().await;
}

/// A customer pays twice to the address that paid the order.
#[tokio::test]
async fn a_second_payment_to_the_paid_address_is_noticed_within_a_minute() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    pay_in_full(&world, &checkout).await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    assert_eq!(next_order(&mut stream, &mut buffer).await["status"], "paid");
    // While it is unconfirmed, the gateway calls the whole invoice unfinished: that reverts nothing.
    world.sandbox().pay_invoice(&invoice, "exact").await;
    wait_for_poll_after(&world, Duration::from_secs(50)).await;
    world.sandbox().mine(3).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(50));
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["late_payment"] != "second" {
        assert_eq!(view["reverted"], false);
        view = next_order(&mut stream, &mut buffer).await;
    }
    wait_for_event(&world, &checkout, "order.late_payment").await;
    let events = delivered_events(&world, &checkout.order).await;
    assert!(!events.contains(&"order.reverted".to_owned()), "{events:?}");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_second_payment_to_another_address_of_a_fresh_order_is_noticed_within_a_minute() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    let earlier = invoice_of(&world, &checkout.choose("LTC").await).await;
    world.wait_for_deliveries().await;
    // The first invoice has ended hours ago: by the schedule it is polled hours later.
    world.skip(Duration::from_hours(12));
    checkout.wait_for("expired").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    world.sandbox().pay_invoice(&earlier, "exact").await;
    world.sandbox().mine(3).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(50));
    wait_for_event(&world, &checkout, "order.late_payment").await;
    assert_eq!(checkout.view().await["late_payment"], "second");
    world.end().await;
}

#[tokio::test]
async fn an_open_page_of_an_order_paid_long_ago_gets_a_second_payment_within_a_minute() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    let earlier = invoice_of(&world, &checkout.choose("LTC").await).await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    world.skip(40 * MINUTE);
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    assert_eq!(next_order(&mut stream, &mut buffer).await["status"], "paid");
    // The stream alone keeps the polls going.
    for _ in 0..2 {
        wait_for_poll_after(&world, Duration::from_secs(50)).await;
    }
    world.sandbox().pay_invoice(&earlier, "exact").await;
    world.sandbox().mine(3).await;
    world.skip(Duration::from_secs(50));
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["late_payment"] != "second" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    wait_for_event(&world, &checkout, "order.late_payment").await;
    world.end().await;
}
