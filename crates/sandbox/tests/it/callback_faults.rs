//! Callbacks that are lost, doubled, late, out of order, early, false, or caused by nothing.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::callbacks::{Received, next, open, world_with_receiver};
use crate::world::World;

async fn spoil(world: &World, kind: &str) {
    let fault = json!({"endpoint": "callback", "kind": kind});
    world.control("faults", &fault.to_string()).await;
}

async fn fail(world: &World, id: &str) {
    world.control(&format!("invoices/{id}/fail"), "").await;
}

fn failed(id: &str) -> Value {
    json!({"invoice_id": id, "status": "FAILED"})
}

async fn nothing_more(received: &mut Received) {
    let more = timeout(Duration::from_millis(200), received.recv()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn a_lost_callback_never_comes_and_the_next_one_does() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let (lost, told) = (open(&world).await, open(&world).await);
    spoil(&world, "lost").await;
    fail(&world, &lost).await;
    fail(&world, &told).await;
    assert_eq!(next(&mut received).await, failed(&told));
    nothing_more(&mut received).await;
    let journal = world.get("journal").await;
    let spoiled = journal
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["kind"] == "callback_spoiled");
    let spoiled = spoiled.unwrap();
    assert_eq!(
        (&spoiled["invoice_id"], &spoiled["fault"]),
        (&json!(lost), &json!("lost"))
    );
}

#[tokio::test]
async fn a_doubled_callback_comes_twice() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let id = open(&world).await;
    spoil(&world, "duplicated").await;
    fail(&world, &id).await;
    assert_eq!(
        [next(&mut received).await, next(&mut received).await],
        [failed(&id), failed(&id)]
    );
    nothing_more(&mut received).await;
}

#[tokio::test]
async fn a_held_callback_comes_after_the_next_one() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let (held, first) = (open(&world).await, open(&world).await);
    spoil(&world, "reordered").await;
    fail(&world, &held).await;
    nothing_more(&mut received).await;
    fail(&world, &first).await;
    let told = [next(&mut received).await, next(&mut received).await];
    assert_eq!(told, [failed(&first), failed(&held)]);
    let journal = world.get("journal").await;
    let callbacks = journal.as_array().unwrap().iter().filter_map(|entry| {
        let kind = entry["kind"].as_str().unwrap();
        let kind = kind.strip_prefix("callback_")?;
        (kind != "spoiled").then(|| (kind, entry["invoice_id"].as_str().unwrap()))
    });
    let callbacks: Vec<(&str, &str)> = callbacks.take(3).collect();
    let expected = [
        ("sent", first.as_str()),
        ("answered", &first),
        ("sent", &held),
    ];
    assert_eq!(callbacks, expected);
}

#[tokio::test]
async fn a_delayed_callback_waits() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let id = open(&world).await;
    let fault = r#"{"endpoint":"callback","kind":"delayed","delay_ms":7000}"#;
    world.control("faults", fault).await;
    fail(&world, &id).await;
    assert_eq!(next(&mut received).await, failed(&id));
    assert_eq!(world.clock.slept(), [Duration::from_secs(7)]);
}

#[tokio::test]
async fn a_lying_callback_says_the_opposite() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let id = open(&world).await;
    spoil(&world, "lying").await;
    fail(&world, &id).await;
    assert_eq!(
        next(&mut received).await,
        json!({"invoice_id": id, "status": "COMPLETED"})
    );
}

#[tokio::test]
async fn an_early_callback_comes_before_any_block() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let id = open(&world).await;
    spoil(&world, "early").await;
    let pay = format!("invoices/{id}/pay");
    world.control(&pay, r#"{"amount":"exact"}"#).await;
    let completed = json!({"invoice_id": id, "status": "COMPLETED"});
    assert_eq!(next(&mut received).await, completed);
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "CHECKING"
    );
    world.control("mine", r#"{"blocks":3}"#).await;
    assert_eq!(next(&mut received).await, completed);
}

#[tokio::test]
async fn a_forged_callback_names_any_invoice() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let forged = r#"{"invoice_id":"inv_0","status":"COMPLETED","times":2}"#;
    world.control("callbacks", forged).await;
    for _ in 0..2 {
        assert_eq!(
            next(&mut received).await,
            json!({"invoice_id": "inv_0", "status": "COMPLETED"})
        );
    }
    let flood = r#"{"invoice_id":"inv_0","status":"COMPLETED","times":101}"#;
    assert_eq!(world.post("callbacks", flood).await.0, 400);
}

#[tokio::test]
async fn a_hosted_checkout_is_told_to_its_own_url() {
    let (account, mut told_account) = world_with_receiver(200, "").await;
    let (own, mut told_own) = world_with_receiver(200, "").await;
    let request = json!({
        "client_email_id": "customer@shop.example",
        "client_preferred_fiat_currency": "USD",
        "merchant_website": "https://shop.example",
        "invoice_callback_url": own.callback_url,
    });
    let opened = account.merchant().post("/checkout", &request).ok().await;
    let id = opened["session_id"].as_str().unwrap();
    account.clock.advance(15 * 60);
    assert_eq!(next(&mut told_own).await, failed(id));
    nothing_more(&mut told_account).await;
}
