//! Exact, partial, excess and repeated payments.

use std::time::Duration;

use florin_money::Amount;
use serde_json::Value;
use support::{World, WorldConfig, eventually, pay_in_full};

use crate::helpers::{delivered_events, paid_event_count};

const PAST_THE_END: Duration = Duration::from_mins(16);

fn amount(view: &Value, member: &str) -> Amount {
    Amount::parse(view["attempt"][member].as_str().unwrap()).unwrap()
}

/// Checks that price and remaining amount match the rate, rounded up by less than a cent.
#[track_caller]
fn assert_amount_matches_rate(view: &Value) {
    let cent = Amount::parse("0.01").unwrap();
    let rate = amount(view, "rate_in_local_currency");
    for (crypto, local) in [
        ("amount_in_crypto", "amount_in_local_currency"),
        ("received_in_crypto", "received_in_local_currency"),
        ("remaining_in_crypto", "remaining_in_local_currency"),
    ] {
        let (crypto, local) = (amount(view, crypto), amount(view, local));
        let cost = crypto
            .mul_div(rate, Amount::ONE, 2, florin_money::Rounding::Up)
            .unwrap();
        assert!(!local.is_zero());
        assert!(
            cost == local || cost == local.checked_add(cent).unwrap(),
            "{view}"
        );
    }
}

#[tokio::test]
async fn half_is_underpaid_and_the_rest_completes_it() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let whole = checkout.choose("BTC").await;
    assert_eq!(whole["attempt"]["remaining_in_local_currency"], Value::Null);
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_amount_matches_rate(&view);
    let (asked, received) = (
        amount(&view, "amount_in_crypto"),
        amount(&view, "received_in_crypto"),
    );
    assert_eq!(
        asked.checked_sub(received).unwrap(),
        amount(&view, "remaining_in_crypto")
    );
    assert!(!amount(&view, "remaining_in_crypto").is_zero());
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    assert!(world.shop_orders().await[0]["paid_by"].is_null());

    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_local_currency"], Value::Null);
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    assert!(delivered_events.contains(&"order.underpaid".to_owned()));
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn one_smallest_unit_short_is_not_paid() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("LTC").await;
    let one = Amount::parse("0.00000001").unwrap();
    let short = amount(&view, "amount_in_crypto").checked_sub(one).unwrap();
    world.sandbox().pay(&checkout, &short.to_string()).await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(amount(&view, "remaining_in_crypto"), one);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
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
        let view = checkout.choose("LTC").await;
        let share = Amount::parse(share).unwrap();
        let paid = amount(&view, "amount_in_crypto");
        let paid = paid
            .mul_div(share, Amount::ONE, 8, florin_money::Rounding::Down)
            .unwrap();
        world.sandbox().pay(&checkout, &paid.to_string()).await;
        world.sandbox().mine(3).await;
        checkout.wait_for(status).await;
    }
    world.end().await;
}

#[tokio::test]
async fn an_overpayment_is_paid_and_the_excess_is_reported() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("USDTERC20").await;
    world.sandbox().pay(&checkout, "double").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("overpaid").await;
    assert_eq!(
        amount(&view, "excess_in_crypto"),
        amount(&view, "amount_in_crypto")
    );
    assert_eq!(
        amount(&view, "excess_in_local_currency"),
        amount(&view, "amount_in_local_currency")
    );
    assert!(view["paid_at"].is_string(), "{view}");
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[delivered_events.len() - 2..],
        ["order.paid", "order.overpaid"]
    );
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
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events,
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

#[tokio::test]
async fn a_payment_after_expiry_is_found_and_credited() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    checkout.wait_for("expired").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[2..],
        ["order.expired", "order.late_payment", "order.paid"]
    );
    world.end().await;
}

#[tokio::test]
async fn a_late_payment_is_found_without_a_subscription() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(3 * 24));
    eventually("the order's end is reported", async || {
        world
            .webhooks
            .event_types(&checkout.order)
            .contains(&"order.expired".into())
            .then_some(())
    })
    .await;
    let invoice = world.sandbox().invoice_of(&address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    world.wait_for_deliveries().await;
    // A quarter of the time since the end.
    world.skip(Duration::from_hours(19));
    eventually("order.paid is delivered", async || {
        world
            .webhooks
            .event_types(&checkout.order)
            .contains(&"order.paid".into())
            .then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn a_payment_to_the_first_address_counts_after_another_asset_is_chosen() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered_events[3..], ["order.late_payment", "order.paid"]);
    world.end().await;
}

#[tokio::test]
async fn two_paid_attempts_give_one_credit_and_both_are_reported() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    // The first counts as late because another asset was shown, the second because the order was paid.
    eventually("both payments are reported", async || {
        let kinds = world.webhooks.event_types(&checkout.order).into_iter();
        let late = kinds.filter(|kind| kind == "order.late_payment");
        (late.count() == 2).then_some(())
    })
    .await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    let count = |kind: &str| delivered_events.iter().filter(|one| *one == kind).count();
    assert_eq!(
        (count("order.paid"), count("order.late_payment")),
        (1, 2),
        "{delivered_events:?}"
    );
    checkout.get("/quotes").await.refused(409, "order_closed");
    world.end().await;
}

#[tokio::test]
async fn a_stuck_payment_fails_and_another_attempt_can_be_opened() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().fail(&checkout).await;
    let view = checkout.wait_for("failed").await;
    assert_eq!(view["failure_reason"], "not_completed");
    let view = checkout.choose("ETH").await;
    assert_eq!(view["failure_reason"], Value::Null);
    pay_in_full(&world, &checkout).await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert!(
        delivered_events.contains(&"order.failed".to_owned()),
        "{delivered_events:?}"
    );
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

/// The gateway expires the invoice before the proxy does.
#[tokio::test]
async fn an_unpaid_invoice_that_the_gateway_fails_is_expired_and_not_failed() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().expire(&checkout).await;
    let view = checkout.wait_for("failed").await;
    assert_eq!(view["failure_reason"], "nothing_received");
    assert_ne!(view["attempt"]["expires_in_seconds"], 0);
    checkout.choose("ETH").await;
    pay_in_full(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn no_second_attempt_opens_while_a_payment_confirms() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    let view = checkout.wait_for("processing").await;
    assert_eq!(view["can_open_attempt"], false);
    checkout.get("/quotes").await.refused(409, "order_closed");
    world.sandbox().mine(2).await;
    checkout.wait_for("paid").await;
    world.end().await;
}

#[tokio::test]
async fn an_order_without_an_attempt_expires_after_a_day() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(25));
    let view = checkout.wait_for("expired").await;
    assert_eq!(view["can_open_attempt"], false);
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(delivered_events, ["order.created", "order.expired"]);
    world.end().await;
}

#[tokio::test]
async fn simultaneous_reports_of_a_payment_send_one_confirmation() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let nothing = serde_json::json!({});
    let reports = (0..20).map(|_| checkout.post("/paid", &nothing));
    for response in futures_util::future::join_all(reports).await {
        assert_eq!(response.with(200).body["status"], "checking");
    }
    eventually("POST /confirm is sent", async || {
        (world.sandbox().count("POST", "/confirm").await > 0).then_some(())
    })
    .await;
    support::pause(Duration::from_millis(500)).await;
    assert_eq!(world.sandbox().count("POST", "/confirm").await, 1);
    world.end().await;
}

#[tokio::test]
async fn simultaneous_addresses_for_the_receipt_send_one_confirmation() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    let email = serde_json::json!({ "email": "buyer@shop.example" });
    let sent = (0..20).map(|_| checkout.post("/email", &email));
    for response in futures_util::future::join_all(sent).await {
        response.with(200);
    }
    eventually("POST /confirm is sent", async || {
        (world.sandbox().count("POST", "/confirm").await > 0).then_some(())
    })
    .await;
    support::pause(Duration::from_millis(500)).await;
    assert_eq!(world.sandbox().count("POST", "/confirm").await, 1);
    world.end().await;
}
