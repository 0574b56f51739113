//! A delivery that an endpoint must refuse, to see that it answers and verifies.

use florin_orders::{Event, EventId, EventType, OrderId, StoreId};
use jiff::Timestamp;

use crate::clock::RandomBytes;
use crate::config::Webhook;
use crate::webhooks::{SendOutcome, WebhookSecret, WebhookSecrets, WebhookSender, Webhooks as _};

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
