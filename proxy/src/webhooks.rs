//! Webhooks: one signed POST for each event.

pub(crate) mod address_filter;
pub(crate) mod schedule;
pub(crate) mod send;
pub(crate) mod sign;

pub use send::{SendOutcome, StoreResponse, WebhookSender, Webhooks};
pub use sign::{WebhookSecret, WebhookSecrets};

use florin_orders::{Event, EventId, EventType, OrderId, StoreId};
use jiff::Timestamp;

use crate::clock::RandomBytes;
use crate::config::Webhook;

/// The type of an operator's test event: a receiver that ships on `order.paid` alone ignores it.
pub(crate) const TEST_EVENT: &str = "webhook.test";

/// Values that no JSON library writes as they are written here: numbers, escapes, characters outside ASCII, the order of keys. A
/// receiver that verifies the signature of what it has parsed and written again fails the test, and not an order's event.
const AS_WRITTEN: &str = r#"{"z":1.0,"price":4.20e1,"10":9007199254740993,"2":"café \u00e9 日本 <&> https:\/\/shop.example/"}"#;

pub(crate) fn test_payload(store: &StoreId, now: Timestamp) -> String {
    format!(
        r#"{{"type":"{TEST_EVENT}","timestamp":"{now}","data":{{"store":"{store}","as_written":{AS_WRITTEN}}}}}"#
    )
}

/// Delivers an event that is signed with a secret drawn for it, by the rules of all deliveries. An endpoint that verifies
/// refuses it.
pub async fn probe(
    sender: &WebhookSender,
    store: &StoreId,
    webhook: &Webhook,
    random: &dyn RandomBytes,
    now: Timestamp,
) -> SendOutcome {
    let (mut secret, mut order) = ([0; 32], [0; 16]);
    random.fill(&mut secret);
    random.fill(&mut order);
    let order_id = OrderId::from_random(order);
    let payload = format!(r#"{{"type":"florin.probe","timestamp":"{now}","data":{{}}}}"#);
    let event = Event {
        position: 0,
        id: EventId::of(&order_id, 1, &payload),
        store_id: store.clone(),
        order_id,
        sequence: 1,
        event_type: EventType::Created,
        kind: "florin.probe".to_owned(),
        created_at: now,
        payload,
    };
    let webhook = Webhook {
        url: webhook.url.clone(),
        secrets: WebhookSecrets::new(vec![WebhookSecret::new(secret.to_vec())]),
        dangerous_allow_private_targets: webhook.dangerous_allow_private_targets,
    };
    sender.send(&webhook, &event, now).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_event_is_changed_when_it_is_written_again() {
        let store = StoreId::parse("demo").unwrap();
        let payload = test_payload(&store, Timestamp::UNIX_EPOCH);
        let parsed: serde_json::Value = serde_json::from_str(&payload).unwrap();
        assert_eq!(parsed["type"], TEST_EVENT);
        assert_eq!(parsed["data"]["store"], "demo");
        let strings = &parsed["data"]["as_written"]["2"];
        assert_eq!(strings, "café é 日本 <&> https://shop.example/");
        assert_ne!(parsed.to_string(), payload);
        // A writer escapes every character of a kind, or none of it, and writes whole numbers in one way.
        for both in [["é", r"\u00e9"], [r"\/", "e/"], ["1.0", "4.20e1"]] {
            assert!(both.iter().all(|form| payload.contains(form)), "{both:?}");
        }
    }
}
