//! Exact, partial, excess, repeated and reverted payments, from the customer's page to the store's backend.

use std::time::Duration;

use florin_money::{Amount, Rounding};
use serde_json::{Value, json};
use support::{Checkout, World, WorldConfig, eventually, pause, pay_in_full, secrets};

use crate::helpers::{
    count_of, delivered_events, invoice_of, next_order, paid_event_count, wait_for_event,
};

const PAST_THE_END: Duration = Duration::from_mins(16);
/// A settled attempt is polled after ten minutes, then at doubling intervals.
const FIRST_LOOK: Duration = Duration::from_mins(11);

fn amount(view: &Value, member: &str) -> Amount {
    Amount::parse(view["attempt"][member].as_str().unwrap()).unwrap()
}

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
    let record = world.store().order(&checkout.order).await;
    assert_eq!(record["status"], "paid");
    assert!(record["settled_at"].is_string(), "{record}");
    let attempt = &record["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    world.end().await;
}

#[tokio::test]
async fn half_is_underpaid_and_the_rest_completes_it() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let whole = checkout.choose("BTC").await;
    assert_eq!(whole["attempt"]["remaining_in_local_currency"], Value::Null);
    world.sandbox().settle(&checkout, "half").await;
    let view = checkout.wait_for("underpaid").await;
    let received = amount(&view, "received_in_crypto");
    let remaining = amount(&view, "remaining_in_crypto");
    let asked = amount(&view, "amount_in_crypto");
    assert_eq!(asked.checked_sub(received).unwrap(), remaining);
    assert!(!remaining.is_zero());
    assert!(!amount(&view, "remaining_in_local_currency").is_zero());
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    assert!(world.shop_orders().await[0]["paid_by"].is_null());

    world.sandbox().settle(&checkout, "rest").await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_local_currency"], Value::Null);
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events.last().unwrap(), "order.paid");
    assert_eq!(count_of(&events, "order.underpaid"), 1);
    assert_eq!(count_of(&events, "order.paid"), 1);
    world.end().await;
}

#[tokio::test]
async fn an_underpayment_within_the_tolerance_is_paid() {
    let world = World::start_with(WorldConfig {
        tolerance: "0.10".into(),
        ..WorldConfig::default()
    })
    .await;
    for (share, status) in [("0.996", "paid"), ("0.994", "underpaid")] {
        let checkout = world.customer().open("ebook").await;
        let whole = amount(&checkout.choose("LTC").await, "amount_in_crypto");
        let share = Amount::parse(share).unwrap();
        let paid = whole.mul_div(share, Amount::ONE, 8, Rounding::Down);
        let paid = paid.unwrap().to_string();
        world.sandbox().settle(&checkout, &paid).await;
        checkout.wait_for(status).await;
    }
    world.end().await;
}

#[tokio::test]
async fn an_overpayment_is_paid_and_the_excess_is_reported() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("USDTERC20").await;
    world.sandbox().settle(&checkout, "double").await;
    let view = checkout.wait_for("overpaid").await;
    for unit in ["crypto", "local_currency"] {
        let excess = amount(&view, &format!("excess_in_{unit}"));
        assert_eq!(excess, amount(&view, &format!("amount_in_{unit}")));
    }
    assert!(view["paid_at"].is_string(), "{view}");
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[events.len() - 2..], ["order.paid", "order.overpaid"]);
    world.wait_until_paid_in_shop(&checkout.order).await;
    world.end().await;
}

#[tokio::test]
async fn an_expired_order_is_paid_by_a_new_quote() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    let view = checkout.wait_for("expired").await;
    assert_eq!(view["can_open_attempt"], true);
    let second = checkout.choose("BTC").await;
    assert_ne!(first["attempt"]["address"], second["attempt"]["address"]);
    pay_in_full(&world, &checkout).await;
    assert_eq!(
        delivered_events(&world, &checkout.order).await,
        [
            "order.created",
            "order.attempt_opened",
            "order.expired",
            "order.attempt_opened",
            "order.paid"
        ]
    );
    world.end().await;
}

/// The gateway gives up an invoice with a payment that no block takes, and one without a payment.
#[tokio::test]
async fn after_a_failed_attempt_another_is_paid() {
    let world = World::start().await;
    for (has_payment, reason) in [(true, "not_completed"), (false, "nothing_received")] {
        let checkout = world.customer().open("ebook").await;
        checkout.choose("BTC").await;
        if has_payment {
            world.sandbox().pay(&checkout, "exact").await;
            world.sandbox().fail(&checkout).await;
        } else {
            world.sandbox().expire(&checkout).await;
        }
        let view = checkout.wait_for("failed").await;
        assert_eq!(view["failure_reason"], reason);
        let view = checkout.choose("ETH").await;
        assert_eq!(view["failure_reason"], Value::Null);
        pay_in_full(&world, &checkout).await;
        let events = delivered_events(&world, &checkout.order).await;
        assert_eq!(count_of(&events, "order.failed"), 1, "{events:?}");
        assert_eq!(count_of(&events, "order.paid"), 1, "{events:?}");
    }
    world.end().await;
}

/// A customer who pays twice still has the page open.
#[tokio::test]
async fn two_paid_attempts_give_one_credit_and_an_open_page_shows_the_second() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = invoice_of(&world, &checkout.choose("BTC").await).await;
    let second = invoice_of(&world, &checkout.choose("LTC").await).await;
    let (mut stream, mut buffer) = (checkout.stream().await, String::new());
    world.sandbox().settle_invoice(&first, "exact").await;
    let mut view = next_order(&mut stream, &mut buffer).await;
    while view["status"] != "paid" {
        view = next_order(&mut stream, &mut buffer).await;
    }
    assert_eq!(view["late_payment"], Value::Null);
    world.sandbox().settle_invoice(&second, "exact").await;
    while view["late_payment"] != "second" {
        view = next_order(&mut stream, &mut buffer).await;
        assert_eq!(view["status"], "paid");
    }
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(count_of(&events, "order.paid"), 1, "{events:?}");
    // The first counts as late because another asset was shown, the second because the order was paid.
    assert_eq!(count_of(&events, "order.late_payment"), 2, "{events:?}");
    checkout.get("/quotes").await.refused(409, "order_closed");
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
        eventually("POST /confirm is sent", async || {
            (world.sandbox().count("POST", "/confirm").await > sent).then_some(())
        })
        .await;
        // Time for a second one, which must not be sent.
        pause(Duration::from_millis(500)).await;
        let count = world.sandbox().count("POST", "/confirm").await;
        assert_eq!(count, sent + 1, "{path}");
    }
    world.end().await;
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
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    assert_eq!(checkout.view().await["reverted"], false);
    world.wait_for_deliveries().await;
    world.sandbox().reorg(9).await;
    world.skip(FIRST_LOOK);
    assert_reverted_reason(&world, &checkout, &json!("detected")).await;
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
    let event = world.webhooks.accepted(&checkout.order).pop().unwrap().body;
    let reverted = &event["data"]["order"]["reverted"];
    assert_eq!(reverted["payment_state"], "detected");
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
    assert_eq!(count_of(&events, "order.paid"), 1);
    world.end().await;
}

#[tokio::test]
async fn a_failed_callback_brings_the_poll_of_a_paid_order_forward() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    world.skip(FIRST_LOOK);
    let next_poll = async || {
        let operator = world.operator(secrets::OPERATOR_TOKEN);
        let path = format!("/api/orders/{}", checkout.order);
        let shown = operator.get(&path).await;
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
    wait_for_event(&world, &checkout.order, "order.reverted").await;
    assert_reverted_reason(&world, &checkout, &json!("failed")).await;
    world.end().await;
}
