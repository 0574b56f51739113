//! Steps that many journeys share.

use serde_json::Value;
use support::World;

/// What happened, in order: `order.created`, …
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let types = events.iter().map(|event| event["type"].as_str().unwrap());
    types.collect()
}

/// The numbers of the events.
pub(crate) fn sequences(events: &[Value]) -> Vec<u64> {
    let numbers = events
        .iter()
        .map(|event| event["data"]["sequence"].as_u64());
    numbers.map(Option::unwrap).collect()
}

/// What the store was told of an order, all of it and in order: read back, and as it was delivered.
pub(crate) async fn told(world: &World, order: &str) -> Vec<String> {
    world.wait_for_deliveries().await;
    let events = world.store().events_of(order).await;
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(world.webhooks.event_types(order), types(&events));
    types(&events).into_iter().map(str::to_owned).collect()
}

/// How often the store was told, in all its events, that an order is paid.
pub(crate) async fn times_paid(world: &World, order: &str) -> usize {
    let events = world.store().events_of(order).await;
    let types = types(&events);
    types
        .into_iter()
        .filter(|kind| *kind == "order.paid")
        .count()
}

/// The next `order` of the stream.
pub(crate) async fn next_order(stream: &mut reqwest::Response, heard: &mut String) -> Value {
    next_or_end(stream, heard)
        .await
        .expect("the stream goes on")
}

/// The same; `None` at its end.
pub(crate) async fn next_or_end(
    stream: &mut reqwest::Response,
    heard: &mut String,
) -> Option<Value> {
    loop {
        if let Some((event, rest)) = heard.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let view = data.map(|data| serde_json::from_str(data).unwrap());
            assert!(data.is_none() || event.contains("event: order"), "{event}");
            let rest = rest.to_owned();
            *heard = rest;
            match view {
                Some(view) => return Some(view),
                None => continue,
            }
        }
        let bound = std::time::Duration::from_secs(20);
        let chunk = tokio::time::timeout(bound, stream.chunk()).await;
        let chunk = chunk
            .expect("the stream says something within 20 s")
            .unwrap()?;
        heard.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}
