//! Each change has its event, numbered without a gap.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::evidence::{Event, Evidence, Order};
use crate::finding::Finding;

pub(super) fn state_has_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "state-has-event",
        "orders: each has the status of its last event",
    );
    for order in &evidence.database.orders {
        let mut events = evidence.database.events_of(order).iter().rev();
        let last = events.find_map(Event::status_after);
        // "I have paid" is only the customer's claim and has no event.
        let is_marked_as_paid = order.is_marked_as_paid
            && order.status == "checking"
            && matches!(last, Some("awaiting_payment"));
        finding.must(last == Some(&*order.status) || is_marked_as_paid, || {
            let Order { id, status, .. } = order;
            format!(
                "{id} is {status}, and its events state {}",
                last.unwrap_or("nothing")
            )
        });
    }
    finding
}

pub(super) fn paid_stays_paid(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-stays-paid",
        "paid orders: exactly one order.paid, and no lower status afterwards",
    );
    for order in &evidence.database.orders {
        let events = evidence.database.events_of(order);
        let times = events.iter().filter(|event| event.name() == "paid").count();
        let was_paid = evidence.known_paid.contains(&order.id);
        if times == 0 && !order.is_paid() && !was_paid {
            continue;
        }
        let after = events
            .iter()
            .skip_while(|event| event.name() != "paid")
            .skip(1);
        let lower = after
            .filter_map(Event::status_after)
            .find(|status| *status != "overpaid");
        finding.must(times == 1 && lower.is_none() && order.is_paid(), || {
            let Order { id, status, .. } = order;
            let lower = lower.map_or(String::new(), |status| format!(", then {status}"));
            format!("{id} is {status} and has {times} events order.paid{lower}")
        });
    }
    finding
}

pub(super) fn late_payment_has_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "late-payment-has-event",
        "orders paid by several invoices: each payment after the first has an event late_payment",
    );
    let mut payments: BTreeMap<&str, (&Order, usize)> = BTreeMap::new();
    for (_, order) in evidence.paid_attempts() {
        payments.entry(&order.id).or_insert((order, 0)).1 += 1;
    }
    for (order, payments) in payments.into_values().filter(|(_, payments)| *payments > 1) {
        let events = evidence.database.events_of(order).iter();
        let reported = events
            .filter(|event| event.name() == "late_payment")
            .count();
        finding.must(reported + 1 >= payments, || {
            let id = &order.id;
            format!("{id} was paid {payments} times, and {reported} late payments were reported")
        });
    }
    finding
}

pub(super) fn underpaid_has_short_invoice(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "underpaid-has-short-invoice",
        "orders reported as underpaid: an invoice of theirs was completed with less",
    );
    let mut short: BTreeSet<&str> = BTreeSet::new();
    for (_, order, invoice) in evidence.open_attempts() {
        // A session's report states its own price, which may be wrong.
        if invoice.shown.page_url.is_some() || invoice.was_short(evidence.price_of(order)) {
            short.insert(&order.id);
        }
    }
    for order in &evidence.database.orders {
        let mut events = evidence.database.events_of(order).iter();
        if events.any(|event| event.name() == "underpaid") {
            finding.must(short.contains(order.id.as_str()), || {
                format!("{} was reported as underpaid, and no invoice was", order.id)
            });
        }
    }
    finding
}

pub(super) fn no_gap(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "no-gap",
        "orders: their events are numbered 1 to n, in the order in which they happened",
    );
    for order in &evidence.database.orders {
        let events = evidence.database.events_of(order);
        let numbers: Vec<i64> = events.iter().map(|event| event.sequence).collect();
        let count = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        let is_complete = numbers.iter().copied().eq(1..=count) && order.sequence == count;
        finding.must(is_complete, || {
            format!(
                "{}: numbered {numbers:?}, counted to {}",
                order.id, order.sequence
            )
        });
    }
    let orders = evidence.database.orders_by_id();
    let events = evidence.database.events.iter();
    for stray in events.filter(|event| !orders.contains_key(event.order_id.as_str())) {
        finding.check(Some(format!("{} has no order", stray.id)));
    }
    finding
}

pub(super) fn payload_matches_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "payload-matches-event",
        "events: their payload states the type, number and order of their row",
    );
    for event in &evidence.database.events {
        let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let stated = (
            payload["type"].as_str(),
            payload.pointer("/data/sequence").and_then(Value::as_i64),
            payload.pointer("/data/order/id").and_then(Value::as_str),
        );
        let stored = (
            Some(&*event.kind),
            Some(event.sequence),
            Some(&*event.order_id),
        );
        finding.must(stated == stored, || {
            format!(
                "the row of {} is {stored:?}, its payload {stated:?}",
                event.id
            )
        });
    }
    finding
}

pub(super) fn donation_has_prefix(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "donation-has-prefix",
        "events: donation.… for orders whose price a donor named, and only for them",
    );
    for order in &evidence.database.orders {
        for event in evidence.database.events_of(order) {
            let is_donation = event.kind.starts_with("donation.");
            finding.must(is_donation == order.is_donation, || {
                format!("{} of {} is {}", event.id, order.id, event.kind)
            });
        }
    }
    finding
}

/// A reader passes each place of the list once: an event that appears behind that place is lost to the store for ever.
pub(super) fn event_list_is_complete(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "event-list-is-complete",
        "events: a reader of the list has read each one once, and those of an order in their order",
    );
    let Some(listing) = &evidence.shop.listing else {
        return finding;
    };
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for id in &listing.events {
        *times.entry(id).or_default() += 1;
    }
    let mut places = BTreeMap::new();
    for (place, id) in listing.events.iter().enumerate() {
        places.entry(id.as_str()).or_insert(place);
    }
    let mut last: BTreeMap<&str, (i64, usize)> = BTreeMap::new();
    let events = evidence.database.events.iter();
    for event in events.filter(|event| event.store == listing.store) {
        let read = times.remove(event.id.as_str()).unwrap_or(0);
        finding.must(read == 1, || format!("{} was read {read} times", event.id));
        let Some(place) = places.get(event.id.as_str()) else {
            continue;
        };
        let before = last.insert(&event.order_id, (event.sequence, *place));
        finding.must(before.is_none_or(|(_, before)| before < *place), || {
            format!("{} was read before an earlier event of its order", event.id)
        });
    }
    for id in times.keys() {
        finding.check(Some(format!("{id} was read and is not in the database")));
    }
    finding
}
