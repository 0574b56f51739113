//! Payments from the customer's page to the store's backend: exact, partial, late, second and reverted ones. How an observation
//! is assessed and what follows from it is in `crates/orders` and in the contract of `crates/storage`.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, ETAG};
use serde_json::{Value, json};
use support::{Checkout, World, eventually, pause, pay_in_full};

use crate::helpers::{count_of, delivered_events, invoice_of, next_or_end, next_order};
use crate::operators_pages::assert_time_line;

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);
/// An invoice lives for 15 minutes.
const PAST_THE_END: Duration = Duration::from_mins(16);
/// A settled attempt is polled after ten minutes, then at doubling intervals.
const FIRST_LOOK: Duration = Duration::from_mins(11);

#[tokio::test]
async fn a_product_is_paid_and_the_shop_accepts_the_signed_webhook() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let early = checkout.post("/paid", &json!({})).await;
    early.refused(409, "nothing_to_pay");
    let view = checkout.choose("BTC").await;
    let price = (&view["amount"], &view["currency"]);
    assert_eq!(price, (&json!("19.90"), &json!("USD")));
    assert_eq!(checkout.report_paid().await["status"], "checking");

    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    let view = checkout.wait_for("processing").await;
    let confirmations = json!({ "count": 1, "required": 3 });
    assert_eq!(view["attempt"]["confirmations"], confirmations);
    assert_eq!(view["can_open_attempt"], false);
    checkout.get("/quotes").await.refused(409, "order_closed");

    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_crypto"], "0.00000000");
    world.wait_until_paid_in_shop(&checkout.order).await;
    let mut events = delivered_events(&world, &checkout.order).await;
    // A poll between the payment and its first block is not guaranteed.
    events.retain(|kind| kind != "order.payment_seen");
    assert_eq!(
        events,
        [
            "order.created",
            "order.attempt_opened",
            "order.processing",
            "order.paid"
        ]
    );
    let cancel = format!("/v1/orders/{}/cancel", checkout.order);
    let refused = world.store().post(&cancel, &json!({})).await;
    refused.refused(409, "order_closed");
    let record = world.store().order(&checkout.order).await;
    assert_eq!(record["status"], "paid");
    assert!(record["settled_at"].is_string(), "{record}");
    let attempt = &record["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    let entries = [
        "Credited</strong> <span>19.9",
        "/3 confirmations",
        "Payment seen",
        "Address shown",
        "Order opened",
    ];
    assert_time_line(&world, &checkout.order, &entries).await;
    world.end().await;
}

/// The gateway gives up an invoice with a payment that no block takes, or one without a payment, or its time is over.
#[tokio::test]
async fn after_an_attempt_has_ended_another_is_paid() {
    let world = World::start().await;
    for (ending, status, reason) in [
        ("stuck", "failed", json!("not_completed")),
        ("unpaid", "failed", json!("nothing_received")),
        ("over", "expired", Value::Null),
    ] {
        let checkout = world.customer().open("ebook").await;
        let first = checkout.choose("BTC").await;
        match ending {
            "stuck" => {
                world.sandbox().pay(&checkout, "exact").await;
                world.sandbox().fail(&checkout).await;
            }
            "unpaid" => world.sandbox().expire(&checkout).await,
            _ => {
                world.wait_for_deliveries().await;
                world.skip(PAST_THE_END);
            }
        }
        let view = checkout.wait_for(status).await;
        assert_eq!(view["failure_reason"], reason, "{ending}");
        assert_eq!(view["can_open_attempt"], true, "{ending}");
        let second = checkout.choose("BTC").await;
        assert_eq!(second["failure_reason"], Value::Null, "{ending}");
        assert_ne!(second["attempt"]["address"], first["attempt"]["address"]);
        pay_in_full(&world, &checkout).await;
        let events = delivered_events(&world, &checkout.order).await;
        for kind in [&format!("order.{status}"), "order.paid"] {
            assert_eq!(count_of(&events, kind), 1, "{events:?}");
        }
    }
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

/// Each press of a button and each repetition would be a call to the gateway.
#[tokio::test]
async fn simultaneous_requests_of_a_page_send_one_confirmation() {
    let world = World::start().await;
    let email = json!({ "email": "buyer@shop.example" });
    let requests = [("/paid", json!({}), false), ("/email", email, true)];
    for (sent, (path, body, is_paid)) in requests.into_iter().enumerate() {
        let checkout = world.customer().open("ebook").await;
        checkout.choose("BTC").await;
        if is_paid {
            pay_in_full(&world, &checkout).await;
        }
        let requests = (0..20).map(|_| checkout.post(path, &body));
        for response in futures_util::future::join_all(requests).await {
            response.with(200);
        }
        let confirmations = async || world.sandbox().count("POST", "/confirm").await;
        eventually("POST /confirm is sent", async || {
            (confirmations().await > sent).then_some(())
        })
        .await;
        // Time for a second one, which must not be sent.
        pause(Duration::from_millis(500)).await;
        assert_eq!(confirmations().await, sent + 1, "{path}");
    }
    world.end().await;
}

async fn wait_for_reverted(world: &World, checkout: &Checkout, expected: &Value) {
    let what = format!("reverted is {expected} for {}", checkout.order);
    eventually(&what, async || {
        let order = world.store().order(&checkout.order).await;
        (order["reverted"]["payment_state"] == *expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_payment_lost_in_a_reorganisation_is_reported_once_and_stays_credited() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    assert_eq!(checkout.view().await["reverted"], false);
    world.wait_for_deliveries().await;
    world.sandbox().reorg(9).await;
    world.skip(FIRST_LOOK);
    wait_for_reverted(&world, &checkout, &json!("detected")).await;
    let view = checkout.view().await;
    let shown = (&view["status"], &view["reverted"]);
    assert_eq!(shown, (&json!("paid"), &json!(true)));
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["status"], "paid");
    assert!(!order["settled_at"].is_null());
    let attempt = &order["attempt"];
    let received = &attempt["received_in_crypto"];
    assert_eq!(received, &attempt["amount_in_crypto"], "the credit is kept");
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[events.len() - 2..], ["order.paid", "order.reverted"]);
    checkout.get("/quotes").await.refused(409, "order_closed");
    checkout.get("/receipt").await.refused(409, "not_paid");

    // The same state at the next poll is no news; the payment's return ends it without an event.
    world.skip(2 * FIRST_LOOK);
    world.sandbox().mine(9).await;
    world.skip(4 * FIRST_LOOK);
    wait_for_reverted(&world, &checkout, &Value::Null).await;
    assert_eq!(checkout.view().await["reverted"], false);
    checkout.get("/receipt").await.with(200);
    assert_eq!(delivered_events(&world, &checkout.order).await, events);
    world.end().await;
}
