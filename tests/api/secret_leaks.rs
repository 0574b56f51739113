//! No secret of a world appears in a log (at level TRACE), in a response, or in the database.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::json;
use support::{Checkout, HttpResponse, Reply, World, eventually, pay_in_full, secrets};

use crate::program::start_program_with;

const CANARIES: [&str; 12] = [
    secrets::API_KEY,
    secrets::API_SECRET,
    secrets::CALLBACK_TOKEN,
    secrets::STORE_KEY,
    secrets::TOKEN_KEY,
    secrets::NEXT_TOKEN_KEY,
    secrets::OTHER_TOKEN_KEY,
    secrets::WEBHOOK,
    secrets::WEBHOOK_BYTES,
    secrets::OPERATOR_TOKEN,
    secrets::OPERATOR_HASH,
    secrets::OPERATOR_PASSWORD,
];

/// Returns the secret in every encoding that is searched for.
fn encodings(secret: &str) -> Vec<String> {
    let mut found = vec![
        secret.to_owned(),
        hex::encode(secret),
        hex::encode_upper(secret),
    ];
    // The base64 text depends on the secret's offset in a group of three bytes.
    for before in 0..3 {
        let padded = [&"x".repeat(before), secret].concat();
        let encoded = STANDARD_NO_PAD.encode(padded);
        let whole = encoded.len() / 4 * 4;
        found.push(encoded[before * 8 / 6 + usize::from(before > 0)..whole].to_owned());
    }
    found.push(STANDARD.encode(secret));
    found
}

pub(crate) fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|part| part == needle.as_bytes())
}

pub(crate) fn secrets_in(haystack: &[u8]) -> Vec<&'static str> {
    let shown = |secret: &&str| {
        encodings(secret)
            .iter()
            .any(|encoded| contains(haystack, encoded))
    };
    CANARIES.into_iter().filter(shown).collect()
}

#[test]
fn a_secret_is_found_in_every_encoding() {
    let secret = secrets::API_SECRET;
    for before in 0..3 {
        let text = format!("{}{secret} and more", "y".repeat(before));
        for shown in [text.clone(), hex::encode(&text), STANDARD.encode(&text)] {
            assert_eq!(secrets_in(shown.as_bytes()), [secret], "{shown}");
        }
    }
    assert_eq!(secrets_in(b"canary-api-secret"), [""; 0]);
}

#[derive(Default)]
struct Notes(String);

impl Notes {
    fn note(&mut self, response: HttpResponse) -> HttpResponse {
        let _ = writeln!(self.0, "{:?} {}", response.headers, response.text);
        response
    }
}

/// A purchase with every failure on the way.
async fn run_failing_purchases(world: &World, notes: &mut Notes) -> Checkout {
    let order = json!({ "amount": "20.00", "currency": "USD", "reference": "canary" });
    let opened = notes.note(world.store().open(&order).await.with(201));
    let checkout = world.customer().checkout_of(&opened);
    for kind in ["garbled", "drop"] {
        let fault = json!({ "endpoint": "any", "kind": kind, "times": 3 });
        world.sandbox().inject_fault(fault).await;
        notes.note(checkout.get("/quotes").await);
        world.sandbox().clear_faults().await;
        eventually("prices are available again", async || {
            (checkout.get("/quotes").await.status == 200).then_some(())
        })
        .await;
    }
    let refused = json!({ "endpoint": "create_invoice", "kind": "status", "status": 401 });
    world.sandbox().inject_fault(refused).await;
    notes.note(checkout.request_attempt("BTC").await.with(503));
    let change = json!({ "qr_string": "bitcoin:unknown" });
    world.sandbox().override_next_invoice(change).await;
    notes.note(checkout.request_attempt("BTC").await.with(200));
    notes.note(checkout.request_attempt("LTC").await.with(200));
    world.webhooks.reply_with(Reply::Status(500));
    notes.note(checkout.post("/paid", &json!({})).await.with(200));
    world.webhooks.reply_with(Reply::Accept);
    pay_in_full(world, &checkout).await;
    world.wait_for_deliveries().await;
    checkout
}

/// Every other endpoint, with valid and invalid requests.
async fn call_every_endpoint(world: &World, order: &str, notes: &mut Notes) {
    let store = world.store();
    notes.note(store.with_key("wrong").get("/v1/orders").await.with(401));
    let nonsense = json!({ "amount": 1 });
    notes.note(store.post("/v1/orders", &nonsense).await.with(400));
    for path in ["/v1/orders", "/v1/events", &format!("/v1/orders/{order}")] {
        notes.note(store.get(path).await.with(200));
    }
    for event in store.events_of(order).await {
        let id = event["id"].as_str().unwrap();
        let path = format!("/v1/deliveries?event={id}");
        notes.note(store.get(&path).await.with(200));
    }
    let token = secrets::CALLBACK_TOKEN;
    let callback = format!("{}/callbacks/{token}", world.proxy_url());
    for (body, status) in [("{\"invoice_id\":\"x\"}", 200), ("garbage", 400)] {
        let response = world.http().post(&callback).body(body).send().await;
        let response = response.unwrap();
        notes.note(HttpResponse::read(response).await.with(status));
    }
    notes.note(world.get(&format!("/callbacks/{token}")).await.with(405));
    for path in ["/health/live", "/health/ready", "/metrics"] {
        notes.note(world.get_admin(path).await.with(200));
    }
}

#[tokio::test]
async fn no_secret_leaves_the_proxy() {
    let mut world = World::start().await;
    let mut program = start_program_with(&mut world, &[("FLORIN_LOG", "trace")]).await;

    let mut notes = Notes::default();
    let checkout = run_failing_purchases(&world, &mut notes).await;
    call_every_endpoint(&world, &checkout.order, &mut notes).await;
    assert_eq!(secrets_in(notes.0.as_bytes()), [""; 0]);

    for ending in ["", "-wal", "-shm"] {
        let file = format!("{}{ending}", world.database().display());
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(secrets_in(&bytes), [""; 0], "{file}");
        // A client token is stored as a hash.
        assert!(!contains(&bytes, checkout.token()), "{file}");
    }

    assert_eq!(program.stop().await, Some(0));
    let printed = program.printed();
    for text in ["\"level\":\"TRACE\"", "gateway called"] {
        assert!(
            printed.contains(text),
            "the log was not at its most talkative"
        );
    }
    for line in printed.lines() {
        assert_eq!(secrets_in(line.as_bytes()), [""; 0], "{line}");
        assert!(!line.contains(checkout.token()), "{line}");
    }
    world.end().await;
}
