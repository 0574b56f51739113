//! Callbacks: COMPLETED and FAILED only, until one is accepted or eight tries have failed; lost or repeated on demand. And other
//! faults on demand: each hits exactly the calls it was planned for, and damages only the response.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use florin_sandbox::Settings;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::world::World;

type Received = UnboundedReceiver<Value>;

/// A sandbox whose callbacks arrive at a merchant that responds with this status and body.
async fn world_with_receiver(status: u16, body: &'static str) -> (World, Received) {
    async fn receive(
        State((sender, status, body)): State<(UnboundedSender<Value>, StatusCode, &'static str)>,
        bytes: Bytes,
    ) -> impl IntoResponse {
        sender
            .send(serde_json::from_slice(&bytes).unwrap())
            .unwrap();
        (status, [(header::LOCATION, "/elsewhere")], body)
    }
    let (sender, receiver) = unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/callback", listener.local_addr().unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    let app = Router::new()
        .route("/callback", post(receive))
        .route("/elsewhere", post(async || StatusCode::OK));
    let app = app.with_state((sender, status, body));
    tokio::spawn(async { axum::serve(listener, app).await });
    let world = World::start_with(Settings {
        callback_url: Some(url),
        ..Settings::default()
    })
    .await;
    (world, receiver)
}

async fn next(received: &mut Received) -> Value {
    let next = timeout(Duration::from_secs(10), received.recv()).await;
    next.expect("a callback arrives")
        .expect("the receiver runs")
}

#[tokio::test]
async fn a_callback_is_tried_eight_times_unless_the_response_is_an_empty_200() {
    for (status, body) in [(500, ""), (204, ""), (200, "OK"), (307, "")] {
        let (world, mut received) = world_with_receiver(status, body).await;
        let id = world.open().await;
        world.act(&id, "fail").await;
        for _ in 0..8 {
            assert_eq!(next(&mut received).await["invoice_id"], id);
        }
        let ninth = timeout(Duration::from_millis(200), received.recv()).await;
        assert!(ninth.is_err(), "{ninth:?}");
        let pauses = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];
        let pauses = pauses.map(Duration::from_millis);
        assert_eq!(world.clock.slept(), pauses);
    }
}

fn failed(id: &str) -> Value {
    json!({"invoice_id": id, "status": "FAILED"})
}

async fn nothing_more(received: &mut Received) {
    let more = timeout(Duration::from_millis(200), received.recv()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn a_lost_callback_never_arrives_and_a_repeated_one_arrives_twice() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let (lost, sent) = (world.open().await, world.open().await);
    let fault = json!({"endpoint": "callback", "kind": "lost"});
    world.inject(&fault).await;
    // PROCESSING has no callback that could be the lost one.
    world.pay(&lost, "exact").await;
    world.mine(1).await;
    world.act(&lost, "fail").await;
    let fault = json!({"endpoint": "callback", "kind": "repeated"});
    world.inject(&fault).await;
    world.act(&sent, "fail").await;
    let both = [next(&mut received).await, next(&mut received).await];
    assert_eq!(both, [failed(&sent), failed(&sent)]);
    nothing_more(&mut received).await;
    let journal = world.get("journal").await;
    let mut entries = journal.as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["kind"] == "callback_fault");
    let entry = entry.unwrap();
    let expected = (&json!(lost), &json!({"kind": "lost"}));
    assert_eq!((&entry["invoice_id"], &entry["fault"]), expected);
}

#[tokio::test]
async fn a_hosted_checkout_has_its_own_callback_url() {
    let (account, mut of_account) = world_with_receiver(200, "").await;
    let (own, mut of_checkout) = world_with_receiver(200, "").await;
    let request = json!({
        "client_email_id": "customer@shop.example",
        "client_preferred_fiat_currency": "USD",
        "merchant_website": "https://shop.example",
        "invoice_callback_url": own.callback_url,
    });
    let opened = account.merchant().post("/checkout", &request).ok().await;
    let id = opened["session_id"].as_str().unwrap();
    account.clock.advance(15 * 60);
    assert_eq!(next(&mut of_checkout).await, failed(id));
    nothing_more(&mut of_account).await;
}

#[tokio::test]
async fn a_status_replaces_the_call_as_often_as_planned() {
    let world = World::start().await;
    let order = world.merchant().order().await;
    let create = || world.merchant().post("/invoice", &order);
    let fault = json!({
        "endpoint": "create_invoice", "kind": "status", "status": 429, "retry_after": 7, "times": 2,
    });
    world.inject(&fault).await;
    world.merchant().prices().await;
    for _ in 0..2 {
        let response = create().0.send().await.unwrap();
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
    let order = world.merchant().order().await;
    for kind in ["garbled", "empty", "drop", "cut"] {
        let fault = json!({"endpoint": "create_invoice", "kind": kind});
        world.inject(&fault).await;
        let sent = world.merchant().post("/invoice", &order).0;
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
    world
        .inject(&json!({"kind": "slow", "delay_ms": 12_000}))
        .await;
    let response = world.merchant().get("/prices").0.send().await.unwrap();
    assert_eq!(world.clock.slept(), [Duration::from_secs(12)]);
    assert_eq!(response.headers()["date"], "Tue, 14 Nov 2023 22:13:20 GMT");
}
