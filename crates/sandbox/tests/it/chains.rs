//! What can happen to a payment on its chain.

use serde_json::{Value, json};

use crate::callbacks::open;
use crate::world::World;

async fn pay(world: &World, id: &str, body: &Value) -> Value {
    world
        .control(&format!("invoices/{id}/pay"), &body.to_string())
        .await
}

async fn status(world: &World, id: &str) -> String {
    let record = world.merchant().record(id).await;
    record["transaction_status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_low_fee_is_pending_until_time_is_up_and_late_once_it_is_raised() {
    let world = World::start().await;
    let id = open(&world).await;
    let paid = pay(&world, &id, &json!({"amount": "exact", "fee": "low"})).await;
    assert_eq!(paid["stuck_payments"], 1);
    world.control("mine", r#"{"blocks":9}"#).await;
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["blockchain_transaction_status"]
        ],
        ["CHECKING", "PENDING"]
    );
    world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(status(&world, &id).await, "FAILED");
    world.control(&format!("invoices/{id}/unstick"), "").await;
    world.control("mine", r#"{"blocks":3}"#).await;
    assert_eq!(status(&world, &id).await, "COMPLETED");
    let (refused, _) = world.post(&format!("invoices/{id}/unstick"), "").await;
    assert_eq!(refused, 409);
}

#[tokio::test]
async fn a_low_fee_is_in_no_block() {
    let world = World::start().await;
    let id = open(&world).await;
    let body = r#"{"amount":"exact","fee":"low","confirmations":1}"#;
    let (refused, _) = world.post(&format!("invoices/{id}/pay"), body).await;
    assert_eq!(refused, 400);
}

#[tokio::test]
async fn a_reorg_takes_back_what_was_completed() {
    let world = World::start().await;
    let id = open(&world).await;
    pay(&world, &id, &json!({"amount": "exact", "confirmations": 3})).await;
    assert_eq!(status(&world, &id).await, "COMPLETED");
    world
        .control("reorg", r#"{"blocks":1,"chain":"bitcoin"}"#)
        .await;
    assert_eq!(status(&world, &id).await, "COMPLETED");
    world
        .control("reorg", r#"{"blocks":1,"chain":"tron"}"#)
        .await;
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["blockchain_confirmations"]
        ],
        ["PROCESSING", "2/3"]
    );
    world.control("reorg", r#"{"blocks":9}"#).await;
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["blockchain_confirmations"]
        ],
        ["CHECKING", ""]
    );
}

#[tokio::test]
async fn a_replaced_payment_takes_its_money_back() {
    let world = World::start().await;
    let id = open(&world).await;
    pay(&world, &id, &json!({"amount": "exact", "confirmations": 3})).await;
    let replaced = world.control(&format!("invoices/{id}/replace"), "").await;
    assert_eq!(
        (&replaced["payments"], &replaced["covered"]),
        (&json!(0), &json!("nothing"))
    );
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["received_crypto_amount"],
            &record["transaction_hash"]
        ],
        ["CHECKING", "0", ""]
    );
    let (refused, _) = world.post(&format!("invoices/{id}/replace"), "").await;
    assert_eq!(refused, 409);
}

#[tokio::test]
async fn a_payment_in_another_asset_is_never_seen() {
    let world = World::start().await;
    let id = open(&world).await;
    let paid = pay(
        &world,
        &id,
        &json!({"amount": "exact", "crypto_code": "USDTERC20"}),
    )
    .await;
    assert_eq!(
        (&paid["payments"], &paid["unseen_payments"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        world.merchant().record(&id).await["received_crypto_amount"],
        "0"
    );
    let body = r#"{"amount":"exact","crypto_code":"XMR"}"#;
    let (refused, _) = world.post(&format!("invoices/{id}/pay"), body).await;
    assert_eq!(refused, 400);
}

#[tokio::test]
async fn a_payment_in_parts_is_exact_to_the_last_digit() {
    let world = World::start().await;
    let id = open(&world).await;
    let paid = pay(&world, &id, &json!({"amount": "exact", "parts": 3})).await;
    assert_eq!(
        (&paid["payments"], &paid["covered"]),
        (&json!(3), &json!("exact"))
    );
    let path = format!("/invoice?id={id}&hist=true");
    let answer = world.merchant().get(&path).ok().await;
    let parts = answer["data"]["transactions"].as_array().unwrap();
    let parts: Vec<&Value> = parts
        .iter()
        .map(|part| &part["received_crypto_amount"])
        .collect();
    assert_eq!(parts, ["6.666666", "6.666666", "6.666668"]);
    for parts in [0, 21] {
        let body = json!({"amount": "exact", "parts": parts}).to_string();
        assert_eq!(
            world.post(&format!("invoices/{id}/pay"), &body).await.0,
            400
        );
    }
}

#[tokio::test]
async fn a_late_payment_comes_after_the_end() {
    let world = World::start().await;
    let id = open(&world).await;
    let paid = pay(
        &world,
        &id,
        &json!({"amount": "exact", "late": true, "confirmations": 3}),
    )
    .await;
    assert_eq!(
        (&paid["status"], &paid["expires_in_seconds"]),
        (&json!("COMPLETED"), &json!(0))
    );
}

#[tokio::test]
async fn blocks_are_found_by_themselves_on_the_chain_that_was_told_to() {
    let world = World::start().await;
    let id = open(&world).await;
    pay(&world, &id, &json!({"amount": "exact"})).await;
    world
        .control("auto-mine", r#"{"every_seconds":5,"chain":"bitcoin"}"#)
        .await;
    world.clock.advance(10);
    assert_eq!(status(&world, &id).await, "CHECKING");
    world
        .control("auto-mine", r#"{"every_seconds":5,"chain":"tron"}"#)
        .await;
    world.clock.advance(5);
    assert_eq!(status(&world, &id).await, "PROCESSING");
    world.clock.advance(10);
    assert_eq!(status(&world, &id).await, "COMPLETED");
    let chains = world.get("chains").await;
    let tron = chains
        .as_array()
        .unwrap()
        .iter()
        .find(|chain| chain["chain"] == "tron");
    assert_eq!(
        tron.unwrap(),
        &json!({"chain": "tron", "height": 800_003, "every_seconds": 5})
    );
}

#[tokio::test]
async fn mining_one_chain_confirms_nothing_on_another() {
    let world = World::start().await;
    let id = open(&world).await;
    pay(&world, &id, &json!({"amount": "exact"})).await;
    world
        .control("mine", r#"{"blocks":3,"chain":"litecoin"}"#)
        .await;
    assert_eq!(status(&world, &id).await, "CHECKING");
    let (refused, _) = world.post("mine", r#"{"chain":"monero"}"#).await;
    assert_eq!(refused, 400);
}

#[tokio::test]
async fn the_service_lies_about_any_member_of_a_record_until_it_stops() {
    let world = World::start().await;
    let id = open(&world).await;
    let truth = world.merchant().record(&id).await;
    let lies = r#"{"transaction_status":"REFUNDED","received_crypto_amount":null,"extra":[1]}"#;
    let path = format!("invoices/{id}/record");
    world.control(&path, lies).await;
    let told = world.merchant().record(&id).await;
    assert_eq!(
        (&told["transaction_status"], &told["extra"]),
        (&json!("REFUNDED"), &json!([1]))
    );
    assert_eq!(told.get("received_crypto_amount"), None);
    world.control(&path, "{}").await;
    assert_eq!(world.merchant().record(&id).await, truth);
}
