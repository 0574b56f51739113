//! What arrives is not always what was asked for, nor when.

use std::time::Duration;

use florin_money::Amount;
use serde_json::Value;
use support::{World, WorldConfig, eventually, pays_in_full};

use crate::steps::{times_paid, told};

const PAST_THE_END: Duration = Duration::from_mins(16);

fn amount(view: &Value, member: &str) -> Amount {
    Amount::parse(view["attempt"][member].as_str().unwrap()).unwrap()
}

/// Price and rest are what their amounts of the asset cost at the rate, which is rounded up by less than a cent.
#[track_caller]
fn costs_what_the_rate_says(view: &Value) {
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
async fn half_is_not_enough_and_the_rest_completes_it() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let whole = checkout.choose("BTC").await;
    assert_eq!(whole["attempt"]["remaining_in_local_currency"], Value::Null);
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    costs_what_the_rate_says(&view);
    let (asked, received) = (
        amount(&view, "amount_in_crypto"),
        amount(&view, "received_in_crypto"),
    );
    assert_eq!(
        asked.checked_sub(received).unwrap(),
        amount(&view, "remaining_in_crypto")
    );
    assert!(!amount(&view, "remaining_in_crypto").is_zero());
    assert_eq!(times_paid(&world, &checkout.order).await, 0);
    assert!(world.shop_orders().await[0]["paid_by"].is_null());

    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_local_currency"], Value::Null);
    let told = told(&world, &checkout.order).await;
    assert_eq!(told.last().unwrap(), "order.paid");
    assert!(told.contains(&"order.underpaid".to_owned()));
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn one_smallest_unit_short_is_not_paid() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let view = checkout.choose("LTC").await;
    let one = Amount::parse("0.00000001").unwrap();
    let short = amount(&view, "amount_in_crypto").checked_sub(one).unwrap();
    world.sandbox().pay(&checkout, &short.to_string()).await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(amount(&view, "remaining_in_crypto"), one);
    assert_eq!(times_paid(&world, &checkout.order).await, 0);
    world.end().await;
}

#[tokio::test]
async fn a_store_may_forgive_what_it_said_it_would() {
    let world = World::start_with(WorldConfig {
        tolerance: "0.10".into(),
        ..WorldConfig::default()
    })
    .await;
    for (share, status) in [("0.996", "paid"), ("0.994", "underpaid")] {
        let checkout = world.shopper().open("ebook").await;
        let view = checkout.choose("LTC").await;
        let share = Amount::parse(share).unwrap();
        let sent = amount(&view, "amount_in_crypto");
        let sent = sent
            .mul_div(share, Amount::ONE, 8, florin_money::Rounding::Down)
            .unwrap();
        world.sandbox().pay(&checkout, &sent.to_string()).await;
        world.sandbox().mine(3).await;
        checkout.wait_for(status).await;
    }
    world.end().await;
}

#[tokio::test]
async fn too_much_is_paid_and_the_excess_is_told() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
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
    let told = told(&world, &checkout.order).await;
    assert_eq!(told[told.len() - 2..], ["order.paid", "order.overpaid"]);
    world.wait_until_paid_in_shop(&checkout.order).await;
    world.end().await;
}

#[tokio::test]
async fn an_order_whose_time_ran_out_is_paid_by_a_new_quote() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let first = checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    let view = checkout.wait_for("expired").await;
    assert_eq!(view["can_open_attempt"], true);
    let second = checkout.choose("BTC").await;
    assert_ne!(first["attempt"]["address"], second["attempt"]["address"]);
    pays_in_full(&world, &checkout).await;
    let told = told(&world, &checkout.order).await;
    assert_eq!(
        told,
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
async fn money_that_arrives_after_the_end_is_found_and_credited() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    checkout.wait_for("expired").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let told = told(&world, &checkout.order).await;
    assert_eq!(
        told[2..],
        ["order.expired", "order.late_payment", "order.paid"]
    );
    world.end().await;
}

#[tokio::test]
async fn nobody_needs_to_watch_for_late_money_to_be_found() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(3 * 24));
    eventually("the order's end is told", async || {
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
    world.skip(Duration::from_secs(3700));
    eventually("the order is told as paid", async || {
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
async fn the_first_address_still_counts_after_another_asset_was_chosen() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    let told = told(&world, &checkout.order).await;
    assert_eq!(told[3..], ["order.late_payment", "order.paid"]);
    world.end().await;
}

#[tokio::test]
async fn two_paid_attempts_are_one_credit_and_both_are_told() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let first = checkout.choose("BTC").await;
    checkout.choose("LTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    // The first counts as late because another asset was shown, the second because the order was paid.
    eventually("both payments are told", async || {
        let kinds = world.webhooks.event_types(&checkout.order).into_iter();
        let late = kinds.filter(|kind| kind == "order.late_payment");
        (late.count() == 2).then_some(())
    })
    .await;
    let told = told(&world, &checkout.order).await;
    let count = |kind: &str| told.iter().filter(|one| *one == kind).count();
    assert_eq!(
        (count("order.paid"), count("order.late_payment")),
        (1, 2),
        "{told:?}"
    );
    checkout.get("/quotes").await.refused(409, "order_closed");
    world.end().await;
}

#[tokio::test]
async fn a_payment_that_is_stuck_fails_and_another_can_be_made() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().fail(&checkout).await;
    let view = checkout.wait_for("failed").await;
    assert_eq!(view["failure_reason"], "not_completed");
    let view = checkout.choose("ETH").await;
    assert_eq!(view["failure_reason"], Value::Null);
    pays_in_full(&world, &checkout).await;
    let told = told(&world, &checkout.order).await;
    assert!(told.contains(&"order.failed".to_owned()), "{told:?}");
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

/// The service's clock ends the invoice before the proxy's does.
#[tokio::test]
async fn an_invoice_that_the_service_ends_unpaid_is_not_called_a_payment_that_failed() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().expire(&checkout).await;
    let view = checkout.wait_for("failed").await;
    assert_eq!(view["failure_reason"], "nothing_received");
    assert_ne!(view["attempt"]["expires_in_seconds"], 0);
    checkout.choose("ETH").await;
    pays_in_full(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn while_a_payment_confirms_no_second_one_is_asked_for() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
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
async fn an_order_that_nobody_tried_to_pay_ends_after_its_day() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(25));
    let view = checkout.wait_for("expired").await;
    assert_eq!(view["can_open_attempt"], false);
    let told = told(&world, &checkout.order).await;
    assert_eq!(told, ["order.created", "order.expired"]);
    world.end().await;
}
