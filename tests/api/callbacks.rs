//! Callbacks are hints: forged, repeated or wrong ones change nothing and cost a bounded number of calls to the gateway.

use futures_util::future::join_all;
use serde_json::json;
use support::{HttpResponse, World, pay_in_full, secrets};

use crate::helpers::paid_event_count;

const FLOOD: usize = 5_000;
/// Requests in flight at a time.
const IN_FLIGHT: usize = 50;

async fn post_to(world: &World, token: &str, body: String) -> HttpResponse {
    let url = format!("{}/callbacks/{token}", world.proxy_url());
    let request = world.http().post(url).body(body);
    let request = request.header("content-type", "application/json");
    HttpResponse::read(request.send().await.unwrap()).await
}

async fn post_callback(world: &World, body: String) -> HttpResponse {
    post_to(world, secrets::CALLBACK_TOKEN, body).await
}

fn completed(invoice: &str) -> String {
    json!({ "invoice_id": invoice, "status": "COMPLETED" }).to_string()
}

async fn poll_count(world: &World) -> usize {
    world.sandbox().count("GET", "/invoice").await
}

async fn invoice_ids(world: &World) -> Vec<String> {
    let invoices = world.sandbox().invoices().await;
    let ids = invoices
        .iter()
        .map(|invoice| invoice["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// A forged callback: a wrong status of a known invoice, an unknown invoice, or a malformed body.
fn forged_callback(n: usize, known: &[String]) -> String {
    let invoice = match n % 3 {
        0 => known[n / 3 % known.len()].clone(),
        1 => format!("inv_{n:08}"),
        _ => format!("'; DROP TABLE attempts; -- {n}"),
    };
    let status = ["COMPLETED", "FAILED", "", "PAID"][n % 4];
    let callback = json!({
        "invoice_id": invoice, "status": status, "received_crypto_amount": "1000", "n": n,
    });
    match n % 10 {
        0 => "{\"invoice_id\":".to_owned(),
        1 => json!({ "invoice_id": n }).to_string(),
        _ => callback.to_string(),
    }
}

#[tokio::test]
async fn forged_callbacks_and_open_pages_change_nothing_and_cost_a_bounded_number_of_calls() {
    let world = World::with(|config| config.requests_per_second = 10).await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    for _ in 0..2 {
        world.customer().open("ebook").await.choose("LTC").await;
    }
    let known = invoice_ids(&world).await;
    assert_eq!(known.len(), 3);
    let mut streams = Vec::new();
    for _ in 0..16 {
        let mut stream = checkout.stream().await;
        stream.chunk().await.unwrap().expect("the order");
        streams.push(stream);
    }
    let (before, began) = (poll_count(&world).await, world.clock.now());
    for start in (0..FLOOD).step_by(IN_FLIGHT) {
        let numbers = start..start + IN_FLIGHT;
        let forged = numbers.map(|n| post_callback(&world, forged_callback(n, &known)));
        for (n, response) in (start..).zip(join_all(forged).await) {
            response.with(if n % 10 < 2 { 400 } else { 200 });
        }
        assert_eq!(checkout.view().await["status"], "awaiting_payment");
    }
    let took = world.clock.now().duration_since(began);
    let calls = poll_count(&world).await - before;
    // Three invoices, each once in two seconds for its callbacks, and one of them once a second for its pages.
    let bound = 8 + took.as_secs() * 5 / 2;
    assert!(
        (1..=bound).contains(&i64::try_from(calls).unwrap()),
        "{calls} calls in {took:#}, {bound} at most"
    );
    drop(streams);
    let events = world.store().events_of(&checkout.order).await;
    let count = events.len();
    assert_eq!(count, 2, "created, and its attempt opened: {events:#?}");
    pay_in_full(&world, &checkout).await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_response_distinguishes_right_tokens_and_bodies_and_no_invoices() {
    let world = World::start().await;
    world.customer().open("ebook").await.choose("BTC").await;
    let known = invoice_ids(&world).await.remove(0);
    let seen = |mut response: HttpResponse| {
        for differs in ["date", "x-request-id"] {
            response.headers.remove(differs);
        }
        (response.status, response.headers, response.text)
    };
    let first = seen(post_callback(&world, completed(&known)).await);
    assert_eq!((first.0, first.2.as_str()), (200, ""));
    let of_length = |length: usize| {
        let frame = json!({ "invoice_id": "x", "more": "" }).to_string().len();
        json!({ "invoice_id": "x", "more": "a".repeat(length - frame) }).to_string()
    };
    for body in [
        completed(&known),
        completed("inv_unknown"),
        completed(""),
        completed(&"é".repeat(500)),
        json!({ "invoice_id": "x", "more": { "is": ["ignored"] } }).to_string(),
        of_length(4096),
    ] {
        let again = seen(post_callback(&world, body.clone()).await);
        assert_eq!(again, first, "{body}");
    }
    let long = post_callback(&world, of_length(4097)).await;
    long.refused(413, "payload_too_large");
    for body in ["{}", "[]", "", "null", "{\"invoice_id\":7}"] {
        let refused = post_callback(&world, body.to_owned()).await;
        refused.refused(400, "invalid_request");
    }
    let other = "another-token-of-the-same-length-1234";
    for token in [other, "x", &secrets::CALLBACK_TOKEN[1..]] {
        for body in [completed("x"), "garbage".to_owned()] {
            let refused = post_to(&world, token, body).await;
            refused.refused(404, "not_found");
        }
    }
    world.end().await;
}
