//! The JSON that browsers, stores and endpoints receive, as snapshots: a change of it is seen in the review of the change
//! that causes it. Accept a change with `INSTA_UPDATE=always cargo test -p florin-tests --test api -- payload_snapshots`.

use std::fmt::Write as _;

use serde_json::Value;
use support::{Checkout, World, eventually};

/// Members whose values differ from run to run, or with the sandbox's rates.
const CHANGING: [&str; 18] = [
    "address",
    "amount_in_crypto",
    "as_of",
    "id",
    "invoice_id",
    "qr_string",
    "rate_in_local_currency",
    "received_in_crypto",
    "received_in_local_currency",
    "received_in_usd",
    "reference",
    "remaining_in_crypto",
    "remaining_in_local_currency",
    "return_url",
    "sequence",
    "timestamp",
    "transaction_hash",
    "version",
];

/// The same with `(string)`, `(number)` and so on in place of what changes.
fn redacted(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let redact = |(name, value): (&String, &Value)| (name.clone(), redacted(value, name));
            Value::Object(members.map(redact).collect())
        }
        Value::Array(items) => items.iter().map(|item| redacted(item, name)).collect(),
        Value::Null => Value::Null,
        Value::String(_) if is_changing(name) => "(string)".into(),
        Value::Number(_) if is_changing(name) => "(number)".into(),
        fixed => fixed.clone(),
    }
}

fn is_changing(name: &str) -> bool {
    CHANGING.contains(&name)
        || name.ends_with("_at")
        || name.ends_with("_seconds")
        || name.ends_with("_seconds_ago")
}

fn add(text: &mut String, title: &str, value: &Value) {
    let json = serde_json::to_string_pretty(&redacted(value, "")).unwrap();
    writeln!(text, "{title}\n{json}\n").unwrap();
}

/// An order that is paid in two parts. `each` is called in each status.
async fn paid_in_two_parts(world: &World, mut each: impl AsyncFnMut(&str, &Checkout)) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    each("open", &checkout).await;
    let view = checkout.choose("BTC").await;
    each("awaiting_payment", &checkout).await;
    let address = view["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    for (payment, status) in [("half", "underpaid"), ("rest", "paid")] {
        world.sandbox().pay_invoice(&invoice, payment).await;
        world.sandbox().mine(3).await;
        checkout.wait_for(status).await;
        each(status, &checkout).await;
    }
    checkout
}

#[tokio::test]
async fn what_a_browser_and_a_store_read_of_an_order_and_an_endpoint_receives() {
    let world = World::start().await;
    let mut text = String::new();
    let checkout = paid_in_two_parts(&world, async |status, checkout| {
        let path = format!("GET /v1/checkout, {status}");
        add(&mut text, &path, &checkout.view().await);
        let path = format!("GET /v1/orders/{{id}}, {status}");
        add(
            &mut text,
            &path,
            &world.store().order(&checkout.order).await,
        );
    })
    .await;
    insta::assert_snapshot!("orders", text);
    let delivered = eventually("the last event", async || {
        let accepted = world.webhooks.accepted(&checkout.order);
        let is_last = accepted.last()?.kind == "order.paid";
        is_last.then_some(accepted)
    })
    .await;
    let mut text = String::new();
    for kind in [
        "order.created",
        "order.attempt_opened",
        "order.underpaid",
        "order.paid",
    ] {
        let delivery = delivered.iter().find(|delivery| delivery.kind == kind);
        add(&mut text, "POST, a webhook", &delivery.unwrap().body);
    }
    insta::assert_snapshot!("webhooks", text);
    let paid = &delivered.last().unwrap().body;
    assert_eq!(redacted(&documented_event(), ""), redacted(paid, ""));
    world.end().await;
}

/// The complete event of the page about webhooks.
fn documented_event() -> Value {
    let page = include_str!("../../docs/reference/webhooks.md");
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (event, _) = rest.split_once("```").unwrap();
    serde_json::from_str(event).unwrap()
}
