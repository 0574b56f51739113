//! Settlement and the PSP API: wallets, merchants, accounts, settings, currencies.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn every_asset_is_a_currency() {
    let world = World::start().await;
    let currencies = world.merchant().get("/currencies").ok().await;
    let list = currencies.as_array().unwrap();
    assert_eq!(list.len(), 9);
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
    let wallet = |code, address| json!({"crypto_code": code, "wallet_address": address});
    for (wallet, code) in [
        (json!({"wallet_address": "tb1q"}), "INVALID_REQUEST"),
        (wallet("BTC", json!(" ")), "INVALID_REQUEST"),
        (wallet("BTC", json!(1)), "INVALID_REQUEST"),
        (wallet("XMR", json!("4")), "UNSUPPORTED_CRYPTO_CODE"),
    ] {
        let merchant = world.merchant();
        let calls = [
            merchant.post("/preferences", &wallet),
            merchant.put("/preferences", &wallet),
        ];
        for call in calls {
            call.rejected(400, code).await;
        }
    }
}

#[tokio::test]
async fn a_merchant_gets_a_new_id() {
    let world = World::start().await;
    let onboard = |body| world.merchant().post("/aggregator/merchants", &body);
    let named = json!({"merchant_name": "A shop", "country": {"code": "DE"}});
    let first = onboard(named.clone()).ok().await["merchant"].take();
    let second = onboard(named).ok().await["merchant"].take();
    assert_eq!(first["country"], json!({"code": "DE"}));
    assert_eq!(first["kyc_status"], "PENDING");
    assert_ne!(first["merchant_id"], second["merchant_id"]);
    let nameless = onboard(json!({}));
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
async fn settings_keep_what_was_put_up_to_a_limit() {
    let world = World::start().await;
    let put = json!({"business_name": "One", "phone": "1"});
    world.merchant().put("/settings", &put).ok().await;
    let put = json!({"business_name": "Two"});
    let settings = world.merchant().put("/settings", &put).ok().await;
    assert_eq!(
        settings["settings"],
        json!({"business_name": "Two", "phone": "1"})
    );
    let many: serde_json::Map<_, _> = (0..201).map(|n| (format!("m{n}"), json!(n))).collect();
    let call = world.merchant().put("/settings", &many.into());
    call.rejected(400, "INVALID_REQUEST").await;
}
