//! Requests that the gateway rejects, each by its exact status and code.

use serde_json::{Value, json};

use crate::world::World;

/// 20 USDT for 20 dollars, with one member changed.
async fn changed(world: &World, member: &str, value: Value) -> Value {
    let mut order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    order[member] = value;
    order
}

#[tokio::test]
async fn an_unknown_path_or_method_is_not_found() {
    let world = World::start().await;
    world
        .merchant()
        .get("/wallets")
        .rejected(404, "NOT_FOUND")
        .await;
    world
        .merchant()
        .post("/prices", &json!({}))
        .rejected(404, "NOT_FOUND")
        .await;
}

#[tokio::test]
async fn a_body_that_is_no_object_is_rejected() {
    let world = World::start().await;
    for body in ["", "[]", "null", "\"text\"", "{\"a\":", "\u{feff}{}"] {
        let call = world.merchant().post_text("/invoice", body);
        call.rejected(400, "INVALID_REQUEST").await;
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected() {
    let world = World::start().await;
    let call = world.merchant().post_text("/invoice", &"1".repeat(70_000));
    call.rejected(400, "INVALID_REQUEST").await;
}

#[tokio::test]
async fn each_member_of_an_invoice_is_required_and_a_string() {
    let world = World::start().await;
    for member in [
        "conversion_id",
        "amount_in_usd",
        "amount_in_local_currency",
        "amount_in_crypto",
        "crypto_code",
    ] {
        let order = changed(&world, member, json!(20)).await;
        let message = world
            .merchant()
            .post("/invoice", &order)
            .rejected(400, "INVALID_REQUEST")
            .await;
        assert_eq!(
            message,
            format!("{member} must be a string, and is a number")
        );

        let mut order = order;
        order.as_object_mut().unwrap().remove(member);
        let message = world
            .merchant()
            .post("/invoice", &order)
            .rejected(400, "INVALID_REQUEST")
            .await;
        assert_eq!(message, format!("{member} is missing"));
    }
}

#[tokio::test]
async fn an_amount_that_is_no_plain_decimal_is_rejected() {
    let world = World::start().await;
    for amount in ["", "-20", "2e1", "20,00", " 20", "NaN"] {
        let order = changed(&world, "amount_in_crypto", json!(amount)).await;
        world
            .merchant()
            .post("/invoice", &order)
            .rejected(400, "INVALID_REQUEST")
            .await;
    }
}

#[tokio::test]
async fn an_unknown_asset_is_unsupported() {
    let world = World::start().await;
    for code in ["XMR", "btc", "USDT", "", "USDTSOL"] {
        let order = changed(&world, "crypto_code", json!(code)).await;
        let call = world.merchant().post("/invoice", &order);
        call.rejected(400, "UNSUPPORTED_CRYPTO_CODE").await;
    }
}

#[tokio::test]
async fn a_conversion_is_valid_in_its_time_and_for_its_asset() {
    let world = World::start().await;
    let order = changed(&world, "conversion_id", json!("conv_0")).await;
    world
        .merchant()
        .post("/invoice", &order)
        .rejected(400, "INVALID_CONVERSION_ID")
        .await;

    let order = changed(&world, "crypto_code", json!("USDTERC20")).await;
    let call = world.merchant().post("/invoice", &order);
    let message = call.rejected(400, "INVALID_CONVERSION_ID").await;
    assert!(message.ends_with("is a price of USDTTRC20"), "{message}");

    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    world.clock.advance(119);
    world.merchant().post("/invoice", &order).ok().await;
    world.clock.advance(1);
    let call = world.merchant().post("/invoice", &order);
    let message = call.rejected(400, "INVALID_CONVERSION_ID").await;
    assert!(message.contains("has expired"), "{message}");
}

#[tokio::test]
async fn amounts_that_contradict_the_issued_price_are_rejected() {
    let world = World::start().await;
    for (member, value) in [
        ("amount_in_crypto", "19.99"),
        ("amount_in_crypto", "25"),
        ("amount_in_local_currency", "20.01"),
        ("amount_in_usd", "19.50"),
        ("amount_in_crypto", "20.0000001"),
    ] {
        let order = changed(&world, member, json!(value)).await;
        world
            .merchant()
            .post("/invoice", &order)
            .rejected(400, "INVALID_REQUEST")
            .await;
    }
}

#[tokio::test]
async fn a_tampered_price_is_out_of_range_or_contradicted_but_never_accepted() {
    let world = World::start().await;
    let order = world.merchant().order("USDTTRC20", "0.99", "0.99").await;
    let call = world.merchant().post("/invoice", &order);
    call.rejected(400, "AMOUNT_OUT_OF_RANGE").await;
    let order = world
        .merchant()
        .order("USDTTRC20", "50000.01", "50000.01")
        .await;
    let call = world.merchant().post("/invoice", &order);
    call.rejected(400, "AMOUNT_OUT_OF_RANGE").await;
    assert_eq!(world.get("invoices").await, json!([]));
}

#[tokio::test]
async fn an_unknown_invoice_is_not_found() {
    let world = World::start().await;
    let call = world.merchant().get("/invoice?id=inv_0");
    call.rejected(404, "INVALID_INVOICE_ID").await;
    let confirm = json!({"marked_as_paid": true, "invoice_id": "inv_0"});
    let call = world.merchant().post("/confirm", &confirm);
    call.rejected(404, "INVALID_INVOICE_ID").await;
}

#[tokio::test]
async fn a_query_without_one_id_is_rejected() {
    let world = World::start().await;
    for query in [
        "",
        "?",
        "?id=",
        "?id=a&id=b",
        "?hist=true",
        "?id=a&hist=yes",
        "?id=a&x=1",
    ] {
        let call = world.merchant().get(&format!("/invoice{query}"));
        call.rejected(400, "INVALID_REQUEST").await;
    }
}

#[tokio::test]
async fn confirming_takes_a_true_flag_and_texts() {
    let world = World::start().await;
    let id = world.merchant().invoice().await["invoice_id"].clone();
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
        assert_eq!(call.rejected(400, "INVALID_REQUEST").await, expected);
    }
}
