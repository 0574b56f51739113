//! Helpers that many tests share.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, HttpResponse, World, eventually, pause};

/// Returns the types of the events in order: `order.created`, …
pub(crate) fn event_types(events: &[Value]) -> Vec<&str> {
    let event_types = events.iter().map(|event| event["type"].as_str().unwrap());
    event_types.collect()
}

pub(crate) fn sequences(events: &[Value]) -> Vec<u64> {
    let numbers = events
        .iter()
        .map(|event| event["data"]["sequence"].as_u64());
    numbers.map(Option::unwrap).collect()
}

/// Waits until every event of an order is delivered. Returns their types in order, and checks that the event log and
/// the webhook agree.
pub(crate) async fn delivered_events(world: &World, order: &str) -> Vec<String> {
    world.wait_for_deliveries().await;
    let events = world.store().events_of(order).await;
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(world.webhooks.event_types(order), event_types(&events));
    event_types(&events)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// Moves the clock by `step` again and again until the probe returns `true`. Each step leaves real time for a delivery:
/// the clock times out one that is under way.
pub(crate) async fn skip_until(
    world: &World,
    step: Duration,
    what: &str,
    probe: impl Fn() -> bool,
) {
    eventually(what, async || {
        world.skip(step);
        pause(Duration::from_millis(100)).await;
        probe().then_some(())
    })
    .await;
}

pub(crate) async fn paid_event_count(world: &World, order: &str) -> usize {
    let events = world.store().events_of(order).await;
    let event_types = event_types(&events);
    event_types
        .into_iter()
        .filter(|kind| *kind == "order.paid")
        .count()
}

pub(crate) async fn wait_for_event(world: &World, order: &str, kind: &str) {
    eventually(kind, async || {
        let delivered = world.webhooks.event_types(order);
        delivered.iter().any(|event| event == kind).then_some(())
    })
    .await;
}

pub(crate) async fn invoice_of(world: &World, view: &Value) -> String {
    let address = view["attempt"]["address"].as_str().unwrap();
    world.sandbox().invoice_of(address).await
}

pub(crate) struct Stream {
    response: reqwest::Response,
    buffer: String,
}

impl Stream {
    pub(crate) async fn open(page: &Checkout) -> Self {
        let response = page.stream().await;
        assert_eq!(response.status(), 200);
        let content = &response.headers()["content-type"];
        assert_eq!(content, "text/event-stream");
        let buffer = String::new();
        Self { response, buffer }
    }

    /// The next `order`, null for a comment, `None` at the stream's end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let view = data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
                assert!(data.is_none() || event.contains("event: order"), "{event}");
                let rest = rest.to_owned();
                self.buffer = rest;
                return Some(view);
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await;
            let chunk = chunk.expect("the stream sends something within 20 s");
            // A connection that was cut is an end, too.
            let chunk = chunk.ok().flatten()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next `order` that is wanted, `None` at the stream's end.
    pub(crate) async fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let message = self.message().await?;
            if !message.is_null() && is_wanted(&message) {
                return Some(message);
            }
        }
    }

    pub(crate) async fn status(&mut self, status: &str) -> Value {
        let found = self.until(|view| view["status"] == status).await;
        found.expect("the stream is open")
    }
}

/// Repeats a request until it is refused for its rate. Returns how often it was permitted, and the refusal.
pub(crate) async fn until_limited(
    request: impl AsyncFn(usize) -> HttpResponse,
) -> (usize, HttpResponse) {
    for permitted in 0..240 {
        let response = request(permitted).await;
        if response.status == 429 {
            assert!(response.header("retry-after").is_some());
            return (permitted, response);
        }
    }
    panic!("the rate limit never applies");
}

pub(crate) fn ebook() -> Value {
    json!({ "store": "demo", "product": "ebook" })
}

pub(crate) fn lamp() -> Value {
    json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp" })
}
