//! Prices and records as the interface writes them, and the same ones from the same seed.

use florin_money::Currency;
use florin_sandbox::Settings;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_payment_is_seen_confirmed_completed_and_listed_in_the_history() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    world.clock.advance(60);
    let paid = world.pay(id, "exact").await;
    for (blocks, status, on_chain, confirmations) in [
        (0, "CHECKING", "PENDING", ""),
        (1, "PROCESSING", "PENDING", "1/3"),
        (2, "COMPLETED", "CONFIRMED", "3/3"),
    ] {
        world.mine(blocks).await;
        let record = world.merchant().record(id).await;
        assert_eq!(record["transaction_status"], status);
        assert_eq!(record["blockchain_transaction_status"], on_chain);
        assert_eq!(record["blockchain_confirmations"], confirmations);
    }
    let path = format!("/invoice?id={id}&hist=true");
    let step = |status, time| json!({"transaction_status": status, "time": time});
    let expected = json!({
        "invoice_id": id,
        "transaction_status": "COMPLETED",
        "invoice_amount_in_local_currency": "20.00",
        "invoice_amount_in_usd": "20.00",
        "invoice_crypto_amount": "20.00",
        "received_amount_in_local_currency": "20.00",
        "received_amount_in_usd": "20.00",
        "received_crypto_amount": "20.00",
        "local_currency_code": "USD",
        "transaction_crypto": "USDTTRC20",
        "invoice_creation_time": "1700000000",
        "depositor_email_id": "",
        "blockchain_transaction_status": "CONFIRMED",
        "transaction_hash": paid["transaction_hash"],
        "blockchain_confirmations": "3/3",
        "wallet_address": invoice["deposit_address"],
        "transaction_time": "1700000060",
        "history": [
            step("CHECKING", "1700000000"),
            step("PROCESSING", "1700000060"),
            step("COMPLETED", "1700000060"),
        ],
        "transactions": [{
            "transaction_hash": paid["transaction_hash"],
            "received_crypto_amount": "20.00",
            "blockchain_confirmations": "3/3",
            "transaction_time": "1700000060",
        }],
    });
    let record = world.merchant().get(&path).ok().await["data"].take();
    assert_eq!(record, expected);
}

#[tokio::test]
async fn the_same_seed_and_requests_give_the_same_invoices() {
    let (one, other) = (World::start().await, World::start().await);
    other.merchant().prices().await;
    for world in [&one, &other] {
        world.merchant().invoice().await;
        world.merchant().invoice().await;
    }
    let invoices = one.get("invoices").await;
    assert_eq!(invoices, other.get("invoices").await);
    assert_ne!(invoices[0]["address"], invoices[1]["address"]);
}

#[tokio::test]
async fn prices_name_the_local_currency_the_limits_and_an_unknown_asset() {
    let world = World::start_with(Settings {
        local_currency: Currency::parse("EUR").unwrap(),
        local_per_usd: "0.92".parse().unwrap(),
        unknown_asset: true,
        ..Settings::default()
    })
    .await;
    let prices = world.merchant().prices().await;
    assert_eq!(
        prices["USDTTRC20"]["rates"],
        json!({
            "amount_in_local_currency": "0.92",
            "amount_in_crypto": "1",
            "amount_in_usd": "1.00",
            "local_currency_code": "EUR",
        })
    );
    // A limit that does not exist is an empty string.
    assert_eq!(prices["BNB"]["limits"], json!({"min": "", "max": "8"}));
    assert_eq!(prices["TRX"]["limits"], json!({"min": "5", "max": ""}));
    assert!(prices["USDTSOL"]["conversion_id"].is_string());
}
