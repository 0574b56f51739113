//! Faults on demand: each hits exactly the calls it was planned for.

use std::time::Duration;

use serde_json::json;

use crate::world::World;

async fn order(world: &World) -> serde_json::Value {
    world.merchant().order("USDTTRC20", "20", "20.00").await
}

async fn invoice_count(world: &World) -> usize {
    world.get("invoices").await.as_array().unwrap().len()
}

#[tokio::test]
async fn a_status_replaces_the_response_with_its_retry_after() {
    let world = World::start().await;
    let order = order(&world).await;
    let fault = r#"{"endpoint":"create_invoice","kind":"status","status":429,"retry_after":7}"#;
    world.control("faults", fault).await;
    world.merchant().prices().await;
    let response = world
        .merchant()
        .post("/invoice", &order)
        .request()
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
    assert_eq!(invoice_count(&world).await, 0);
    world.merchant().post("/invoice", &order).ok().await;
    assert_eq!(invoice_count(&world).await, 1);
}

#[tokio::test]
async fn a_fault_happens_as_often_as_planned() {
    let world = World::start().await;
    let fault = r#"{"endpoint":"any","kind":"status","status":500,"times":2}"#;
    world.control("faults", fault).await;
    for status in [500, 500, 200] {
        assert_eq!(world.merchant().get("/prices").send().await.0, status);
    }
}

#[tokio::test]
async fn a_garbled_response_is_no_json_although_the_invoice_exists() {
    let world = World::start().await;
    let order = order(&world).await;
    world
        .control(
            "faults",
            r#"{"endpoint":"create_invoice","kind":"garbled"}"#,
        )
        .await;
    let response = world
        .merchant()
        .post("/invoice", &order)
        .request()
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    assert!(text.starts_with('{') && serde_json::from_str::<serde_json::Value>(&text).is_err());
    assert_eq!(invoice_count(&world).await, 1);
}

#[tokio::test]
async fn a_slow_response_waits_as_long_as_planned() {
    let world = World::start().await;
    let fault = r#"{"endpoint":"prices","kind":"slow","delay_ms":12000}"#;
    world.control("faults", fault).await;
    world.merchant().prices().await;
    assert_eq!(world.clock.slept(), [Duration::from_secs(12)]);
}

#[tokio::test]
async fn a_dropped_connection_has_no_response_although_the_invoice_exists() {
    let world = World::start().await;
    let order = order(&world).await;
    world
        .control("faults", r#"{"endpoint":"create_invoice","kind":"drop"}"#)
        .await;
    let error = world
        .merchant()
        .post("/invoice", &order)
        .request()
        .send()
        .await;
    assert!(error.unwrap_err().is_request());
    assert_eq!(invoice_count(&world).await, 1);
    let log = world.get("requests").await;
    assert_eq!(
        (&log[0]["status"], &log[0]["fault"]),
        (&json!(null), &json!({"kind": "drop"}))
    );
    world.merchant().prices().await;
}

#[tokio::test]
async fn faults_can_be_cleared() {
    let world = World::start().await;
    world
        .control("faults", r#"{"endpoint":"any","kind":"drop","times":9}"#)
        .await;
    let url = format!("{}/sandbox/faults", world.address);
    assert_eq!(world.http.delete(url).send().await.unwrap().status(), 200);
    world.merchant().prices().await;
}

async fn prices(world: &World) -> reqwest::Response {
    world
        .merchant()
        .get("/prices")
        .request()
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_status_carries_its_code() {
    let world = World::start().await;
    for (status, code) in [
        (401, "INVALID_API_KEY"),
        (404, "INVALID_INVOICE_ID"),
        (500, "SANDBOX_FAULT"),
        (503, "SANDBOX_FAULT"),
    ] {
        let mut fault = json!({"endpoint": "prices", "kind": "status", "status": status});
        if code != "SANDBOX_FAULT" {
            fault["code"] = json!(code);
        }
        world.inject(&fault).await;
        world.merchant().get("/prices").rejected(status, code).await;
    }
}

#[tokio::test]
async fn a_cut_body_is_shorter_than_was_promised() {
    let world = World::start().await;
    world
        .inject(&json!({"endpoint": "prices", "kind": "cut"}))
        .await;
    let response = prices(&world).await;
    assert_eq!(response.status(), 200);
    let promised = response.content_length().unwrap();
    assert!(promised > 1_000);
    let error = response.bytes().await.unwrap_err();
    assert!(error.is_body() || error.is_decode(), "{error:?}");
}

#[tokio::test]
async fn wrong_types_are_numbers_and_lists() {
    let world = World::start().await;
    let id = world.open().await;
    world
        .inject(&json!({"endpoint": "invoice", "kind": "wrong_types"}))
        .await;
    let record = world.merchant().record(&id).await;
    assert_eq!(record["transaction_status"], json!(["CHECKING"]));
    assert!(record["invoice_crypto_amount"].is_number());
}

#[tokio::test]
async fn an_empty_response_is_200_without_a_body() {
    let world = World::start().await;
    let fault = json!({"endpoint": "prices", "kind": "empty"});
    world.inject(&fault).await;
    let response = prices(&world).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.text().await.unwrap(), "");
}

#[tokio::test]
async fn the_date_is_that_of_the_clock() {
    let world = World::start().await;
    let response = prices(&world).await;
    assert_eq!(response.headers()["date"], "Tue, 14 Nov 2023 22:13:20 GMT");
}
