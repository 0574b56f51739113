//! Why a signature failed: each usual mistake is named, in the answer and in the log.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Sha256, Sha384};

use crate::merchant::Call;
use crate::world::{KEY, SECRET, START, World};

const PATH: &str = "/invoice?id=inv_1";

fn digest(secret: &str, message: &str) -> Vec<u8> {
    let mac = Hmac::<Sha384>::new_from_slice(secret.as_bytes()).unwrap();
    mac.chain_update(message).finalize().into_bytes().to_vec()
}

fn signature(message: &str) -> String {
    hex::encode(digest(SECRET, message))
}

/// The hint in the answer, which must be the log's as well.
async fn hint(world: &World, call: Call<'_>) -> String {
    let message = call.refused(401, "INVALID_SIGNATURE").await;
    let hint = message
        .split("Hint: ")
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    let log = world.get("requests").await;
    let logged = log[0]["signature"]["hint"].as_str().unwrap_or_default();
    assert_eq!(hint, logged);
    hint
}

#[tokio::test]
async fn a_message_that_was_put_together_wrongly_is_recognised() {
    let world = World::start().await;
    let host = world.address.strip_prefix("http://").unwrap();
    for (signed, expected) in [
        (
            format!("/api/{START}/api{PATH}"),
            "you signed the path with /api",
        ),
        (
            format!("/api/{START}http://{host}/api{PATH}"),
            "you signed the whole URL",
        ),
        (format!("/api/{START}/invoice"), "the query is missing"),
        (
            format!("/api/{START}invoice?id=inv_1"),
            "has no slash at its beginning",
        ),
        (format!("/api/{START}{PATH}/"), "has a slash at its end"),
        (format!("{START}{PATH}"), "/api/ is missing"),
        (
            format!("/api{START}{PATH}"),
            "the slash between /api and the nonce",
        ),
        (
            format!("/api{PATH}{START}"),
            "the nonce is in the wrong place",
        ),
        (
            format!("/api/{START}000{PATH}"),
            "the nonce in milliseconds",
        ),
        (format!("/api/{PATH}"), "the nonce is missing"),
        (format!("/api/{START}{PATH}\n"), "ends with a line break"),
    ] {
        let call = world
            .merchant()
            .get(PATH)
            .with("signature", &signature(&signed));
        let hint = hint(&world, call).await;
        assert!(hint.contains(expected), "{expected}: {hint}");
        let log = world.get("requests").await;
        assert_eq!(log[0]["signature"]["signed_message"], signed);
    }
}

#[tokio::test]
async fn a_body_that_was_written_anew_or_left_out_is_recognised() {
    let world = World::start().await;
    let body = r#"{"invoice_id":"inv_1","b":1,"a":[1,2]}"#;
    for (signed, expected) in [
        (String::new(), "the body is missing"),
        (
            r#"{"a":[1,2],"b":1,"invoice_id":"inv_1"}"#.to_owned(),
            "written anew",
        ),
        (
            r#"{"invoice_id": "inv_1", "b": 1, "a": [1, 2]}"#.to_owned(),
            "written anew",
        ),
    ] {
        let signed = signature(&format!("/api/{START}/confirm{signed}"));
        let call = world
            .merchant()
            .post_text("/confirm", body)
            .with("signature", &signed);
        let hint = hint(&world, call).await;
        assert!(hint.contains(expected), "{expected}: {hint}");
    }
}

#[tokio::test]
async fn a_digest_in_another_form_or_of_another_kind_is_recognised() {
    let world = World::start().await;
    let message = format!("/api/{START}{PATH}");
    let sha256 = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    let sha256 = sha256.chain_update(&message).finalize().into_bytes();
    for (signed, expected) in [
        (signature(&message).to_uppercase(), "lower-case"),
        (hex::encode(sha256), "SHA-256"),
        (
            hex::encode(digest(KEY, &message)),
            "sign with the API secret",
        ),
        (
            hex::encode(digest("test_secret\n", &message)),
            "ends with a blank or a line break",
        ),
    ] {
        let call = world.merchant().get(PATH).with("signature", &signed);
        let hint = hint(&world, call).await;
        assert!(hint.contains(expected), "{expected}: {hint}");
    }
}

#[tokio::test]
async fn a_nonce_in_milliseconds_is_recognised() {
    let world = World::start().await;
    let call = world.merchant().get("/prices").nonce(START * 1_000);
    let message = call.refused(401, "INVALID_SIGNATURE").await;
    assert!(
        message.ends_with("Hint: the nonce is in milliseconds: it is whole seconds"),
        "{message}"
    );
}

#[tokio::test]
async fn what_explains_nothing_is_shown_beside_what_was_expected() {
    let world = World::start().await;
    let call = world.merchant().get(PATH).secret("another");
    assert_eq!(hint(&world, call).await, "");
    let logged: Value = world.get("requests").await[0]["signature"].clone();
    let message = format!("/api/{START}{PATH}");
    let received = hex::encode(digest("another", &message));
    assert_eq!(
        logged,
        json!({
            "expected_message": message,
            "expected_signature": signature(&message),
            "received_signature": received,
            "signed_message": null,
            "hint": null,
        })
    );
}
