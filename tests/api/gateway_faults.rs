//! The gateway is down, slow, broken or over its limit: the client gets a clear error, nothing is lost, and the proxy continues.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, HttpResponse, World, eventually, pause, pay_in_full};

use crate::helpers::{invoice_of, paid_event_count, wait_for_event};

/// A failure is shared for two seconds.
const A_MOMENT: Duration = Duration::from_secs(3);

async fn readiness(world: &World) -> HttpResponse {
    world.get_admin("/health/ready").await
}

#[track_caller]
fn retry_after(response: HttpResponse) -> u64 {
    let response = response.refused(503, "gateway_unavailable");
    response.header("retry-after").unwrap().parse().unwrap()
}

async fn request_attempt_at(checkout: &Checkout, quote: &Value) -> HttpResponse {
    let choice = json!({ "crypto_code": quote["crypto_code"], "quote_id": quote["quote_id"] });
    checkout.post("/attempt", &choice).await
}

#[tokio::test]
async fn without_the_gateway_no_attempt_opens_and_no_order_is_lost() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    world.gateway_link.cut().await;
    assert_eq!(retry_after(checkout.get("/quotes").await), 5);
    assert_eq!(checkout.view().await["status"], "open");
    readiness(&world).await.with(200);
    world.gateway_link.restore().await;
    world.skip(A_MOMENT);
    let quote = checkout.quote("BTC").await;
    world.gateway_link.cut().await;
    assert_eq!(retry_after(request_attempt_at(&checkout, &quote).await), 5);
    assert_eq!(checkout.view().await["attempt"], Value::Null);
    world.gateway_link.restore().await;
    request_attempt_at(&checkout, &quote).await.with(200);
    pay_in_full(&world, &checkout).await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

/// That it is sent once, whatever becomes of the response, is in `crates/gateway/tests/it/calls.rs`.
#[tokio::test]
async fn an_invoice_with_a_lost_response_is_not_requested_again_and_belongs_to_no_order() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    let lost = json!({ "endpoint": "create_invoice", "kind": "drop" });
    world.sandbox().inject_fault(lost).await;
    retry_after(request_attempt_at(&checkout, &quote).await);
    let invoices = world.sandbox().invoices().await;
    assert_eq!(invoices.len(), 1, "sent again without being asked to");
    let lost = invoices[0]["id"].as_str().unwrap();
    // Its address was never shown; the gateway reports it all the same.
    world.sandbox().settle_invoice(lost, "exact").await;
    // Time for a poll that must not be sent.
    pause(Duration::from_millis(1500)).await;
    let polls = world.sandbox().count("GET", "/invoice").await;
    assert_eq!(polls, 0, "a callback for an unknown invoice causes no poll");
    assert_eq!(checkout.view().await["status"], "open");
    // A new attempt is possible at once and has another invoice.
    let second = request_attempt_at(&checkout, &quote).await.with(200).body;
    assert_ne!(invoice_of(&world, &second).await, lost);
    pay_in_full(&world, &checkout).await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    readiness(&world).await.with(200);
    world.end().await;
}

#[tokio::test]
async fn an_outage_opens_the_circuit_and_only_delays_a_payment() {
    let mut world = World::with(|config| config.callbacks = false).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    assert_eq!(checkout.view().await["delayed"], false);
    world.gateway_link.cut().await;
    eventually(
        "the circuit is open and the page shows the delay",
        async || {
            let is_delayed = checkout.view().await["delayed"] == true;
            let ready = readiness(&world).await.body;
            (is_delayed && ready["gateway"]["circuit"] == "open").then_some(())
        },
    )
    .await;
    let ready = readiness(&world).await.body;
    assert_eq!(ready["gateway"]["status"], "not answering");
    assert!(world.logged("the gateway is down"));
    world.sandbox().settle(&checkout, "exact").await;
    // Time for a credit that must not happen while the gateway cannot be reached.
    pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    world.gateway_link.restore().await;
    world.skip(Duration::from_mins(1));
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["delayed"], false);
    let ready = readiness(&world).await.body;
    assert_eq!(ready["gateway"]["circuit"], "closed");
    assert!(world.logged("the gateway is up again"));
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

/// Every rule of pauses and rates is in `crates/gateway/src/client/limits`.
#[tokio::test]
async fn a_limit_of_the_gateway_is_kept_and_an_excessive_one_is_an_error_until_an_answer() {
    let world = World::start().await;
    world.expect_error("the gateway asks for a pause that would stop payments");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let limit = async |seconds: u32| {
        let limit = json!({
            "endpoint": "prices", "kind": "status", "status": 429, "retry_after": seconds,
        });
        world.sandbox().inject_fault(limit).await;
        world.wait_for_deliveries().await;
        world.skip(Duration::from_mins(2));
        retry_after(checkout.get("/quotes").await)
    };
    assert_eq!(limit(30).await, 30);
    assert!(world.logged("the gateway limits us"));
    let calls = world.sandbox().calls().await.len();
    let left = retry_after(checkout.get("/quotes").await);
    assert!((20..=30).contains(&left), "{left}");
    // Polling an attempt is a call as well.
    checkout.view().await;
    pause(Duration::from_secs(1)).await;
    let sent = world.sandbox().calls().await.len() - calls;
    assert_eq!(sent, 0, "called within Retry-After");

    limit(4_000_000).await;
    let gateway = readiness(&world).await.with(503).body["gateway"].clone();
    assert_eq!(gateway["pause_excessive"], true);
    assert!(gateway["pause_seconds"].as_u64().unwrap() <= 300);
    world.skip(Duration::from_mins(5));
    pay_in_full(&world, &checkout).await;
    readiness(&world).await.with(200);
    world.end().await;
}

/// The system clock is an hour ahead when the order is opened, and is then set back.
#[tokio::test]
async fn a_clock_that_is_set_back_delays_no_poll_and_no_webhook() {
    let world = World::with(|config| config.callbacks = false).await;
    let hour = Duration::from_hours(1);
    world.skip(hour);
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    world.wait_for_deliveries().await;
    world.clock.set_back(hour);
    eventually("the set-back is noticed", async || {
        let warning = "this machine's clock was set back";
        world.logged(warning).then_some(())
    })
    .await;
    world.sandbox().settle_invoice(&invoice, "exact").await;
    let left = checkout.view().await["attempt"]["expires_in_seconds"].clone();
    assert!(left.as_u64().unwrap() <= 900, "{left}");
    wait_for_event(&world, &checkout.order, "order.paid").await;
    world.end().await;
}
