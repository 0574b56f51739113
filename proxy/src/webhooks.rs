//! Webhooks: one signed POST for each event, and the schedule of its tries.

pub(crate) mod address_filter;
pub(crate) mod send;
pub(crate) mod sign;

use std::time::Duration;

use florin_orders::{Event, EventId, EventType, OrderId, StoreId};
use florin_storage::PROBE_INTERVAL;
use jiff::{SignedDuration, Timestamp};

use crate::clock::RandomBytes;
use crate::config::Webhook;

pub use send::{SendOutcome, StoreResponse, WebhookSender, Webhooks};
pub use sign::WebhookSecrets;

/// The type of an operator's test event: a receiver that ships on `order.paid` alone ignores it.
pub(crate) const TEST_EVENT: &str = "webhook.test";

/// Values that no JSON library writes as they are written here: numbers, escapes, characters outside ASCII, the order of keys. A
/// receiver that verifies the signature of what it has parsed and written again fails the test, and not an order's event.
const AS_WRITTEN: &str = r#"{"z":1.0,"price":4.20e1,"10":9007199254740993,"2":"café \u00e9 日本 <&> https:\/\/shop.example/"}"#;

pub(crate) fn test_event(store: &StoreId, id: OrderId, now: Timestamp) -> Event {
    let payload = format!(
        r#"{{"type":"{TEST_EVENT}","timestamp":"{now}","data":{{"store":"{store}","as_written":{AS_WRITTEN}}}}}"#
    );
    event_of_no_order(store, id, TEST_EVENT, payload, now)
}

/// An event that no outbox keeps: `id` is of no order.
fn event_of_no_order(
    store: &StoreId,
    id: OrderId,
    kind: &str,
    payload: String,
    now: Timestamp,
) -> Event {
    Event {
        position: 0,
        id: EventId::of(&id, 0, &payload),
        store_id: store.clone(),
        order_id: id,
        sequence: 0,
        event_type: EventType::Created,
        kind: kind.to_owned(),
        created_at: now,
        payload,
    }
}

/// Delivers an event that is signed with a secret drawn for it, by the rules of all deliveries. An endpoint that verifies
/// refuses it.
pub async fn probe(
    sender: &WebhookSender,
    webhook: &Webhook,
    random: &dyn RandomBytes,
    now: Timestamp,
) -> SendOutcome {
    const KIND: &str = "florin.probe";
    let (mut secret, mut order) = ([0; 32], [0; 16]);
    random.fill(&mut secret);
    random.fill(&mut order);
    let payload = format!(r#"{{"type":"{KIND}","timestamp":"{now}","data":{{}}}}"#);
    let (store, id) = (&webhook.key.store, OrderId::from_random(order));
    let event = event_of_no_order(store, id, KIND, payload, now);
    let webhook = Webhook {
        key: webhook.key.clone(),
        events: None,
        url: webhook.url.clone(),
        secrets: WebhookSecrets::new([secret.to_vec()]),
        dangerous_allow_private_targets: webhook.dangerous_allow_private_targets,
    };
    sender.send(&webhook, &event, now).await
}

// The retry schedule of deliveries.

/// Pauses before the tries after the first: ten tries over 75 h 35 min.
///
/// Source: Standard Webhooks 1.0.0, "Deliverability and reliability".
const PAUSES: [SignedDuration; 9] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(2),
    SignedDuration::from_hours(5),
    SignedDuration::from_hours(10),
    SignedDuration::from_hours(14),
    SignedDuration::from_hours(20),
    SignedDuration::from_hours(24),
];

/// Each pause is up to a fifth shorter or longer: stores that were down together do not get all
/// deliveries at once.
pub(crate) const JITTER_PERCENT: u64 = 20;

/// How long a delivery may take. Source: Standard Webhooks 1.0.0, "Deliverability and reliability": 15 to 30 s.
pub(crate) const LONGEST_DELIVERY: Duration = Duration::from_secs(15);

/// The pause after a failed try that followed `tries` earlier ones; `None` when that was the last. `draw` is a number from
/// 0 to twice [`JITTER_PERCENT`]. A store that asks for a longer pause gets up to twice the planned one: it can slow the
/// schedule down, but not lose its events by a mistake in a header.
pub(crate) fn pause(
    tries: u32,
    draw: u64,
    retry_after: Option<SignedDuration>,
) -> Option<SignedDuration> {
    let planned = usize::try_from(tries).ok().and_then(|n| PAUSES.get(n))?;
    let percent = i64::try_from(100 - JITTER_PERCENT + draw).unwrap_or(100);
    let planned = SignedDuration::from_millis(planned.as_secs() * 10 * percent);
    let asked = retry_after.unwrap_or(planned);
    Some(asked.clamp(planned, planned * 2))
}

/// How long after a failed try an acceptance of another event brings the next one forward. An event that its endpoint rejects
/// while it accepts others is brought forward ever less often: after 0 s, 8 s, 16 s, 32 s and so on, up to 36 h.
pub(crate) fn early_pause(wakes: u32) -> SignedDuration {
    match wakes {
        0 => SignedDuration::ZERO,
        some => PROBE_INTERVAL * (1 << (some - 1).min(14)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_event_is_changed_when_it_is_written_again() {
        let store = StoreId::parse("demo").unwrap();
        let order = OrderId::from_random([1; 16]);
        let payload = test_event(&store, order, Timestamp::UNIX_EPOCH).payload;
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

    const AVERAGE: u64 = JITTER_PERCENT;

    #[test]
    fn ten_tries_reach_over_seventy_five_hours_and_thirty_five_minutes() {
        let pauses = (0..9).map(|tries| pause(tries, AVERAGE, None).unwrap());
        let total: SignedDuration = pauses.fold(SignedDuration::ZERO, |sum, pause| sum + pause);
        let expected = SignedDuration::from_mins(75 * 60 + 35) + SignedDuration::from_secs(5);
        assert_eq!(total, expected);
        assert_eq!(pause(9, AVERAGE, None), None);
    }

    #[test]
    fn a_rejected_event_is_brought_forward_ever_less_often() {
        let seconds = [0, 1, 2, 3, 15, 99].map(|wakes| early_pause(wakes).as_secs());
        assert_eq!(seconds, [0, 8, 16, 32, 131_072, 131_072]);
    }

    #[test]
    fn jitter_makes_a_pause_at_most_a_fifth_shorter_or_longer() {
        assert_eq!(pause(0, 0, None), Some(SignedDuration::from_secs(4)));
        let longest = pause(0, 2 * JITTER_PERCENT, None);
        assert_eq!(longest, Some(SignedDuration::from_secs(6)));
    }
}
