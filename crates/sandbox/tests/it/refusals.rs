//! Requests that the gateway rejects, each by its exact status and code: callers that are not allowed, and requests that must be
//! signed.

use serde_json::{Map, Value, json};

use crate::world::{START, World};

const REQUEST: &str = "INVALID_REQUEST";

/// Sends an invoice over 20 USDT for 20 dollars with one member changed. Returns the message.
async fn refused(world: &World, member: &str, value: Value, code: &str) -> String {
    let merchant = world.merchant();
    let mut order = merchant.order("USDTTRC20", "20", "20.00").await;
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
        ("crypto_code", json!("XMR"), asset),
        ("crypto_code", json!("btc"), asset),
        ("crypto_code", json!("USDTSOL"), asset),
        ("crypto_code", json!("USDTERC20"), conversion),
        ("conversion_id", json!("conv_0"), conversion),
        ("amount_in_crypto", json!("0.99"), range),
        ("amount_in_crypto", json!("19.99"), REQUEST),
        ("amount_in_crypto", json!("2e1"), REQUEST),
        ("amount_in_crypto", json!(20), REQUEST),
        ("amount_in_local_currency", json!("20.01"), REQUEST),
    ] {
        refused(&world, member, value, code).await;
    }
    assert_eq!(world.get("invoices").await, json!([]));
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    world.clock.advance(120);
    let call = world.merchant().post("/invoice", &order);
    let message = call.rejected(400, conversion).await;
    assert!(message.contains("has expired"), "{message}");
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

const SIGNATURE: &str = "INVALID_SIGNATURE";

#[tokio::test]
async fn a_call_needs_a_key_a_nonce_a_signature_and_a_content_type() {
    let world = World::start().await;
    let call = || world.merchant().get("/prices");
    for (header, value, status, code) in [
        ("apikey", None, 401, "INVALID_API_KEY"),
        ("apikey", Some("other_key"), 401, "INVALID_API_KEY"),
        ("signature", None, 401, SIGNATURE),
        ("nonce", None, 401, SIGNATURE),
        ("content-type", None, 400, "INVALID_REQUEST"),
        ("content-type", Some("text/plain"), 400, "INVALID_REQUEST"),
    ] {
        let call = match value {
            None => call().without(header),
            Some(value) => call().with(header, value),
        };
        call.rejected(status, code).await;
    }
    let twice = call().request().header("apikey", "test_key").send().await;
    assert_eq!(twice.unwrap().status(), 401);
    let json = "application/json; charset=utf-8";
    call().with("content-type", json).ok().await;
    // A nonce may be used again.
    call().ok().await;
}

#[tokio::test]
async fn the_message_of_a_wrong_signature_names_what_was_signed_and_no_secret() {
    let world = World::start().await;
    let call = world.merchant().get("/invoice?id=inv_1").secret("another");
    let message = call.rejected(401, SIGNATURE).await;
    assert!(
        message.ends_with("under your secret: /api/1700000000/invoice?id=inv_1"),
        "{message}"
    );
    assert!(!message.contains("test_secret"), "{message}");
}

#[tokio::test]
async fn path_query_and_body_are_signed_as_they_are_sent() {
    let world = World::start().await;
    let merchant = world.merchant();
    let encoded = || merchant.get("/invoice?id=%69nv&hist=true");
    encoded().rejected(404, "INVALID_INVOICE_ID").await;
    for signed in ["/invoice", "/invoice?id=inv&hist=true"] {
        let call = encoded().signed_path(signed);
        call.rejected(401, SIGNATURE).await;
    }
    let confirm = |id| json!({"marked_as_paid": true, "invoice_id": id});
    let signature = merchant.post("/confirm", &confirm("inv_1")).signature();
    let sent = confirm("inv_2");
    let call = merchant.post("/confirm", &sent);
    let message = call.with("signature", &signature).rejected(401, SIGNATURE);
    let message = message.await;
    let expected = format!("/api/1700000000/confirm{sent}");
    assert!(message.ends_with(&expected), "{message}");
    let spaced = merchant.post_text("/confirm", r#"{"marked_as_paid": true}"#);
    let message = spaced.rejected(401, SIGNATURE).await;
    assert!(message.contains("compact"), "{message}");
}

#[tokio::test]
async fn the_body_of_a_put_is_not_signed() {
    let world = World::start().await;
    let body = json!({"phone": "1"});
    world.merchant().put("/settings", &body).ok().await;
    let signature = world.merchant().post("/settings", &body).signature();
    let call = world.merchant().put("/settings", &body);
    let call = call.with("signature", &signature);
    call.rejected(401, SIGNATURE).await;
}

#[tokio::test]
async fn a_checkout_needs_the_key_and_no_signature() {
    let world = World::start().await;
    let request = crate::service::request();
    let call = || world.merchant().post("/checkout", &request);
    call().without("signature").without("nonce").ok().await;
    call().secret("another").rejected(401, SIGNATURE).await;
    let keyless = call().with("apikey", "another");
    keyless.rejected(401, "INVALID_API_KEY").await;
}

#[tokio::test]
async fn a_nonce_is_a_unix_time_within_five_minutes() {
    let world = World::start().await;
    for nonce in [START - 300, START + 300] {
        world.merchant().get("/prices").nonce(nonce).ok().await;
    }
    let (early, late) = ((START - 301).to_string(), (START + 301).to_string());
    for nonce in [&*early, &*late, "+1700000000", "1.7e9", "now"] {
        let call = world.merchant().get("/prices").nonce(nonce);
        call.rejected(401, SIGNATURE).await;
    }
}
