//! Rules that change while the service runs.

use serde_json::json;

use crate::world::{START, World};

#[tokio::test]
async fn nonces_can_be_made_to_rise() {
    let world = World::start().await;
    world.merchant().prices().await;
    world.control("rules", r#"{"strict_nonce":true}"#).await;
    let again = world.merchant().get("/prices");
    again.refused(401, "INVALID_SIGNATURE").await;
    world.merchant().get("/prices").nonce(START + 1).ok().await;
}

#[tokio::test]
async fn the_nonces_window_can_be_narrowed() {
    let world = World::start().await;
    world
        .control("rules", r#"{"nonce_tolerance_seconds":5}"#)
        .await;
    world.merchant().get("/prices").nonce(START - 5).ok().await;
    let old = world.merchant().get("/prices").nonce(START - 6);
    old.refused(401, "INVALID_SIGNATURE").await;
}

#[tokio::test]
async fn the_services_clock_runs_ahead_in_its_date_and_in_what_it_takes() {
    let world = World::start().await;
    let date = async || {
        let answer = world.merchant().get("/prices").request().send().await;
        answer.unwrap().headers()["date"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(date().await, "Tue, 14 Nov 2023 22:13:20 GMT");
    world
        .control("rules", r#"{"clock_skew_seconds":301}"#)
        .await;
    assert_eq!(date().await, "Tue, 14 Nov 2023 22:18:21 GMT");
    let late = world.merchant().get("/prices");
    late.refused(401, "INVALID_SIGNATURE").await;
    world
        .merchant()
        .get("/prices")
        .nonce(START + 301)
        .ok()
        .await;
}

#[tokio::test]
async fn the_body_of_a_put_is_signed_when_the_rule_says_so() {
    let world = World::start().await;
    let put = json!({"phone": "1"});
    let signed = world.merchant().put("/settings", &put).signing_body(true);
    let message = signed.refused(401, "INVALID_SIGNATURE").await;
    assert!(
        message.ends_with("of this method, the body is not signed"),
        "{message}"
    );
    world.control("rules", r#"{"put_signs_body":true}"#).await;
    let unsigned = world.merchant().put("/settings", &put);
    unsigned.refused(401, "INVALID_SIGNATURE").await;
    world
        .merchant()
        .put("/settings", &put)
        .signing_body(true)
        .ok()
        .await;
}

#[tokio::test]
async fn lifetimes_hold_for_what_comes_next() {
    let world = World::start().await;
    world
        .control("rules", r#"{"invoice_minutes":5,"conversion_seconds":10}"#)
        .await;
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    let invoice = world.merchant().post("/invoice", &order).ok().await;
    assert_eq!(invoice["invoice_expired_in"], "5");
    world.clock.advance(10);
    let lapsed = world.merchant().post("/invoice", &order);
    lapsed.refused(400, "INVALID_CONVERSION_ID").await;
}

#[tokio::test]
async fn promises_lapse_at_once_when_told_to() {
    let world = World::start().await;
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    world.control("prices/lapse", "").await;
    let lapsed = world.merchant().post("/invoice", &order);
    let message = lapsed.refused(400, "INVALID_CONVERSION_ID").await;
    assert!(message.contains("has lapsed"), "{message}");
}

#[tokio::test]
async fn an_unknown_rule_is_refused_and_the_others_are_shown() {
    let world = World::start().await;
    let (status, answer) = world.post("rules", r#"{"strict":true}"#).await;
    assert_eq!(status, 400, "{answer}");
    let rules = world.get("rules").await;
    assert_eq!(
        (
            &rules["strict_nonce"],
            &rules["invoice_minutes"],
            &rules["calls_per_minute"]
        ),
        (&json!(false), &json!(15), &json!(null))
    );
}

#[tokio::test]
async fn calls_beyond_the_limit_are_told_when_to_come_again() {
    let world = World::start().await;
    world.control("rules", r#"{"calls_per_minute":2}"#).await;
    world.merchant().prices().await;
    world.merchant().prices().await;
    let response = world
        .merchant()
        .get("/prices")
        .request()
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "60");
    let call = world.merchant().get("/prices");
    call.refused(429, "RATE_LIMIT_EXCEEDED").await;
    world.control("rules", r#"{"calls_per_minute":0}"#).await;
    world.merchant().prices().await;
}
