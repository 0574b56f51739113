//! The service takes back what it said was paid. The order stays paid; the store is told, and decides.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, World, eventually, pays_in_full};

use crate::steps::{times_paid, told};

/// A settled attempt is looked at after ten minutes, then each time when twice as long has gone by.
const FIRST_LOOK: Duration = Duration::from_mins(11);

/// An order that is paid, and the service's id of its invoice.
async fn paid(world: &World, amount: &str) -> (Checkout, String) {
    let checkout = world.shopper().open("ebook").await;
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

async fn says(world: &World, checkout: &Checkout, expected: &Value) {
    let what = format!("the service says {expected} of {}", checkout.order);
    eventually(&what, async || {
        let order = world.store().order(&checkout.order).await;
        (order["reverted"]["says"] == *expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_payment_that_its_chain_took_back_is_told_once_and_stays_credited() {
    let world = World::start().await;
    world.expect_error("the service takes back a payment that was credited");
    let (checkout, _) = paid(&world, "exact").await;
    assert_eq!(checkout.view().await["reverted"], false);
    world.sandbox().reorg(9).await;
    world.skip(FIRST_LOOK);
    says(&world, &checkout, &json!("seen")).await;
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
        "what was credited stays on record"
    );
    let heard = told(&world, &checkout.order).await;
    assert_eq!(heard[heard.len() - 2..], ["order.paid", "order.reverted"]);
    let event = world.webhooks.accepted(&checkout.order).pop().unwrap();
    assert_eq!(event.body["data"]["order"]["reverted"]["says"], "seen");
    checkout.get("/quotes").await.refused(409, "order_closed");
    checkout.get("/receipt").await.refused(409, "not_paid");

    // The same at the next look is no news; that the payment is back ends it without an event.
    world.skip(2 * FIRST_LOOK);
    world.sandbox().mine(9).await;
    world.skip(4 * FIRST_LOOK);
    says(&world, &checkout, &Value::Null).await;
    assert_eq!(checkout.view().await["reverted"], false);
    checkout.get("/receipt").await.with(200);
    assert_eq!(told(&world, &checkout.order).await, heard);
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn whatever_contradicts_a_credit_is_told_by_its_word() {
    let world = World::start().await;
    world.expect_error("the service takes back a payment that was credited");
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
        says(&world, &checkout, &json!(word)).await;
        let told = told(&world, &checkout.order).await;
        assert_eq!(told.last().unwrap(), "order.reverted", "{word}");
        assert_eq!(checkout.view().await["reverted"], true, "{word}");
        assert_eq!(times_paid(&world, &checkout.order).await, 1);
    }
    world.end().await;
}

#[tokio::test]
async fn a_payment_that_was_replaced_by_another_is_told() {
    let world = World::start().await;
    world.expect_error("the service takes back a payment that was credited");
    let (checkout, invoice) = paid(&world, "exact").await;
    world.sandbox().replace_payment(&invoice).await;
    world.skip(FIRST_LOOK);
    says(&world, &checkout, &json!("waiting")).await;
    let told = told(&world, &checkout.order).await;
    assert_eq!(told.last().unwrap(), "order.reverted");
    assert_eq!(checkout.view().await["status"], "paid");
    world.end().await;
}

#[tokio::test]
async fn a_callback_that_says_failed_brings_the_look_forward() {
    let world = World::start().await;
    world.expect_error("the service takes back a payment that was credited");
    let (checkout, _) = paid(&world, "exact").await;
    // Long before the next look of its own.
    world.skip(Duration::from_secs(90));
    world.sandbox().fail(&checkout).await;
    says(&world, &checkout, &json!("failed")).await;
    let told = told(&world, &checkout.order).await;
    assert_eq!(told.last().unwrap(), "order.reverted");
    world.end().await;
}

#[tokio::test]
async fn a_second_payment_that_goes_and_comes_is_told_once() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let first = checkout.choose("BTC").await;
    let address = first["attempt"]["address"].as_str().unwrap();
    let first = world.sandbox().invoice_of(address).await;
    checkout.choose("LTC").await;
    pays_in_full(&world, &checkout).await;
    let late = async || {
        let kinds = world.webhooks.event_types(&checkout.order).into_iter();
        kinds.filter(|kind| kind == "order.late_payment").count()
    };
    let looks = async || {
        let calls = world.sandbox().calls().await;
        let is_about_it = |call: &&Value| call.to_string().contains(&format!("id={first}"));
        calls.iter().filter(is_about_it).count()
    };
    world.sandbox().pay_invoice(&first, "exact").await;
    world.sandbox().mine(3).await;
    eventually("the second payment is told", async || {
        (late().await == 1).then_some(())
    })
    .await;
    for lie in [
        json!({ "transaction_status": "FAILED", "received_crypto_amount": "0" }),
        json!({}),
    ] {
        world.sandbox().override_invoice(&first, &lie).await;
        world.wait_for_deliveries().await;
        let before = looks().await;
        world.skip(2 * FIRST_LOOK);
        eventually("the service is asked about it", async || {
            (looks().await > before).then_some(())
        })
        .await;
    }
    let told = told(&world, &checkout.order).await;
    assert_eq!(late().await, 1, "{told:?}");
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}
