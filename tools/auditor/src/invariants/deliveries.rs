//! Telling: every event reaches the shop, the same each time, signed, in order; and nothing else does.

use std::collections::{BTreeMap, BTreeSet};

use super::credits::is_paid;
use super::events::word;
use crate::evidence::{Delivery, Event, Evidence};
use crate::finding::Finding;
use crate::signature;

/// How far the time of a signature may be from the time of its arrival: the standard's own tolerance.
///
/// Source: Standard Webhooks 1.0.0, "Verifying timestamps"; its libraries take five minutes.
const MOST_SECONDS: i64 = 300;

fn states(evidence: &Evidence) -> BTreeMap<i64, &str> {
    let rows = evidence.ledger.outbox.iter();
    rows.map(|row| (row.position, row.state.as_str())).collect()
}

/// The first time that each event was taken, by its place in the shop's log.
fn taken(evidence: &Evidence) -> BTreeMap<&str, usize> {
    let mut first = BTreeMap::new();
    for (place, delivery) in evidence.heard.iter().enumerate() {
        if delivery.is_taken() {
            first.entry(delivery.id.as_str()).or_insert(place);
        }
    }
    first
}

fn by_id(evidence: &Evidence) -> BTreeMap<&str, &Event> {
    let events = evidence.ledger.events.iter();
    events.map(|event| (event.id.as_str(), event)).collect()
}

pub(super) fn every_event_is_waited_for_to_the_end(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "outbox-is-settled",
        "events: each has its row in the outbox, and waits no more",
    );
    let states = states(evidence);
    for event in &evidence.ledger.events {
        let state = states.get(&event.position).copied();
        let settled = matches!(state, Some("delivered" | "given_up" | "not_wanted"));
        finding.must(settled, || {
            format!(
                "{} ({}) is {}",
                event.id,
                event.kind,
                state.unwrap_or("in no outbox")
            )
        });
    }
    finding
}

pub(super) fn every_event_is_taken(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "event-is-taken",
        "events that count as delivered: the shop has answered 2xx to each",
    );
    let (states, taken) = (states(evidence), taken(evidence));
    for event in &evidence.ledger.events {
        if states.get(&event.position) == Some(&"delivered") {
            finding.must(taken.contains_key(event.id.as_str()), || {
                format!("the shop never took {} ({})", event.id, event.kind)
            });
        }
    }
    finding
}

pub(super) fn every_delivery_is_of_an_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "delivery-has-event",
        "deliveries: each tells an event that is in the ledger",
    );
    let known = by_id(evidence);
    for Delivery { id, at, .. } in &evidence.heard {
        finding.must(known.contains_key(id.as_str()), || {
            format!("the shop received {id} at {at}, which is not in the database")
        });
    }
    finding
}

pub(super) fn every_delivery_is_the_same(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "same-bytes",
        "deliveries: each carries its event's text, byte for byte",
    );
    let known = by_id(evidence);
    for delivery in &evidence.heard {
        let Some(event) = known.get(delivery.id.as_str()) else {
            continue;
        };
        finding.must(event.payload == delivery.body, || {
            format!(
                "{} was delivered at {} with another text",
                delivery.id, delivery.at
            )
        });
    }
    finding
}

pub(super) fn every_delivery_is_signed(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "signed",
        "deliveries: each is signed by the store's secret, at the time of its sending",
    );
    for delivery in &evidence.heard {
        let Delivery {
            id,
            at,
            timestamp,
            signature,
            body,
            ..
        } = delivery;
        let right = signature::of(&evidence.webhook_secret, id, timestamp, body);
        let is_signed = signature.split(' ').any(|one| one == right);
        let age = timestamp
            .parse()
            .map(|sent: i64| at.as_second().saturating_sub(sent));
        let is_timely = age.is_ok_and(|age| age.abs() <= MOST_SECONDS);
        finding.must(is_signed && is_timely, || {
            format!("{id}, delivered at {at} as of {timestamp}, has the signature {signature:?}")
        });
    }
    finding
}

pub(super) fn the_shop_ships_what_is_paid(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "shop-received-paid",
        "orders: the shop took that they are paid, when they are, and only then",
    );
    let (known, taken) = (by_id(evidence), taken(evidence));
    let heard = taken.keys().filter_map(|id| known.get(id));
    let shipped: BTreeSet<&str> = heard
        .filter(|event| word(event) == "paid")
        .map(|event| event.order_id.as_str())
        .collect();
    for order in &evidence.ledger.orders {
        let heard = shipped.contains(order.id.as_str());
        finding.must(heard == is_paid(order), || {
            let word = if heard { "heard" } else { "did not hear" };
            format!(
                "{} is {}, and the shop {word} that it is paid",
                order.id, order.status
            )
        });
    }
    finding
}

pub(super) fn events_are_taken_in_their_order(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "in-order",
        "events: first taken by the shop after those of the same order before them",
    );
    let (states, taken) = (states(evidence), taken(evidence));
    let mut latest: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for event in &evidence.ledger.events {
        let place = taken.get(event.id.as_str()).copied();
        // One that was given up is behind: the later ones need not wait for it.
        let Some(place) = place.filter(|_| states.get(&event.position) == Some(&"delivered"))
        else {
            continue;
        };
        let before = latest.insert(&event.order_id, (place, &event.id));
        finding.look(
            before
                .filter(|(earlier, _)| *earlier > place)
                .map(|(_, earlier)| format!("the shop took {} before {earlier}", event.id)),
        );
    }
    finding
}
