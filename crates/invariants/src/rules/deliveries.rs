//! Every event reaches its store, the same each time, signed, in order; and nothing else does.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::evidence::{Delivery, Evidence};
use crate::rules::Finding;

/// Largest distance between the time of a signature and the arrival.
///
/// Source: Standard Webhooks 1.0.0, "Verifying timestamps"; its libraries take five minutes.
const MAX_SECONDS: u64 = 300;

pub(super) fn event_in_outbox(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("event-in-outbox", "events: each has its row in the outbox");
    for event in &evidence.database.events {
        finding.must(event.outbox.is_some(), (&event.id, &event.kind));
    }
    finding
}

pub(super) fn outbox_is_settled(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("outbox-is-settled", "events: none waits for its delivery");
    for event in &evidence.database.events {
        let state = event.outbox.as_deref();
        let is_settled = state.is_some_and(|state| state != "pending");
        finding.must(is_settled, (&event.id, &event.kind, state));
    }
    finding
}

pub(super) fn outbox_in_order(evidence: &Evidence) -> Finding {
    let claim = "events: settled only after the earlier ones of the same order";
    let mut finding = Finding::new("outbox-in-order", claim);
    let mut waiting: BTreeMap<&str, &str> = BTreeMap::new();
    for event in &evidence.database.events {
        let is_waiting = event.outbox.as_deref() == Some("pending");
        if is_waiting {
            waiting.entry(&event.order_id).or_insert(&event.id);
        }
        let earlier = waiting.get(event.order_id.as_str());
        let facts = (&event.id, &event.outbox, "before", earlier);
        finding.must(is_waiting || earlier.is_none(), facts);
    }
    finding
}

pub(super) fn event_is_accepted(evidence: &Evidence) -> Finding {
    let claim = "events of stores with a webhook: accepted by the store, or given up";
    let mut finding = Finding::new("event-is-accepted", claim);
    let accepted = evidence.first_accepted();
    for event in &evidence.database.events {
        if evidence.is_wanted(event) && !event.is_given_up() {
            let is_accepted = accepted.contains_key(event.id.as_str());
            finding.must(is_accepted, (&event.id, &event.kind));
        }
    }
    finding
}

pub(super) fn delivery_has_event(evidence: &Evidence) -> Finding {
    let claim = "deliveries: each is an event of the database that was in use";
    let mut finding = Finding::new("delivery-has-event", claim);
    let known = evidence.events_in_time();
    for Delivery { id, at, .. } in &evidence.shop.deliveries {
        finding.must(known.find(id, *at).is_some(), (id, at));
    }
    finding
}

pub(super) fn delivery_is_wanted(evidence: &Evidence) -> Finding {
    let claim = "deliveries: each is an event of a store with a webhook";
    let mut finding = Finding::new("delivery-is-wanted", claim);
    let known = evidence.events_in_time();
    for Delivery { id, at, .. } in &evidence.shop.deliveries {
        if let Some(event) = known.find(id, *at) {
            finding.must(evidence.is_wanted(event), (id, &event.store));
        }
    }
    finding
}

pub(super) fn signed(evidence: &Evidence) -> Finding {
    let claim = "deliveries: each is signed by the store's secret, at the time of its sending";
    let mut finding = Finding::new("signed", claim);
    for delivery in &evidence.shop.deliveries {
        let Delivery { id, at, body, .. } = delivery;
        let Some(header) = &delivery.signature else {
            continue;
        };
        let expected = sign(&evidence.shop.webhook_secret, id, &header.timestamp, body);
        let is_signed = header.signature.split(' ').any(|one| one == expected);
        let sent_at = header.timestamp.parse::<i64>();
        // The header has no milliseconds.
        let is_timely = sent_at.is_ok_and(|sent_at| (at / 1000).abs_diff(sent_at) <= MAX_SECONDS);
        finding.must(is_signed && is_timely, (id, "received at", at, header));
    }
    finding
}

pub(super) fn in_order(evidence: &Evidence) -> Finding {
    let claim = "events: first accepted after the earlier ones of the same order";
    let mut finding = Finding::new("in-order", claim);
    let accepted = evidence.first_accepted();
    let given_up = evidence.given_up_ever();
    let mut latest: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for event in &evidence.database.events {
        let Some(position) = accepted.get(event.id.as_str()).copied() else {
            continue;
        };
        let earlier = latest.get(event.order_id.as_str()).copied();
        let is_later = earlier.is_none_or(|(earlier, _)| earlier <= position);
        finding.must(is_later, (&event.id, "before", earlier));
        // The later ones do not wait for an event that was given up: it may be delivered again after them.
        if !given_up.contains(event.id.as_str())
            && earlier.is_none_or(|(earlier, _)| earlier < position)
        {
            latest.insert(&event.order_id, (position, &event.id));
        }
    }
    finding
}

/// Signs a delivery without the proxy's code, whose error would go unnoticed otherwise: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.
///
/// Source: Standard Webhooks 1.0.0, "Signature scheme".
pub(super) fn sign(secret: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    for part in [id, ".", timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::secret;

    /// Source: Standard Webhooks, the vector shared by its libraries' test suites.
    #[test]
    fn the_vector_of_the_standard_is_signed_as_published() {
        let secret = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign(
            &secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
