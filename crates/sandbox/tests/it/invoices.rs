//! Prices by GET /prices, and invoices from POST /invoice to their final status, as GET /invoice reports it.

use florin_money::Currency;
use florin_sandbox::Settings;
use serde_json::{Value, json};

use crate::world::World;

/// Status, on-chain status, confirmations.
async fn state(world: &World, id: &str) -> [String; 3] {
    let record = world.merchant().record(id).await;
    [
        "transaction_status",
        "blockchain_transaction_status",
        "blockchain_confirmations",
    ]
    .map(|member| record[member].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_invoice_echoes_its_amounts_and_names_what_a_customer_needs() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let address = invoice["deposit_address"].as_str().unwrap();
    let token = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";
    assert_eq!(
        invoice,
        json!({
            "invoice_id": invoice["invoice_id"],
            "invoice_expired_in": "15",
            "deposit_crypto": "USDTTRC20",
            "deposit_address": address,
            "qr_string": format!("tron:{address}?token={token}&amount=20.00"),
            "invoice_amount_in_crypto": "20.00",
            "invoice_amount_in_usd": "20.00",
            "local_currency_amount": "20.00",
            "local_currency_code": "USD",
            "warning_messages": [
                "Send only Tether (USDT) on the Tron network to this address. Other assets, or USDT on another \
                 network, will be lost.",
                "Your payment is complete after 3 confirmations on the Tron network.",
                "Make sure that the network fee is sufficient: a Tron transaction with a low fee may not be confirmed.",
                "The price in USDT is held for 15 minutes. It may expire if your payment arrives later.",
            ],
        })
    );
}

#[tokio::test]
async fn the_record_of_an_untouched_invoice_is_complete() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    let expected = json!({
        "invoice_id": id,
        "transaction_status": "CHECKING",
        "invoice_amount_in_local_currency": "20.00",
        "invoice_amount_in_usd": "20.00",
        "invoice_crypto_amount": "20.00",
        "received_amount_in_local_currency": "0",
        "received_amount_in_usd": "0",
        "received_crypto_amount": "0",
        "local_currency_code": "USD",
        "transaction_crypto": "USDTTRC20",
        "invoice_creation_time": "1700000000",
        "depositor_email_id": "",
        "blockchain_transaction_status": "",
        "transaction_hash": "",
        "blockchain_confirmations": "",
        "wallet_address": invoice["deposit_address"],
        "transaction_time": "",
    });
    assert_eq!(world.merchant().record(id).await, expected);
}

#[tokio::test]
async fn a_payment_is_seen_confirmed_completed_and_listed_in_the_history() {
    let world = World::start().await;
    let id = world.open().await;
    world.clock.advance(60);
    let paid = world.pay(&id, "exact").await;
    assert_eq!(state(&world, &id).await, ["CHECKING", "PENDING", ""]);
    for expected in [
        ["PROCESSING", "PENDING", "1/3"],
        ["PROCESSING", "PENDING", "2/3"],
        ["COMPLETED", "CONFIRMED", "3/3"],
    ] {
        world.mine(1).await;
        assert_eq!(state(&world, &id).await, expected);
    }
    let path = format!("/invoice?id={id}&hist=true");
    let record = world.merchant().get(&path).ok().await["data"].take();
    assert_eq!(record["transaction_hash"], paid["transaction_hash"]);
    assert_eq!(record["transaction_time"], "1700000060");
    assert_eq!(record["received_amount_in_usd"], "20.00");
    let step = |status, time| json!({"transaction_status": status, "time": time});
    let expected = json!([
        step("CHECKING", "1700000000"),
        step("PROCESSING", "1700000060"),
        step("COMPLETED", "1700000060"),
    ]);
    assert_eq!(record["history"], expected);
    let expected = json!([{
        "transaction_hash": paid["transaction_hash"],
        "received_crypto_amount": "20.00",
        "blockchain_confirmations": "3/3",
        "transaction_time": "1700000060",
    }]);
    assert_eq!(record["transactions"], expected);
}

#[tokio::test]
async fn confirming_notes_the_email_and_changes_no_status() {
    let world = World::start().await;
    let id = world.open().await;
    let confirm = json!({"marked_as_paid": true, "invoice_id": id, "email_address": "a@b.example"});
    let response = world.merchant().post("/confirm", &confirm).ok().await;
    assert_eq!(
        response,
        json!({"message": "OK", "merchant_website_redirect_url": "http://127.0.0.1:8081/thanks"})
    );
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [&record["transaction_status"], &record["depositor_email_id"]],
        ["CHECKING", "a@b.example"]
    );
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
    let prices: Value = world.merchant().prices().await;
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
