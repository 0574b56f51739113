//! Callers that are allowed, and requests that must be signed.

use serde_json::json;

use crate::world::{START, World};

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
    let request = crate::hosted::request();
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
