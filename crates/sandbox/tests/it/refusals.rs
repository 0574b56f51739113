//! Requests that the gateway rejects, each by its exact status and code. Wrong signatures are in `src/api.rs`.

use serde_json::{Map, Value, json};

use crate::world::{KEY, World};

const REQUEST: &str = "INVALID_REQUEST";

/// Sends an invoice over 20 USDT for 20 dollars with one member changed. Returns the message.
async fn refused(world: &World, member: &str, value: Value, code: &str) -> String {
    let merchant = world.merchant();
    let mut order = merchant.order().await;
    order[member] = value;
    let call = merchant.post("/invoice", &order);
    call.rejected(400, code).await
}

#[tokio::test]
async fn a_query_names_a_known_endpoint_and_one_invoice_or_merchant() {
    let world = World::start().await;
    for (path, status, code) in [
        ("/wallets", 404, "NOT_FOUND"),
        ("/confirm", 404, "NOT_FOUND"),
        ("/invoice?id=inv_0", 404, "INVALID_INVOICE_ID"),
        ("/invoice", 400, REQUEST),
        ("/invoice?id=", 400, REQUEST),
        ("/invoice?id=a&id=b", 400, REQUEST),
        ("/invoice?id=a&hist=yes", 400, REQUEST),
        ("/invoice?id=a&x=1", 400, REQUEST),
        ("/merchant/account?x=1", 400, REQUEST),
        ("/merchant/account?merchant_id", 400, REQUEST),
        (
            "/merchant/account?merchant_id=a&merchant_id=b",
            400,
            REQUEST,
        ),
    ] {
        world.merchant().get(path).rejected(status, code).await;
    }
}

#[tokio::test]
async fn a_body_is_a_bounded_object() {
    let world = World::start().await;
    let large = "1".repeat(70_000);
    for body in ["", "[]", "\"text\"", "{\"a\":", "\u{feff}{}", &large] {
        let call = world.merchant().post_text("/invoice", body);
        call.rejected(400, REQUEST).await;
    }
}

#[tokio::test]
async fn an_invoice_has_a_known_asset_a_valid_conversion_and_amounts_that_fit() {
    let world = World::start().await;
    let (conversion, asset) = ("INVALID_CONVERSION_ID", "UNSUPPORTED_CRYPTO_CODE");
    let range = "AMOUNT_OUT_OF_RANGE";
    for (member, value, code) in [
        ("crypto_code", json!("btc"), asset),
        ("crypto_code", json!("USDTSOL"), asset),
        ("conversion_id", json!("conv_0"), conversion),
        ("amount_in_crypto", json!("0.99"), range),
        ("amount_in_crypto", json!("2e1"), REQUEST),
        ("amount_in_local_currency", json!("20.01"), REQUEST),
    ] {
        refused(&world, member, value, code).await;
    }
    assert_eq!(world.get("invoices").await, json!([]));
}

#[tokio::test]
async fn a_missing_member_or_another_type_is_named() {
    let world = World::start().await;
    let id = world.open().await;
    let number = "amount_in_usd must be a string, and is a number";
    let message = refused(&world, "amount_in_usd", json!(20), REQUEST).await;
    assert_eq!(message, number);
    let confirm = |flag: Value| json!({"marked_as_paid": flag, "invoice_id": id});
    for (body, expected) in [
        (json!({"invoice_id": id}), "marked_as_paid is missing"),
        (confirm(json!(false)), "marked_as_paid must be true"),
        (
            confirm(json!("true")),
            "marked_as_paid must be a boolean, and is a string",
        ),
        (
            json!({"marked_as_paid": true, "invoice_id": id, "email_address": null}),
            "email_address must be a string, and is null",
        ),
    ] {
        let call = world.merchant().post("/confirm", &body);
        assert_eq!(call.rejected(400, REQUEST).await, expected);
    }
}

#[tokio::test]
async fn a_wallet_a_merchant_and_settings_are_complete_and_bounded() {
    let world = World::start().await;
    let merchant = world.merchant();
    let wallet = json!({"crypto_code": "BTC", "wallet_address": "tb1qone", "memo": "kept"});
    let missing = merchant.put("/preferences", &wallet);
    missing.rejected(404, "NOT_FOUND").await;
    merchant.post("/preferences", &wallet).ok().await;
    let twice = merchant.post("/preferences", &wallet);
    twice.rejected(400, REQUEST).await;
    let change = json!({"crypto_code": "BTC", "wallet_address": "tb1qtwo"});
    let changed = merchant.put("/preferences", &change).ok().await;
    assert_eq!(changed["preference"]["memo"], "kept");
    for (body, code) in [
        (json!({"wallet_address": "tb1q"}), REQUEST),
        (
            json!({"crypto_code": "BTC", "wallet_address": " "}),
            REQUEST,
        ),
        (
            json!({"crypto_code": "XMR", "wallet_address": "4"}),
            "UNSUPPORTED_CRYPTO_CODE",
        ),
    ] {
        merchant
            .put("/preferences", &body)
            .rejected(400, code)
            .await;
    }
    let nameless = merchant.post("/aggregator/merchants", &json!({}));
    nameless.rejected(400, REQUEST).await;
    let many: Map<_, _> = (0..201).map(|n| (format!("m{n}"), json!(n))).collect();
    let call = merchant.put("/settings", &many.into());
    call.rejected(400, REQUEST).await;
}

#[tokio::test]
async fn a_call_without_a_key_is_refused_and_a_checkout_without_a_signature_is_not() {
    let world = World::start().await;
    let request = world.http.get(format!("{}/api/prices", world.address));
    assert_eq!(request.send().await.unwrap().status(), 401);
    let url = format!("{}/api/checkout", world.address);
    let request = world.http.post(url).header("apikey", KEY);
    let checkout = request.json(&crate::service::request()).send().await;
    assert_eq!(checkout.unwrap().status(), 200);
}
