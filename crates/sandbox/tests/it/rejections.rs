//! Requests that the gateway rejects, each by its exact status and code.

use serde_json::{Value, json};

use crate::world::World;

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
async fn an_unknown_path_method_or_invoice_is_not_found() {
    let world = World::start().await;
    let merchant = world.merchant();
    merchant.get("/wallets").rejected(404, "NOT_FOUND").await;
    let post = merchant.post("/prices", &json!({}));
    post.rejected(404, "NOT_FOUND").await;
    let read = merchant.get("/invoice?id=inv_0");
    read.rejected(404, "INVALID_INVOICE_ID").await;
    let confirm = json!({"marked_as_paid": true, "invoice_id": "inv_0"});
    let confirm = merchant.post("/confirm", &confirm);
    confirm.rejected(404, "INVALID_INVOICE_ID").await;
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
async fn each_member_of_an_invoice_is_a_string() {
    let world = World::start().await;
    for member in [
        "conversion_id",
        "amount_in_usd",
        "amount_in_local_currency",
        "amount_in_crypto",
        "crypto_code",
    ] {
        let message = refused(&world, member, json!(20), REQUEST).await;
        let expected = format!("{member} must be a string, and is a number");
        assert_eq!(message, expected);
    }
    let call = world.merchant().post("/invoice", &json!({}));
    let message = call.rejected(400, REQUEST).await;
    assert_eq!(message, "conversion_id is missing");
}

#[tokio::test]
async fn an_invoice_has_a_known_asset_a_valid_conversion_and_amounts_that_fit() {
    let world = World::start().await;
    let (conversion, asset) = ("INVALID_CONVERSION_ID", "UNSUPPORTED_CRYPTO_CODE");
    let range = "AMOUNT_OUT_OF_RANGE";
    for (member, value, code) in [
        ("crypto_code", "XMR", asset),
        ("crypto_code", "btc", asset),
        ("crypto_code", "USDTSOL", asset),
        ("crypto_code", "USDTERC20", conversion),
        ("conversion_id", "conv_0", conversion),
        ("amount_in_crypto", "0.99", range),
        ("amount_in_crypto", "50000.01", range),
        ("amount_in_crypto", "19.99", REQUEST),
        ("amount_in_crypto", "2e1", REQUEST),
        ("amount_in_crypto", "", REQUEST),
        ("amount_in_local_currency", "20.01", REQUEST),
        ("amount_in_usd", "19.50", REQUEST),
    ] {
        refused(&world, member, json!(value), code).await;
    }
    assert_eq!(world.get("invoices").await, json!([]));
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    world.clock.advance(120);
    let call = world.merchant().post("/invoice", &order);
    let message = call.rejected(400, conversion).await;
    assert!(message.contains("has expired"), "{message}");
}

#[tokio::test]
async fn a_query_names_one_invoice() {
    let world = World::start().await;
    for query in ["", "?id=", "?id=a&id=b", "?id=a&hist=yes", "?id=a&x=1"] {
        let call = world.merchant().get(&format!("/invoice{query}"));
        call.rejected(400, REQUEST).await;
    }
}

#[tokio::test]
async fn confirming_takes_a_true_flag_and_texts() {
    let world = World::start().await;
    let id = world.open().await;
    for (body, expected) in [
        (json!({"invoice_id": id}), "marked_as_paid is missing"),
        (
            json!({"invoice_id": id, "marked_as_paid": "true"}),
            "marked_as_paid must be a boolean, and is a string",
        ),
        (
            json!({"invoice_id": id, "marked_as_paid": false}),
            "marked_as_paid must be true",
        ),
        (json!({"marked_as_paid": true}), "invoice_id is missing"),
        (
            json!({"invoice_id": id, "marked_as_paid": true, "email_address": null}),
            "email_address must be a string, and is null",
        ),
    ] {
        let call = world.merchant().post("/confirm", &body);
        assert_eq!(call.rejected(400, REQUEST).await, expected);
    }
}
