//! Callbacks: COMPLETED and FAILED only, until one is accepted or eight have failed.

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

pub(crate) type Received = UnboundedReceiver<Value>;

/// A sandbox whose callbacks arrive at a merchant that answers with this status and body.
pub(crate) async fn world_with_receiver(status: u16, body: &'static str) -> (World, Received) {
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

pub(crate) async fn next(received: &mut Received) -> Value {
    let next = timeout(Duration::from_secs(10), received.recv()).await;
    next.expect("a callback arrives")
        .expect("the receiver runs")
}

pub(crate) async fn open(world: &World) -> String {
    let invoice = world.merchant().invoice().await;
    invoice["invoice_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn completed_and_failed_are_told_and_nothing_else() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let (paid, failed) = (open(&world).await, open(&world).await);
    world
        .control(&format!("invoices/{paid}/pay"), r#"{"amount":"exact"}"#)
        .await;
    world.control("mine", "").await;
    world.control(&format!("invoices/{failed}/fail"), "").await;
    assert_eq!(
        next(&mut received).await,
        json!({"invoice_id": failed, "status": "FAILED"})
    );
    world.control("mine", r#"{"blocks":2}"#).await;
    assert_eq!(
        next(&mut received).await,
        json!({"invoice_id": paid, "status": "COMPLETED"})
    );
}

#[tokio::test]
async fn an_invoice_that_runs_out_is_told_without_anybody_asking() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let id = open(&world).await;
    world.clock.advance(15 * 60);
    assert_eq!(
        next(&mut received).await,
        json!({"invoice_id": id, "status": "FAILED"})
    );
}

#[tokio::test]
async fn an_accepted_callback_is_not_repeated() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let (one, other) = (open(&world).await, open(&world).await);
    world.control(&format!("invoices/{one}/fail"), "").await;
    assert_eq!(next(&mut received).await["invoice_id"], one);
    world.control(&format!("invoices/{other}/fail"), "").await;
    assert_eq!(next(&mut received).await["invoice_id"], other);
    assert_eq!(world.clock.slept(), []);
}

#[tokio::test]
async fn a_callback_is_tried_eight_times_when_the_answer_is_not_an_empty_200() {
    for (status, body) in [(500, ""), (204, ""), (200, "OK"), (307, "")] {
        let (world, mut received) = world_with_receiver(status, body).await;
        let id = open(&world).await;
        world.control(&format!("invoices/{id}/fail"), "").await;
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
