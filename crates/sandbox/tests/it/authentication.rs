//! Callers that are allowed, and requests that must be signed.

use serde_json::json;

use crate::world::{START, World};

#[tokio::test]
async fn a_signed_call_is_answered() {
    let world = World::start().await;
    world.merchant().get("/prices").ok().await;
}

#[tokio::test]
async fn a_missing_or_wrong_key_is_rejected() {
    let world = World::start().await;
    let call = || world.merchant().get("/prices");
    call()
        .without("apikey")
        .rejected(401, "INVALID_API_KEY")
        .await;
    call()
        .with("apikey", "other_key")
        .rejected(401, "INVALID_API_KEY")
        .await;
}

#[tokio::test]
async fn a_missing_signature_or_nonce_is_rejected() {
    let world = World::start().await;
    let call = || world.merchant().get("/prices");
    call()
        .without("signature")
        .rejected(401, "INVALID_SIGNATURE")
        .await;
    call()
        .without("nonce")
        .rejected(401, "INVALID_SIGNATURE")
        .await;
}

#[tokio::test]
async fn a_signature_under_another_secret_is_rejected_and_the_message_names_what_was_signed() {
    let world = World::start().await;
    let call = world.merchant().get("/invoice?id=inv_1").secret("another");
    let message = call.rejected(401, "INVALID_SIGNATURE").await;
    assert!(
        message.ends_with("under your secret: /api/1700000000/invoice?id=inv_1"),
        "{message}"
    );
    assert!(!message.contains("test_secret"), "{message}");
}

#[tokio::test]
async fn the_path_is_signed_with_its_query() {
    let world = World::start().await;
    let call = world
        .merchant()
        .get("/invoice?id=inv_1")
        .signed_path("/invoice");
    call.rejected(401, "INVALID_SIGNATURE").await;
}

#[tokio::test]
async fn the_path_is_signed_as_it_is_sent() {
    let world = World::start().await;
    let call = || world.merchant().get("/invoice?id=%69nv&hist=true");
    call().rejected(404, "INVALID_INVOICE_ID").await;
    let decoded = call().signed_path("/invoice?id=inv&hist=true");
    decoded.rejected(401, "INVALID_SIGNATURE").await;
}

#[tokio::test]
async fn the_body_is_signed_as_it_is_sent() {
    let world = World::start().await;
    let signed = json!({"marked_as_paid": true, "invoice_id": "inv_1"});
    let signature = world.merchant().post("/confirm", &signed).signature();
    let sent = json!({"marked_as_paid": true, "invoice_id": "inv_2"});
    let call = world
        .merchant()
        .post("/confirm", &sent)
        .with("signature", &signature);
    let message = call.rejected(401, "INVALID_SIGNATURE").await;
    assert!(
        message.ends_with(&format!("/api/1700000000/confirm{sent}")),
        "{message}"
    );
}

#[tokio::test]
async fn a_signature_in_capitals_is_rejected() {
    let world = World::start().await;
    let capitals = world.merchant().get("/prices").signature().to_uppercase();
    let call = world.merchant().get("/prices").with("signature", &capitals);
    call.rejected(401, "INVALID_SIGNATURE").await;
}

#[tokio::test]
async fn a_body_that_is_not_compact_is_rejected_although_it_is_signed() {
    let world = World::start().await;
    let call = world
        .merchant()
        .post_text("/confirm", r#"{"marked_as_paid": true}"#);
    let message = call.rejected(401, "INVALID_SIGNATURE").await;
    assert!(message.contains("compact"), "{message}");
}

#[tokio::test]
async fn a_nonce_is_a_unix_time_within_five_minutes() {
    let world = World::start().await;
    let call = |nonce| world.merchant().get("/prices").nonce(nonce);
    call(START - 300).ok().await;
    call(START + 300).ok().await;
    call(START - 301).rejected(401, "INVALID_SIGNATURE").await;
    call(START + 301).rejected(401, "INVALID_SIGNATURE").await;
    for nonce in ["+1700000000", "1.7e9", "now", "99999999999999999999"] {
        let call = world.merchant().get("/prices").nonce(nonce);
        call.rejected(401, "INVALID_SIGNATURE").await;
    }
}

#[tokio::test]
async fn a_header_sent_twice_is_rejected() {
    let world = World::start().await;
    let request = world.merchant().get("/prices").request();
    let response = request.header("apikey", "test_key").send().await.unwrap();
    assert_eq!(response.status(), 401);
}

#[tokio::test]
async fn every_call_declares_json() {
    let world = World::start().await;
    let call = || world.merchant().get("/prices");
    call()
        .without("content-type")
        .rejected(400, "INVALID_REQUEST")
        .await;
    call()
        .with("content-type", "text/plain")
        .rejected(400, "INVALID_REQUEST")
        .await;
    call()
        .with("content-type", "application/json; charset=utf-8")
        .ok()
        .await;
}

#[tokio::test]
async fn a_nonce_may_be_used_again() {
    let world = World::start().await;
    world.merchant().get("/prices").ok().await;
    world.merchant().get("/prices").ok().await;
}

#[tokio::test]
async fn the_body_of_a_put_is_not_signed() {
    let world = World::start().await;
    let body = json!({"phone": "1"});
    world.merchant().put("/settings", &body).ok().await;
    let signature = world.merchant().post("/settings", &body).signature();
    let call = world.merchant().put("/settings", &body);
    let call = call.with("signature", &signature);
    call.rejected(401, "INVALID_SIGNATURE").await;
}
