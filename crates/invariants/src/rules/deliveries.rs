//! Every event reaches its store, the same each time, signed, in order; and nothing else does.

use std::collections::BTreeMap;

use crate::evidence::{Delivery, Evidence};
use crate::finding::Finding;
use crate::signature::sign;

/// Largest distance between the time of a signature and the arrival.
///
/// Source: Standard Webhooks 1.0.0, "Verifying timestamps"; its libraries take five minutes.
const MAX_SECONDS: i64 = 300;

pub(super) fn event_in_outbox(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("event-in-outbox", "events: each has its row in the outbox");
    for event in &evidence.database.events {
        finding.must(event.outbox.is_some(), || {
            format!("{} ({}) is in no outbox", event.id, event.kind)
        });
    }
    finding
}

pub(super) fn outbox_is_settled(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("outbox-is-settled", "events: none waits for its delivery");
    for event in &evidence.database.events {
        let state = event.outbox.as_deref();
        let is_settled = matches!(state, Some("delivered" | "given_up" | "no_webhook"));
        finding.must(is_settled, || {
            let state = state.unwrap_or("in no outbox");
            format!("{} ({}) is {state}", event.id, event.kind)
        });
    }
    finding
}

pub(super) fn outbox_in_order(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "outbox-in-order",
        "events: settled only after the earlier ones of the same order",
    );
    let mut waiting: BTreeMap<&str, &str> = BTreeMap::new();
    for event in &evidence.database.events {
        if event.outbox.as_deref() == Some("pending") {
            waiting.entry(&event.order_id).or_insert(&event.id);
        }
        let earlier = waiting.get(event.order_id.as_str());
        let earlier = earlier.filter(|_| event.outbox.as_deref() != Some("pending"));
        finding.check(earlier.map(|earlier| {
            let state = event.outbox.as_deref().unwrap_or("in no outbox");
            format!("{} is {state}, and {earlier} still waits", event.id)
        }));
    }
    finding
}

pub(super) fn event_is_accepted(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "event-is-accepted",
        "events of stores with a webhook: accepted by the store, or given up",
    );
    let accepted = evidence.first_accepted();
    for event in &evidence.database.events {
        if evidence.is_wanted(event) && !event.is_given_up() {
            finding.must(accepted.contains_key(event.id.as_str()), || {
                format!("the store has never accepted {} ({})", event.id, event.kind)
            });
        }
    }
    finding
}

pub(super) fn delivery_has_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "delivery-has-event",
        "deliveries: each is an event of the database that was in use",
    );
    let known = evidence.events_in_time();
    for Delivery { id, at, .. } in &evidence.shop.deliveries {
        finding.must(known.find(id, *at).is_some(), || {
            format!("the store received {id} at {at}, which is not in the database")
        });
    }
    finding
}

pub(super) fn delivery_is_wanted(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "delivery-is-wanted",
        "deliveries: each is an event of a store with a webhook",
    );
    let known = evidence.events_in_time();
    for delivery in &evidence.shop.deliveries {
        if let Some(event) = known.find(&delivery.id, delivery.at) {
            finding.must(evidence.is_wanted(event), || {
                format!(
                    "{} was delivered, and {} has no webhook",
                    event.id, event.store
                )
            });
        }
    }
    finding
}

pub(super) fn same_bytes(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "same-bytes",
        "deliveries: each has its event's payload, byte for byte",
    );
    let known = evidence.events_in_time();
    for delivery in &evidence.shop.deliveries {
        if let Some(event) = known.find(&delivery.id, delivery.at) {
            finding.must(event.payload == delivery.body, || {
                format!(
                    "{} was delivered at {} with another payload",
                    event.id, delivery.at
                )
            });
        }
    }
    finding
}

pub(super) fn signed(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "signed",
        "deliveries: each is signed by the store's secret, at the time of its sending",
    );
    for delivery in &evidence.shop.deliveries {
        let Delivery { id, at, body, .. } = delivery;
        let Some(header) = &delivery.signature else {
            continue;
        };
        let expected = sign(&evidence.shop.webhook_secret, id, &header.timestamp, body);
        let is_signed = header.signature.split(' ').any(|one| one == expected);
        let sent_at = header.timestamp.parse::<i64>();
        let is_timely = sent_at.is_ok_and(|sent_at| {
            // The header has no milliseconds, and the clock may have been changed within the second.
            let mut second = sent_at * 1000..(sent_at + 1) * 1000;
            second.any(|shown| {
                let mut times = evidence.clock.right_times(shown).into_iter();
                times.any(|sent_at| at.abs_diff(sent_at) / 1000 <= MAX_SECONDS.unsigned_abs())
            })
        });
        finding.must(is_signed && is_timely, || {
            format!("{id}, received at {at}, has the headers {header:?}")
        });
    }
    finding
}

pub(super) fn shop_received_paid(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "shop-received-paid",
        "orders: the store has accepted that they are paid if they are, and only then",
    );
    let accepted = evidence.first_accepted();
    for order in &evidence.database.orders {
        let events = evidence.database.events_of(order).iter();
        let paid: Vec<_> = events.filter(|event| event.name() == "paid").collect();
        if paid
            .iter()
            .any(|event| !evidence.is_wanted(event) || event.is_given_up())
        {
            continue;
        }
        let received = paid
            .iter()
            .any(|event| accepted.contains_key(event.id.as_str()));
        finding.must(received == order.is_paid(), || {
            let word = if received {
                "received"
            } else {
                "did not receive"
            };
            format!(
                "{} is {}, and the store {word} that it is paid",
                order.id, order.status
            )
        });
    }
    finding
}

pub(super) fn in_order(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "in-order",
        "events: first accepted after the earlier ones of the same order",
    );
    let accepted = evidence.first_accepted();
    let given_up = evidence.given_up_ever();
    let mut latest: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for event in &evidence.database.events {
        let Some(position) = accepted.get(event.id.as_str()).copied() else {
            continue;
        };
        let earlier = latest.get(event.order_id.as_str()).copied();
        finding.check(
            earlier
                .filter(|(earlier, _)| *earlier > position)
                .map(|(_, earlier)| format!("the store accepted {} before {earlier}", event.id)),
        );
        // The later ones do not wait for an event that was given up: it may be delivered again after them.
        if !given_up.contains(event.id.as_str())
            && earlier.is_none_or(|(earlier, _)| earlier < position)
        {
            latest.insert(&event.order_id, (position, &event.id));
        }
    }
    finding
}
