//! Isolation of several stores in one proxy: an object of another store and an object that does not exist get the same
//! response, byte for byte except the request id. Origins and products of several stores are in `untrusted_client.rs` and
//! `ways_to_order.rs`, tokens in `proxy/src/auth/order_token/tests.rs`. And no secret of a world appears in a log (at level TRACE), in a response, or in
//! the database.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};
use support::{
    Checkout, HttpResponse, Reply, StoreServer, World, eventually, pay_in_full, secrets,
};

use crate::helpers::invoice_of;
use crate::program::start_program_with;

const KEY: &str = "9e1f5c3a7b2d4860a4c6e8f01b3d5f79";

type Address = fn(&StoreFixture) -> String;
type Shown = fn(&StoreFixture) -> &str;

/// Every kind of object of the store `demo`, or of no store.
struct StoreFixture {
    order: String,
    reference: String,
    event: String,
    delivery: String,
    invoice: String,
    receipt: String,
    code: String,
}

impl StoreFixture {
    async fn of(world: &World) -> Self {
        let wanted = json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1" });
        let store = world.store();
        let opened = store.open(&wanted).await.with(201);
        let order = opened.text_at("/order/id");
        let checkout = world.customer().checkout_of(&opened);
        let invoice = invoice_of(world, &checkout.choose("BTC").await).await;
        pay_in_full(world, &checkout).await;
        world.wait_for_deliveries().await;
        let event = text(&store.events_of(&order).await[0]["id"]);
        let tried = format!("/v1/deliveries?event={event}");
        let delivery = store.get(&tried).await.text_at("/deliveries/0/id");
        let receipt = checkout.get("/receipt").await.with(200);
        Self {
            order,
            reference: "lamp-1".to_owned(),
            event,
            delivery,
            invoice,
            receipt: receipt.text_at("/token"),
            code: receipt.text_at("/code"),
        }
    }

    fn unknown() -> Self {
        let (zeros, hash) = ("0".repeat(32), "0".repeat(16));
        Self {
            order: format!("ord_{zeros}"),
            reference: "nobodys".to_owned(),
            event: format!("evt_{zeros}_1_{hash}"),
            delivery: format!("dlv_{zeros}_1_{hash}_1"),
            invoice: "inv_nobodys".to_owned(),
            receipt: "a.b.c".to_owned(),
            code: "00000-00000-00000-00000-00000-00000-00000-00000".to_owned(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_same(what: &str, status: u16, for_another: &HttpResponse, for_unknown: &HttpResponse) {
    assert_eq!(for_another.status, status, "{what}: {}", for_another.text);
    assert_eq!(for_another.status, for_unknown.status, "{what}");
    assert_eq!(
        for_another.without_request_id(),
        for_unknown.without_request_id(),
        "{what}"
    );
    let names = |response: &HttpResponse| {
        let names = response.headers.keys().map(ToString::to_string);
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(for_another), names(for_unknown), "{what}");
}

#[tokio::test]
async fn another_stores_server_finds_nothing() {
    let world = World::with(|config| config.store = "gateway_access = true".to_owned()).await;
    let demo = StoreFixture::of(&world).await;
    let unknown = StoreFixture::unknown();
    let other = world.other_store();
    let reads: [(u16, Address); 9] = [
        (404, |has| format!("/v1/orders/{}", has.order)),
        (404, |has| format!("/v1/orders/{}/receipt", has.order)),
        (200, |has| format!("/v1/orders?reference={}", has.reference)),
        (400, |has| format!("/v1/orders?after={}", has.order)),
        (400, |has| format!("/v1/events?after={}", has.event)),
        (404, |has| format!("/v1/deliveries?event={}", has.event)),
        (404, |has| format!("/v1/deliveries?after={}", has.delivery)),
        (404, |has| format!("/v1/gateway/invoice?id={}", has.invoice)),
        (404, |has| {
            format!("/v1/gateway/invoice?id={}&hist=true", has.invoice)
        }),
    ];
    for (status, address) in reads {
        let (its, nobodys) = (address(&demo), address(&unknown));
        // Its own store gets another response: the path is valid.
        world.store().get(&its).await.with(200);
        let for_another = other.get(&its).await;
        let for_unknown = other.get(&nobodys).await;
        assert_same(&its, status, &for_another, &for_unknown);
        assert!(!for_another.text.contains("lamp"), "{}", for_another.text);
    }
    let writes: [Address; 2] = [
        |has| format!("/v1/orders/{}/cancel", has.order),
        |has| format!("/v1/events/{}/redeliver", has.event),
    ];
    for address in writes {
        let (its, nobodys) = (address(&demo), address(&unknown));
        for other in [other.clone(), other.with_idempotency_key(KEY)] {
            let for_another = other.post(&its, &json!({})).await;
            let for_unknown = other.post(&nobodys, &json!({})).await;
            assert_same(&its, 404, &for_another, &for_unknown);
        }
    }
    let shown: [Shown; 2] = [|has| &has.receipt, |has| &has.code];
    for shown in shown {
        let verify = async |store: &StoreServer, has: &StoreFixture| {
            let presented = json!({ "receipt": shown(has) });
            store.post("/v1/receipts/verify", &presented).await
        };
        let own = verify(&world.store(), &demo).await.with(200);
        assert_eq!(own.body["valid"], true);
        let for_another = verify(&other, &demo).await;
        let for_unknown = verify(&other, &unknown).await;
        assert_same(shown(&demo), 200, &for_another, &for_unknown);
        assert_eq!(for_another.body, json!({ "valid": false }));
    }
    for list in ["/v1/orders", "/v1/events", "/v1/deliveries"] {
        let page = other.get(list).await.with(200).body;
        let members = page.as_object().unwrap().values().next().unwrap();
        assert_eq!(members, &json!([]), "{list}");
    }
    let webhook = other.get("/v1/webhooks").await.with(200).body;
    assert_eq!(webhook, json!({ "webhooks": [] }));
    world.end().await;
}

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
