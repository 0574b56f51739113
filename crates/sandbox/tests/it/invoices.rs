//! Prices by GET /prices, and invoices from POST /invoice to their final status, as GET /invoice reports it.

use florin_money::{Asset, Currency};
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
    assert_eq!(
        invoice,
        json!({
            "invoice_id": invoice["invoice_id"],
            "invoice_expired_in": "15",
            "deposit_crypto": "USDTTRC20",
            "deposit_address": address,
            "qr_string": format!("tron:{address}?token=TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf&amount=20.00"),
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
async fn a_payment_is_seen_confirmed_and_completed() {
    let world = World::start().await;
    let id = world.open().await;
    world.clock.advance(60);
    world.pay(&id, "exact").await;
    assert_eq!(state(&world, &id).await, ["CHECKING", "PENDING", ""]);
    for expected in [
        ["PROCESSING", "PENDING", "1/3"],
        ["PROCESSING", "PENDING", "2/3"],
        ["COMPLETED", "CONFIRMED", "3/3"],
    ] {
        world.mine(1).await;
        assert_eq!(state(&world, &id).await, expected);
    }
    let record = world.merchant().record(&id).await;
    assert_eq!(record["transaction_hash"].as_str().unwrap().len(), 64);
    assert_eq!(record["transaction_time"], "1700000060");
    for member in [
        "received_amount_in_local_currency",
        "received_amount_in_usd",
        "received_crypto_amount",
    ] {
        assert_eq!(record[member], "20.00", "{member}");
    }
}

#[tokio::test]
async fn underpaid_and_overpaid_complete_with_what_arrived() {
    let world = World::start().await;
    for (amount, received) in [
        ("half", "10.00"),
        ("double", "40.00"),
        ("19.999999", "19.99"),
    ] {
        let id = world.open().await;
        world.pay_and_mine(&id, amount).await;
        let record = world.merchant().record(&id).await;
        assert_eq!(record["transaction_status"], "COMPLETED");
        assert_eq!(record["received_amount_in_usd"], received);
        assert_eq!(record["invoice_amount_in_usd"], "20.00");
    }
}

#[tokio::test]
async fn the_rest_completes_an_underpaid_invoice_again() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay_and_mine(&id, "5.5").await;
    assert_eq!(state(&world, &id).await, ["COMPLETED", "CONFIRMED", "3/3"]);
    world.pay(&id, "rest").await;
    assert_eq!(state(&world, &id).await, ["PROCESSING", "PENDING", "0/3"]);
    world.mine(3).await;
    assert_eq!(state(&world, &id).await, ["COMPLETED", "CONFIRMED", "3/3"]);
    let record = world.merchant().record(&id).await;
    assert_eq!(record["received_amount_in_usd"], "20.00");
}

#[tokio::test]
async fn an_invoice_fails_at_expiry() {
    let world = World::start().await;
    let id = world.open().await;
    world.clock.advance(15 * 60 - 1);
    assert_eq!(
        record_at(&world, &id, 15 * 60 - 1).await["transaction_status"],
        "CHECKING"
    );
    world.clock.advance(1);
    assert_eq!(
        record_at(&world, &id, 15 * 60).await["transaction_status"],
        "FAILED"
    );
}

async fn record_at(world: &World, id: &str, seconds: i64) -> Value {
    let call = world.merchant().get(&format!("/invoice?id={id}"));
    call.nonce(crate::world::START + seconds).ok().await["data"].take()
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
    assert_eq!(state(&world, &id).await, ["CHECKING", "", ""]);
    let record = world.merchant().record(&id).await;
    assert_eq!(record["depositor_email_id"], "a@b.example");
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
    assert_ne!(invoices[0]["id"], invoices[1]["id"]);
}

#[tokio::test]
async fn a_low_fee_is_pending_until_expiry_and_late_after_it_is_raised() {
    let world = World::start().await;
    let id = world.open().await;
    let pay = format!("invoices/{id}/pay");
    let low_fee = r#"{"amount":"exact","fee":"low"}"#;
    let paid = world.control(&pay, low_fee).await;
    assert_eq!(paid["stuck_payments"], 1);
    world.mine(9).await;
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["blockchain_transaction_status"]
        ],
        ["CHECKING", "PENDING"]
    );
    world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(world.status(&id).await, "FAILED");
    world.act(&id, "bump-fee").await;
    world.mine(3).await;
    assert_eq!(world.status(&id).await, "COMPLETED");
    let (status, _) = world.post(&format!("invoices/{id}/bump-fee"), "").await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn a_reorg_takes_back_a_completed_payment() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay_and_mine(&id, "exact").await;
    assert_eq!(world.status(&id).await, "COMPLETED");
    world
        .control("reorg", r#"{"blocks":1,"chain":"bitcoin"}"#)
        .await;
    assert_eq!(world.status(&id).await, "COMPLETED");
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
async fn a_replaced_payment_does_not_count() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay_and_mine(&id, "exact").await;
    let replaced = world.act(&id, "replace").await;
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
    let (status, _) = world.post(&format!("invoices/{id}/replace"), "").await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn a_block_of_one_chain_confirms_nothing_on_another() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay(&id, "exact").await;
    world
        .control("mine", r#"{"blocks":3,"chain":"litecoin"}"#)
        .await;
    assert_eq!(world.status(&id).await, "CHECKING");
    let (status, _) = world.post("mine", r#"{"chain":"monero"}"#).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn the_nine_assets_of_the_specification_are_offered() {
    let world = World::start().await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices.as_object().unwrap().len(), 9);
    for asset in Asset::ALL {
        let entry = &prices[asset.crypto_code().as_str()];
        for member in [
            "amount_in_local_currency",
            "amount_in_crypto",
            "amount_in_usd",
        ] {
            assert!(
                entry["rates"][member].is_string(),
                "{asset:?} {member}: {entry}"
            );
        }
        assert_eq!(entry["rates"]["local_currency_code"], "USD");
        assert!(entry["limits"]["min"].is_string() && entry["limits"]["max"].is_string());
        assert!(
            entry["conversion_id"]
                .as_str()
                .unwrap()
                .starts_with("conv_")
        );
    }
}

#[tokio::test]
async fn a_limit_that_does_not_exist_is_an_empty_string() {
    let world = World::start().await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices["BNB"]["limits"], json!({"min": "", "max": "8"}));
    assert_eq!(prices["TRX"]["limits"], json!({"min": "5", "max": ""}));
}

#[tokio::test]
async fn an_unknown_asset_can_be_offered() {
    let world = World::start_with(Settings {
        unknown_asset: true,
        ..Settings::default()
    })
    .await;
    let order = world.merchant().order("USDTSOL", "20", "20.00").await;
    let invoice = world.merchant().post("/invoice", &order).ok().await;
    assert_eq!(invoice["deposit_crypto"], "USDTSOL");
}

#[tokio::test]
async fn prices_are_stated_in_the_local_currency_too() {
    let world = World::start_with(Settings {
        local_currency: Currency::parse("EUR").unwrap(),
        local_per_usd: "0.92".parse().unwrap(),
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
}

#[tokio::test]
async fn a_moved_price_is_offered_from_the_next_call_on() {
    let world = World::start().await;
    world
        .control("prices", r#"{"crypto_code":"BTC","usd":"70000"}"#)
        .await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices["BTC"]["rates"]["amount_in_usd"], "70000.00");
}
