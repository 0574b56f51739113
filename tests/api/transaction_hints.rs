//! The transaction that a customer's wallet names: kept with the order, shown until the gateway has seen a payment, and no
//! proof of one.

use serde_json::{Value, json};
use support::World;

use crate::idempotency::database;

const HASH: &str = "0xA1B2c3d4e5f60718293a4b5c6d7e8f90A1B2c3d4e5f60718293a4b5c6d7e8f90";

#[tokio::test]
async fn a_hint_moves_the_page_and_credits_nothing() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("USDTERC20").await;
    let transaction = &view["attempt"]["evm_transaction"];
    assert_eq!(transaction["chain_id"], "0xaa36a7");
    assert_eq!(transaction["value"], "0x0");
    let receiver = view["attempt"]["address"].as_str().unwrap()[2..].to_lowercase();
    let data = transaction["data"].as_str().unwrap();
    assert_eq!(data[34..74], receiver);

    let paid = json!({ "transaction_hash": HASH });
    let view = checkout.post("/paid", &paid).await.with(200).body;
    assert_eq!(view["status"], "checking");
    let attempt = &view["attempt"];
    assert_eq!(attempt["marked_as_paid"], true);
    assert_eq!(attempt["transaction_hint"], HASH.to_lowercase());
    assert_eq!(attempt["transaction_hash"], Value::Null);
    assert_eq!(attempt["received_in_crypto"], "0");

    // Half of it: the transaction for the rest is another one, and the hint has served.
    world.sandbox().settle(&checkout, "half").await;
    let view = checkout.wait_for("underpaid").await;
    let rest = &view["attempt"]["evm_transaction"]["data"];
    assert!(rest.is_string() && rest != data);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    world.sandbox().settle(&checkout, "rest").await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_hint_is_of_the_attempt_whose_address_it_names() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let send = async |hash: &str, address: &str| {
        let mut paid = json!({ "transaction_hash": hash });
        if !address.is_empty() {
            paid["address"] = json!(address);
        }
        checkout.post("/paid", &paid).await
    };
    checkout.choose("ETH").await;
    let before = checkout.address().await;
    let view = checkout.choose("USDTTRC20").await;
    let transaction = &view["attempt"]["tron_transaction"];
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    assert_eq!(transaction["chain_id"], "0xcd8690dc");
    assert_eq!(transaction["to"], "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf");
    assert_eq!(transaction["value"], "0x0");
    let too_long = format!("{HASH}0");
    for text in ["", "0x", "0xab", &HASH[..65], "<script>", &too_long] {
        let refused = send(text, "").await;
        refused
            .refused(400, "invalid_request")
            .naming("transaction_hash");
    }
    let refused = send(HASH, "a b").await;
    refused.refused(400, "invalid_request").naming("address");
    let foreign = send(HASH, &"9".repeat(30)).await;
    foreign.refused(409, "nothing_to_pay");
    let view = send(&HASH[2..], &before).await.with(200).body;
    assert_eq!(view["status"], "awaiting_payment");
    assert_ne!(view["attempt"]["address"], json!(before));
    assert_eq!(view["attempt"]["marked_as_paid"], false);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    // Kept as its chain writes it: with a prefix on Ethereum, without one on Tron.
    let hints = sqlx::query_scalar("SELECT transaction_hint FROM attempts");
    let hints: Vec<Option<String>> = hints.fetch_all(&mut database(&world).await).await.unwrap();
    assert!(hints.contains(&Some(HASH.to_lowercase())), "{hints:?}");
    let view = send(HASH, "").await.with(200).body;
    assert_eq!(view["status"], "checking");
    let bare = HASH[2..].to_lowercase();
    assert_eq!(view["attempt"]["transaction_hint"], bare);
    world.end().await;
}
