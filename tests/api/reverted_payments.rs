//! Reverted payments: the gateway withdraws a completed payment. The order stays paid, and the store is notified.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, World, eventually, pay_in_full, secrets};

use crate::helpers::{delivered_events, paid_event_count};

/// A settled attempt is polled after ten minutes, then at doubling intervals.
const FIRST_LOOK: Duration = Duration::from_mins(11);

/// Opens and pays an order; returns it with the gateway's id of its invoice.
async fn paid(world: &World, amount: &str) -> (Checkout, String) {
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let invoice = world.sandbox().invoice_of(&checkout.address().await).await;
    world.sandbox().pay(&checkout, amount).await;
    world.sandbox().mine(3).await;
    eventually("the order is paid", async || {
        let status = checkout.view().await["status"].clone();
        ["paid", "overpaid"]
            .contains(&status.as_str()?)
            .then_some(())
    })
    .await;
    world.wait_for_deliveries().await;
    (checkout, invoice)
}

async fn assert_reverted_reason(world: &World, checkout: &Checkout, expected: &Value) {
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
    let (checkout, _) = paid(&world, "exact").await;
    assert_eq!(checkout.view().await["reverted"], false);
    world.sandbox().reorg(9).await;
    world.skip(FIRST_LOOK);
    assert_reverted_reason(&world, &checkout, &json!("seen")).await;
    let view = checkout.view().await;
    assert_eq!(
        (&view["status"], &view["reverted"]),
        (&json!("paid"), &json!(true))
    );
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["status"], "paid");
    assert!(!order["settled_at"].is_null());
    assert_eq!(
        order["attempt"]["received_in_crypto"], order["attempt"]["amount_in_crypto"],
        "the credit is kept"
    );
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[events.len() - 2..], ["order.paid", "order.reverted"]);
    let event = world.webhooks.accepted(&checkout.order).pop().unwrap();
    assert_eq!(
        event.body["data"]["order"]["reverted"]["payment_state"],
        "seen"
    );
    checkout.get("/quotes").await.refused(409, "order_closed");
    checkout.get("/receipt").await.refused(409, "not_paid");

    // The same state at the next poll is no news; the payment's return ends it without an event.
    world.skip(2 * FIRST_LOOK);
    world.sandbox().mine(9).await;
    world.skip(4 * FIRST_LOOK);
    assert_reverted_reason(&world, &checkout, &Value::Null).await;
    assert_eq!(checkout.view().await["reverted"], false);
    checkout.get("/receipt").await.with(200);
    assert_eq!(delivered_events(&world, &checkout.order).await, events);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn every_contradiction_of_a_credit_is_reported() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    for (amount, members, word) in [
        ("exact", json!({ "transaction_status": "FAILED" }), "failed"),
        (
            "exact",
            json!({ "transaction_status": "CANCELLED" }),
            "cancelled",
        ),
        (
            "exact",
            json!({ "transaction_status": "PROCESSING" }),
            "confirming",
        ),
        (
            "exact",
            json!({ "received_crypto_amount": "0.00000001" }),
            "short",
        ),
        (
            "exact",
            json!({ "received_amount_in_usd": "1.00" }),
            "short",
        ),
        (
            "double",
            json!({ "received_crypto_amount": "0.0004" }),
            "settled",
        ),
    ] {
        let (checkout, invoice) = paid(&world, amount).await;
        world.sandbox().override_invoice(&invoice, &members).await;
        world.skip(FIRST_LOOK);
        assert_reverted_reason(&world, &checkout, &json!(word)).await;
        let delivered_events = delivered_events(&world, &checkout.order).await;
        assert_eq!(delivered_events.last().unwrap(), "order.reverted", "{word}");
        assert_eq!(checkout.view().await["reverted"], true, "{word}");
        assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    }
    world.end().await;
}

#[tokio::test]
async fn a_replaced_payment_is_reported() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let (checkout, invoice) = paid(&world, "exact").await;
    world.sandbox().replace_payment(&invoice).await;
    world.skip(FIRST_LOOK);
    assert_reverted_reason(&world, &checkout, &json!("waiting")).await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered_events.last().unwrap(), "order.reverted");
    assert_eq!(checkout.view().await["status"], "paid");
    world.end().await;
}

#[tokio::test]
async fn a_failed_callback_brings_the_poll_forward() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let (checkout, invoice) = paid(&world, "exact").await;
    world.skip(FIRST_LOOK);
    let next_poll = async || {
        let operator = world.operator(secrets::OPERATOR_TOKEN);
        let shown = operator
            .get(&format!("/api/orders/{}", checkout.order))
            .await;
        let time = shown.body["attempts"][0]["invoice"]["next_poll_at"].as_str()?;
        time.parse::<jiff::Timestamp>().ok()
    };
    eventually("the credit is verified", async || {
        (next_poll().await? > world.clock.now() + FIRST_LOOK / 2).then_some(())
    })
    .await;
    // Long before the next scheduled poll, and more than a minute after the latest one: a callback counts again. The invoice is
    // named by its id: reading the order would bring the poll forward as well.
    world.skip(FIRST_LOOK / 4);
    world.sandbox().fail_invoice(&invoice).await;
    assert_reverted_reason(&world, &checkout, &json!("failed")).await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered_events.last().unwrap(), "order.reverted");
    world.end().await;
}

#[tokio::test]
async fn a_second_payment_that_disappears_and_returns_is_reported_once() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let first = world.sandbox().invoice_of(address).await;
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    let late = async || {
        let kinds = world.webhooks.event_types(&checkout.order).into_iter();
        kinds.filter(|kind| kind == "order.late_payment").count()
    };
    let poll_count = async || {
        let calls = world.sandbox().calls().await;
        let is_about_it = |call: &&Value| call.to_string().contains(&format!("id={first}"));
        calls.iter().filter(is_about_it).count()
    };
    world.sandbox().pay_invoice(&first, "exact").await;
    world.sandbox().mine(3).await;
    eventually("the second payment is reported", async || {
        (late().await == 1).then_some(())
    })
    .await;
    for overrides in [
        json!({ "transaction_status": "FAILED", "received_crypto_amount": "0" }),
        json!({}),
    ] {
        world.sandbox().override_invoice(&first, &overrides).await;
        world.wait_for_deliveries().await;
        let before = poll_count().await;
        world.skip(2 * FIRST_LOOK);
        eventually("the invoice is polled", async || {
            (poll_count().await > before).then_some(())
        })
        .await;
    }
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(late().await, 1, "{delivered_events:?}");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}
