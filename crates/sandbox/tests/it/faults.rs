//! Faults on order: each spoils exactly the calls it was planned for.

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
async fn a_planned_status_comes_instead_of_the_answer_with_its_retry_after() {
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
async fn a_fault_comes_as_often_as_planned() {
    let world = World::start().await;
    let fault = r#"{"endpoint":"any","kind":"status","status":500,"times":2}"#;
    world.control("faults", fault).await;
    for status in [500, 500, 200] {
        assert_eq!(world.merchant().get("/prices").send().await.0, status);
    }
}

#[tokio::test]
async fn a_garbled_answer_is_no_json_although_the_invoice_was_made() {
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
async fn a_slow_answer_waits_as_long_as_planned() {
    let world = World::start().await;
    let fault = r#"{"endpoint":"prices","kind":"slow","delay_ms":12000}"#;
    world.control("faults", fault).await;
    world.merchant().prices().await;
    assert_eq!(world.clock.slept(), [Duration::from_secs(12)]);
}

#[tokio::test]
async fn a_dropped_connection_has_no_answer_although_the_invoice_was_made() {
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
        (&json!(null), &json!("dropped"))
    );
    world.merchant().prices().await;
}

#[tokio::test]
async fn faults_can_be_called_off() {
    let world = World::start().await;
    world
        .control("faults", r#"{"endpoint":"any","kind":"drop","times":9}"#)
        .await;
    let url = format!("{}/sandbox/faults", world.address);
    assert_eq!(world.http.delete(url).send().await.unwrap().status(), 200);
    world.merchant().prices().await;
}
