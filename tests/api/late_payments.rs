//! Late payments are found, assessed, reported and shown.

use std::time::Duration;

use florin_money::Amount;
use reqwest::header::{CONTENT_TYPE, ETAG};
use serde_json::{Value, json};
use support::{World, eventually, pay_in_full};

use crate::helpers::{
    count_of, delivered_events, invoice_of, next_or_end, next_order, paid_event_count,
    wait_for_event,
};

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

#[tokio::test]
async fn an_open_page_shows_a_payment_three_weeks_later() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    world.wait_for_deliveries().await;
    world.skip(21 * DAY);
    checkout.wait_for("expired").await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    assert_eq!(stream.headers()[CONTENT_TYPE], "text/event-stream");
    let mut view = next_order(&mut stream, &mut buffer).await;
    assert_eq!(view["status"], "expired");
    world.sandbox().settle_invoice(&invoice, "exact").await;
    while view["status"] != "paid" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    let attempt = &view["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[2..4], ["order.expired", "order.late_payment"]);
    assert_eq!(events.last().unwrap(), "order.paid");
    // The link is valid for a month after the order's end.
    world.skip(11 * DAY);
    checkout.get("").await.refused(404, "not_found");
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
    world.sandbox().settle(&checkout, "half").await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(view["can_open_attempt"], false, "no second is requested");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    world.sandbox().settle(&checkout, "rest").await;
    checkout.wait_for("paid").await;
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[2..4], ["order.expired", "order.late_payment"]);
    assert_eq!(count_of(&events, "order.late_payment"), 1, "{events:?}");
    assert_eq!(count_of(&events, "order.underpaid"), 1, "{events:?}");
    assert_eq!(events.last().unwrap(), "order.paid");
    world.end().await;
}

#[tokio::test]
async fn a_payment_of_a_cancelled_order_is_credited_and_a_paid_order_is_not_cancelled() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let cancel = format!("/v1/orders/{}/cancel", checkout.order);
    let cancelled = world.store().post(&cancel, &json!({})).await.with(200);
    assert_eq!(cancelled.text_at("/status"), "cancelled");
    assert_eq!(checkout.view().await["status"], "cancelled");
    checkout.get("/quotes").await.refused(409, "order_closed");
    // The invoice's address can still be paid after the cancellation.
    pay_in_full(&world, &checkout).await;
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[2..4], ["order.cancelled", "order.late_payment"]);
    assert_eq!(events.last().unwrap(), "order.paid");
    let paid = world.customer().open("ebook").await;
    paid.choose("BTC").await;
    pay_in_full(&world, &paid).await;
    let cancel = format!("/v1/orders/{}/cancel", paid.order);
    let refused = world.store().post(&cancel, &json!({})).await;
    refused.refused(409, "order_closed");
    paid.wait_for("paid").await;
    world.end().await;
}

#[tokio::test]
async fn an_underpayment_of_the_first_address_is_shown_and_completed_there() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let invoice = invoice_of(&world, &first).await;
    world.sandbox().settle_invoice(&invoice, "half").await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(view["attempt"]["address"], first["attempt"]["address"]);
    let remaining = view["attempt"]["remaining_in_crypto"].as_str().unwrap();
    assert!(!Amount::parse(remaining).unwrap().is_zero());
    checkout.get("/quotes").await.refused(409, "order_closed");
    world.sandbox().settle_invoice(&invoice, "rest").await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

/// The gateway reports a stuck payment as failed and completes it weeks later, without a callback.
#[tokio::test]
async fn a_failed_payment_that_completes_weeks_later_is_credited() {
    let world = World::start_without_callbacks().await;
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
        wait_for_event(&world, &checkout.order, "order.paid").await;
        let events = delivered_events(&world, &checkout.order).await;
        assert_eq!(events.last().unwrap(), "order.paid", "{events:?}");
        assert_eq!(count_of(&events, "order.paid"), 1);
    }
    world.end().await;
}

/// A customer pays twice to the address that paid the order.
#[tokio::test]
async fn a_second_payment_to_the_paid_address_is_noticed_within_a_minute() {
    let world = World::start_without_callbacks().await;
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
    wait_for_event(&world, &checkout.order, "order.late_payment").await;
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(count_of(&events, "order.reverted"), 0, "{events:?}");
    assert_eq!(count_of(&events, "order.paid"), 1, "{events:?}");
    world.end().await;
}

#[tokio::test]
async fn an_open_page_of_an_order_paid_long_ago_gets_a_second_payment_within_a_minute() {
    let world = World::start_without_callbacks().await;
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
    world.sandbox().settle_invoice(&earlier, "exact").await;
    world.skip(Duration::from_secs(50));
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["late_payment"] != "second" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    wait_for_event(&world, &checkout.order, "order.late_payment").await;
    world.end().await;
}
