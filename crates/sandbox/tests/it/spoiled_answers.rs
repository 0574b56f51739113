//! Every way in which an answer can be spoiled, as it comes over the wire.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::callbacks::open;
use crate::world::World;

async fn spoil(world: &World, fault: &Value) {
    world.control("faults", &fault.to_string()).await;
}

async fn prices(world: &World) -> reqwest::Response {
    let no_redirect = world.merchant().get("/prices").request();
    no_redirect.send().await.unwrap()
}

#[tokio::test]
async fn a_pause_is_asked_for_in_seconds_or_until_a_moment() {
    let world = World::start().await;
    let fault = json!({"endpoint": "prices", "kind": "status", "status": 429, "retry_after": 90, "retry_after_date": true});
    spoil(&world, &fault).await;
    let answer = prices(&world).await;
    assert_eq!(answer.status(), 429);
    assert_eq!(
        answer.headers()["retry-after"],
        "Tue, 14 Nov 2023 22:14:50 GMT"
    );
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "status", "status": 429}),
    )
    .await;
    assert_eq!(prices(&world).await.headers().get("retry-after"), None);
}

#[tokio::test]
async fn a_planned_status_carries_the_code_that_was_asked_for() {
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
        spoil(&world, &fault).await;
        world.merchant().get("/prices").refused(status, code).await;
    }
}

#[tokio::test]
async fn a_shapeless_refusal_has_neither_shape() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "any", "kind": "shapeless", "status": 400}),
    )
    .await;
    let (status, body) = world.merchant().get("/prices").send().await;
    assert_eq!((status, body), (400, json!({"detail": "Bad Request"})));
}

#[tokio::test]
async fn a_cut_body_is_shorter_than_was_promised() {
    let world = World::start().await;
    spoil(&world, &json!({"endpoint": "prices", "kind": "cut"})).await;
    let answer = prices(&world).await;
    assert_eq!(answer.status(), 200);
    let promised = answer.content_length().unwrap();
    assert!(promised > 1_000);
    let error = answer.bytes().await.unwrap_err();
    assert!(error.is_body() || error.is_decode(), "{error:?}");
}

#[tokio::test]
async fn a_slow_body_takes_a_second_for_each_byte() {
    let world = World::start().await;
    let id = open(&world).await;
    spoil(&world, &json!({"endpoint": "invoice", "kind": "slow_body"})).await;
    let body = world
        .merchant()
        .get(&format!("/invoice?id={id}"))
        .ok()
        .await
        .to_string();
    let slept = world.clock.slept();
    assert_eq!(slept, vec![Duration::from_secs(1); body.len()]);
}

#[tokio::test]
async fn slow_headers_take_a_second_for_each_drop() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "any", "kind": "slow_headers", "bytes_per_second": 10}),
    )
    .await;
    let host = world.address.strip_prefix("http://").unwrap();
    let mut connection = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("GET /api/prices HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 401"));
    let drops = world.clock.slept().len();
    assert_eq!(drops, answer.len().div_ceil(10));
}

#[tokio::test]
async fn numbers_and_lists_stand_where_texts_are_due() {
    let world = World::start().await;
    let id = open(&world).await;
    spoil(
        &world,
        &json!({"endpoint": "invoice", "kind": "wrong_types"}),
    )
    .await;
    let record = world.merchant().record(&id).await;
    assert_eq!(record["transaction_status"], json!(["CHECKING"]));
    assert!(record["invoice_crypto_amount"].is_number());
}

#[tokio::test]
async fn duplicate_keys_say_two_things() {
    let world = World::start().await;
    let id = open(&world).await;
    spoil(
        &world,
        &json!({"endpoint": "invoice", "kind": "duplicate_keys"}),
    )
    .await;
    let call = world.merchant().get(&format!("/invoice?id={id}"));
    let text = call.request().send().await.unwrap().text().await.unwrap();
    let status = r#""transaction_status":"CHECKING","transaction_status":"COMPLETED""#;
    assert!(text.contains(status), "{text}");
}

#[tokio::test]
async fn a_huge_body_is_as_huge_as_was_asked_for() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "huge", "bytes": 3_000_000}),
    )
    .await;
    assert!(prices(&world).await.bytes().await.unwrap().len() > 3_000_000);
}

#[tokio::test]
async fn a_content_type_a_page_or_nothing_comes_instead() {
    let world = World::start().await;
    let content_type = |answer: &reqwest::Response| {
        answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "content_type", "value": "text/plain"}),
    )
    .await;
    let answer = prices(&world).await;
    assert_eq!(
        (answer.status().as_u16(), content_type(&answer).as_str()),
        (200, "text/plain")
    );
    spoil(&world, &json!({"endpoint": "prices", "kind": "html"})).await;
    let answer = prices(&world).await;
    assert_eq!(content_type(&answer), "text/html; charset=utf-8");
    assert!(answer.text().await.unwrap().starts_with("<!doctype html>"));
    spoil(&world, &json!({"endpoint": "prices", "kind": "empty"})).await;
    let answer = prices(&world).await;
    assert_eq!(
        (answer.status().as_u16(), answer.text().await.unwrap()),
        (200, String::new())
    );
}

#[tokio::test]
async fn a_redirect_names_another_address() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "redirect", "location": "/sandbox/rules"}),
    )
    .await;
    let answer = prices(&world).await;
    assert_eq!(answer.url().path(), "/sandbox/rules");
}

#[tokio::test]
async fn a_refusal_comes_with_200() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "error_inside"}),
    )
    .await;
    let (status, body) = world.merchant().get("/prices").send().await;
    assert_eq!((status, &body["code"]), (200, &json!("INVALID_REQUEST")));
}

#[tokio::test]
async fn the_record_is_anothers_or_has_anothers_address_or_an_unknown_word() {
    let world = World::start().await;
    let (other, id) = (open(&world).await, open(&world).await);
    let truth = world.merchant().record(&id).await;
    spoil(
        &world,
        &json!({"endpoint": "invoice", "kind": "other_invoice"}),
    )
    .await;
    assert_eq!(world.merchant().record(&id).await["invoice_id"], other);
    spoil(
        &world,
        &json!({"endpoint": "invoice", "kind": "changed_address"}),
    )
    .await;
    let changed = world.merchant().record(&id).await;
    assert_ne!(changed["wallet_address"], truth["wallet_address"]);
    assert_eq!(changed["wallet_address"].as_str().unwrap().len(), 34);
    assert_eq!(changed["invoice_id"], id);
    spoil(
        &world,
        &json!({"endpoint": "invoice", "kind": "status_word", "word": "REFUNDED"}),
    )
    .await;
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "REFUNDED"
    );
    assert_eq!(world.merchant().record(&id).await, truth);
}

#[tokio::test]
async fn a_share_goes_on_until_it_is_called_off() {
    let world = World::start().await;
    spoil(
        &world,
        &json!({"endpoint": "prices", "kind": "status", "status": 500, "share_percent": 50}),
    )
    .await;
    let mut failed = 0;
    for _ in 0..40 {
        failed += u32::from(prices(&world).await.status() == 500);
    }
    assert!((10..=30).contains(&failed), "{failed}");
    let plans = world.get("faults").await;
    assert_eq!(
        (&plans[0]["share_percent"], &plans[0]["times"]),
        (&json!(50), &json!(null))
    );
}
