//! Callbacks: COMPLETED and FAILED only, until one is accepted or eight tries have failed; lost or repeated on demand.

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
