//! QR codes and wallet links, which the proxy writes for the amount due, whatever the gateway wrote; and the transaction that a
//! wallet names.

use serde_json::{Value, json};
use support::World;

/// A transaction that a customer's wallet names: kept with the order, shown until the gateway has seen a payment, and no proof of
/// one.
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

    let short = json!({ "transaction_hash": &HASH[..65] });
    let refused = checkout
        .post("/paid", &short)
        .await
        .refused(400, "invalid_request");
    refused.naming("transaction_hash");
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

/// `crates/address/src/payment_uri/tests/pays.rs` has the link of each asset, for any amount.
#[tokio::test]
async fn the_link_asks_for_the_amount_due() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let asks = |view: &Value, member: &str| {
        let attempt = &view["attempt"];
        let text = |member: &str| attempt[member].as_str().unwrap().to_owned();
        let amount = text(member);
        let coins = amount.trim_end_matches('0');
        let link = format!("bitcoin:{}?amount={coins}", text("address"));
        assert_eq!(text("qr_string"), link, "{attempt}");
    };
    let view = checkout.view().await;
    asks(&view, "amount_in_crypto");
    let warnings = view["attempt"]["warnings"].as_array().unwrap().iter();
    let kinds: Vec<_> = warnings.map(|warning| &warning["kind"]).collect();
    let expected = [
        "only_this_asset",
        "confirmations",
        "network_fee",
        "late_price",
    ];
    assert_eq!(kinds, expected);
    world.sandbox().settle(&checkout, "half").await;
    asks(&checkout.wait_for("underpaid").await, "remaining_in_crypto");
    world.sandbox().settle(&checkout, "rest").await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["qr_string"], view["attempt"]["address"]);
    world.end().await;
}
