//! The transaction that a customer's wallet names: kept with the order, shown until the gateway has seen a payment, and no
//! proof of one.

use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;
use support::World;

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
    assert_eq!(view["attempt"]["marked_as_paid"], true);
    assert_eq!(view["attempt"]["transaction_hint"], HASH.to_lowercase());
    assert_eq!(view["attempt"]["transaction_hash"], Value::Null);
    assert_eq!(view["attempt"]["received_in_crypto"], "0");
    assert_eq!(
        checkout.view().await["attempt"]["transaction_hint"],
        HASH.to_lowercase()
    );

    // Half of it: the transaction for the rest is another one, and the hint has served.
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    let rest = &view["attempt"]["evm_transaction"]["data"];
    assert!(rest.is_string() && rest != data);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("paid").await;
    // Nothing is left to pay.
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_text_that_is_no_hash_is_refused_and_kept_nowhere() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("BTC").await;
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    for text in [
        "",
        "0x",
        "0xab",
        &HASH[..65],
        "<script>",
        &format!("{HASH}0"),
    ] {
        let refused = checkout
            .post("/paid", &json!({ "transaction_hash": text }))
            .await;
        assert_eq!(
            refused.with(400).body["error"]["field"],
            "transaction_hash",
            "{text}"
        );
    }
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_hint_is_kept_as_its_chain_writes_it() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let ether = checkout.choose("ETH").await["attempt"]["address"].clone();
    let view = checkout.choose("USDTTRC20").await;
    let transaction = &view["attempt"]["tron_transaction"];
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    assert_eq!(transaction["chain_id"], "0xcd8690dc");
    assert_eq!(transaction["to"], "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf");
    assert_eq!(transaction["value"], "0x0");
    let [prefixed, bare] = [HASH, &HASH[2..]];
    // For the attempt before, by its address.
    let before = json!({ "transaction_hash": bare, "address": ether });
    let view = checkout.post("/paid", &before).await.with(200).body;
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    let current = json!({ "transaction_hash": prefixed });
    let view = checkout.post("/paid", &current).await.with(200).body;
    assert_eq!(view["status"], "checking");
    assert_eq!(view["attempt"]["transaction_hint"], bare.to_lowercase());
    let options = SqliteConnectOptions::new().filename(world.database());
    let mut database = options.connect().await.unwrap();
    let hints = sqlx::query_scalar("SELECT transaction_hint FROM attempts");
    let hints: Vec<Option<String>> = hints.fetch_all(&mut database).await.unwrap();
    assert!(hints.contains(&Some(prefixed.to_lowercase())), "{hints:?}");
    world.end().await;
}

#[tokio::test]
async fn a_transaction_for_the_attempt_before_does_not_mark_the_current_one() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let ether = checkout.choose("ETH").await["attempt"]["address"].clone();
    let bitcoin = checkout.choose("BTC").await["attempt"]["address"].clone();
    let paid = json!({ "transaction_hash": HASH, "address": ether });
    let view = checkout.post("/paid", &paid).await.with(200).body;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(view["attempt"]["address"], bitcoin);
    assert_eq!(view["attempt"]["marked_as_paid"], false);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);

    let foreign = json!({ "transaction_hash": HASH, "address": "9".repeat(30) });
    let refused = checkout.post("/paid", &foreign).await.with(409).body;
    assert_eq!(refused["error"]["code"], "nothing_to_pay");
    let wrong = json!({ "transaction_hash": HASH, "address": "a b" });
    let refused = checkout.post("/paid", &wrong).await.with(400).body;
    assert_eq!(refused["error"]["field"], "address");

    let own = json!({ "transaction_hash": HASH, "address": bitcoin });
    let view = checkout.post("/paid", &own).await.with(200).body;
    assert_eq!(view["status"], "checking");
    world.end().await;
}
