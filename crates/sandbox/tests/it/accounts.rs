//! Settlement and the PSP API: wallets, merchants, accounts, settings, currencies; and the history.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn every_asset_that_has_a_price_is_a_currency() {
    let world = World::start().await;
    let currencies = world.merchant().get("/currencies").ok().await;
    let prices = world.merchant().prices().await;
    let list = currencies.as_array().unwrap();
    assert_eq!(list.len(), 9);
    for currency in list {
        assert!(
            prices
                .get(currency["crypto_code"].as_str().unwrap())
                .is_some()
        );
    }
    assert_eq!(
        list[0],
        json!({"crypto_code": "USDTTRC20", "asset": "USDT", "name": "Tether", "network": "Tron", "decimals": "6"})
    );
}

#[tokio::test]
async fn a_wallet_is_added_once_and_then_changed() {
    let world = World::start().await;
    let wallet = json!({"crypto_code": "BTC", "wallet_address": "tb1qone", "memo": "kept"});
    let missing = world.merchant().put("/preferences", &wallet);
    missing.rejected(404, "NOT_FOUND").await;
    let added = world.merchant().post("/preferences", &wallet).ok().await;
    assert_eq!(added, json!({"message": "OK", "preference": wallet}));
    let twice = world.merchant().post("/preferences", &wallet);
    twice.rejected(400, "INVALID_REQUEST").await;
    let change = json!({"crypto_code": "BTC", "wallet_address": "tb1qtwo"});
    let changed = world.merchant().put("/preferences", &change).ok().await;
    assert_eq!(
        changed["preference"],
        json!({"crypto_code": "BTC", "wallet_address": "tb1qtwo", "memo": "kept"})
    );
}

#[tokio::test]
async fn an_invalid_wallet_is_rejected() {
    let world = World::start().await;
    for (wallet, code) in [
        (json!({"wallet_address": "tb1q"}), "INVALID_REQUEST"),
        (json!({"crypto_code": "BTC"}), "INVALID_REQUEST"),
        (
            json!({"crypto_code": "BTC", "wallet_address": " "}),
            "INVALID_REQUEST",
        ),
        (
            json!({"crypto_code": "BTC", "wallet_address": 1}),
            "INVALID_REQUEST",
        ),
        (
            json!({"crypto_code": "XMR", "wallet_address": "4"}),
            "UNSUPPORTED_CRYPTO_CODE",
        ),
        (json!([]), "INVALID_REQUEST"),
    ] {
        world
            .merchant()
            .post("/preferences", &wallet)
            .rejected(400, code)
            .await;
        world
            .merchant()
            .put("/preferences", &wallet)
            .rejected(400, code)
            .await;
    }
}

#[tokio::test]
async fn a_merchant_gets_a_new_id() {
    let world = World::start().await;
    let merchant = json!({"merchant_name": "A shop", "country": {"code": "DE"}});
    let first = world
        .merchant()
        .post("/aggregator/merchants", &merchant)
        .ok()
        .await;
    let second = world
        .merchant()
        .post("/aggregator/merchants", &merchant)
        .ok()
        .await;
    let merchant = &first["merchant"];
    assert_eq!(merchant["country"], json!({"code": "DE"}));
    assert_eq!(merchant["kyc_status"], "PENDING");
    assert_ne!(merchant["merchant_id"], second["merchant"]["merchant_id"]);
    let nameless = world.merchant().post("/aggregator/merchants", &json!({}));
    nameless.rejected(400, "INVALID_REQUEST").await;
}

#[tokio::test]
async fn an_account_gets_its_upload_url() {
    let world = World::start().await;
    let account = world.merchant().get("/merchant/account").ok().await;
    let url = account["upload_url"].as_str().unwrap();
    assert_eq!(url, format!("{}/sandbox/kyc/account", world.address));
    for query in ["?x=1", "?merchant_id=a&merchant_id=b", "?merchant_id"] {
        let call = world.merchant().get(&format!("/merchant/account{query}"));
        call.rejected(400, "INVALID_REQUEST").await;
    }
}

#[tokio::test]
async fn settings_keep_what_was_put() {
    let world = World::start().await;
    let put = json!({"business_name": "One", "phone": "1"});
    world.merchant().put("/settings", &put).ok().await;
    let put = json!({"business_name": "Two"});
    let settings = world.merchant().put("/settings", &put).ok().await;
    assert_eq!(
        settings["settings"],
        json!({"business_name": "Two", "phone": "1"})
    );
}

#[tokio::test]
async fn records_that_are_too_large_are_rejected() {
    let world = World::start().await;
    let many: serde_json::Map<_, _> = (0..201).map(|n| (format!("m{n}"), json!(n))).collect();
    let call = world.merchant().put("/settings", &Value::Object(many));
    call.rejected(400, "INVALID_REQUEST").await;
}

#[tokio::test]
async fn the_history_lists_every_status_and_every_payment() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    let paid = world.pay(id, "exact").await;
    world.mine(1).await;
    world.mine(2).await;
    let path = format!("/invoice?id={id}&hist=true");
    let response = world.merchant().get(&path).ok().await;
    let step = |status| json!({"transaction_status": status, "time": "1700000000"});
    assert_eq!(
        response["data"]["history"],
        json!([step("CHECKING"), step("PROCESSING"), step("COMPLETED")])
    );
    assert_eq!(
        response["data"]["transactions"],
        json!([{
            "transaction_hash": paid["transaction_hash"],
            "received_crypto_amount": "20.00",
            "blockchain_confirmations": "3/3",
            "transaction_time": "1700000000",
        }])
    );
    let plain = world
        .merchant()
        .get(&format!("/invoice?id={id}&hist=false"))
        .ok()
        .await;
    assert_eq!(plain["data"].get("history"), None);
}
