//! Faults on demand: each hits exactly the calls it was planned for, and damages only the response.

use std::time::Duration;

use reqwest::Response;
use serde_json::{Value, json};

use crate::world::World;

/// GET /prices with this fault.
async fn prices_with(world: &World, mut fault: Value) -> reqwest::Result<Response> {
    fault["endpoint"] = json!("prices");
    world.inject(&fault).await;
    world.merchant().get("/prices").request().send().await
}

#[tokio::test]
async fn a_status_replaces_the_call_as_often_as_planned() {
    let world = World::start().await;
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    let create = || world.merchant().post("/invoice", &order);
    let fault = json!({
        "endpoint": "create_invoice", "kind": "status", "status": 429, "retry_after": 7, "times": 2,
    });
    world.inject(&fault).await;
    world.merchant().prices().await;
    for _ in 0..2 {
        let response = create().request().send().await.unwrap();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "7");
    }
    assert_eq!(world.get("invoices").await, json!([]));
    create().ok().await;
    let unauthorized = json!({"kind": "status", "status": 401, "code": "INVALID_API_KEY"});
    world.inject(&unauthorized).await;
    create().rejected(401, "INVALID_API_KEY").await;
    world
        .inject(&json!({"kind": "status", "status": 503}))
        .await;
    create().rejected(503, "SANDBOX_FAULT").await;
}

#[tokio::test]
async fn a_damaged_response_leaves_the_work_done() {
    let world = World::start().await;
    let order = world.merchant().order("USDTTRC20", "20", "20.00").await;
    for kind in ["garbled", "empty", "drop", "cut"] {
        let fault = json!({"endpoint": "create_invoice", "kind": kind});
        world.inject(&fault).await;
        let sent = world.merchant().post("/invoice", &order).request();
        match (kind, sent.send().await) {
            ("drop", Err(error)) => assert!(error.is_request(), "{error}"),
            ("cut", Ok(response)) => {
                assert!(response.content_length().unwrap() > 100);
                response.bytes().await.unwrap_err();
            }
            ("empty", Ok(response)) => assert_eq!(response.text().await.unwrap(), ""),
            (_, Ok(response)) => {
                let text = response.text().await.unwrap();
                assert!(text.starts_with('{'), "{text}");
                serde_json::from_str::<Value>(&text).unwrap_err();
            }
            (kind, Err(error)) => panic!("{kind}: {error}"),
        }
    }
    let invoices = world.get("invoices").await;
    assert_eq!(invoices.as_array().unwrap().len(), 4);
    let id = invoices[0]["id"].as_str().unwrap();
    world.inject(&json!({"kind": "wrong_types"})).await;
    let record = world.merchant().record(id).await;
    assert_eq!(record["transaction_status"], json!(["CHECKING"]));
    assert!(record["invoice_crypto_amount"].is_number());
}

#[tokio::test]
async fn a_slow_response_waits_as_long_as_planned_and_has_the_date_of_the_clock() {
    let world = World::start().await;
    let fault = json!({"kind": "slow", "delay_ms": 12_000});
    let response = prices_with(&world, fault).await.unwrap();
    assert_eq!(world.clock.slept(), [Duration::from_secs(12)]);
    assert_eq!(response.headers()["date"], "Tue, 14 Nov 2023 22:13:20 GMT");
}
