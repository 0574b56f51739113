//! Each change has its event, numbered without a gap.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::evidence::{Event, Evidence, Order};
use crate::rules::Finding;

pub(super) fn state_has_event(evidence: &Evidence) -> Finding {
    let claim = "orders: each has the status of its last event";
    let mut finding = Finding::new("state-has-event", claim);
    for order in &evidence.database.orders {
        let mut events = evidence.database.events_of(order).iter().rev();
        let last = events.find_map(Event::status_after);
        // "I've sent it" is only the customer's claim and has no event.
        let is_marked_as_paid = order.is_marked_as_paid
            && order.status == "checking"
            && matches!(last, Some("awaiting_payment"));
        let holds = last == Some(&*order.status) || is_marked_as_paid;
        finding.must(holds, (&order.id, &order.status, "after", last));
    }
    finding
}

pub(super) fn paid_stays_paid(evidence: &Evidence) -> Finding {
    let claim = "paid orders: exactly one order.paid, and no lower status afterwards";
    let mut finding = Finding::new("paid-stays-paid", claim);
    for order in &evidence.database.orders {
        let events = evidence.database.events_of(order).iter();
        let mut after = events.skip_while(|event| event.name() != "paid");
        let is_reported = after.next().is_some();
        if !is_reported && !order.is_paid() && !evidence.known_paid.contains(&order.id) {
            continue;
        }
        // A second order.paid is wrong like a lower status.
        let mut wrong =
            after.filter(|event| !matches!(event.status_after(), None | Some("overpaid")));
        let wrong = wrong.next().map(|event| &event.kind);
        let holds = is_reported && wrong.is_none() && order.is_paid();
        finding.must(holds, (&order.id, &order.status, is_reported, wrong));
    }
    finding
}

pub(super) fn late_payment_has_event(evidence: &Evidence) -> Finding {
    let claim =
        "orders paid by several invoices: each payment after the first has an event late_payment";
    let mut finding = Finding::new("late-payment-has-event", claim);
    let mut payments: BTreeMap<&str, (&Order, usize)> = BTreeMap::new();
    for (_, order) in evidence.paid_attempts() {
        payments.entry(&order.id).or_insert((order, 0)).1 += 1;
    }
    for (order, payments) in payments.into_values().filter(|(_, payments)| *payments > 1) {
        let events = evidence.database.events_of(order).iter();
        let reported = events
            .filter(|event| event.name() == "late_payment")
            .count();
        let facts = (&order.id, payments, "payments", reported, "reported");
        finding.must(reported + 1 >= payments, facts);
    }
    finding
}

pub(super) fn underpaid_has_short_invoice(evidence: &Evidence) -> Finding {
    let claim = "orders reported as underpaid: an invoice of theirs was completed with less";
    let mut finding = Finding::new("underpaid-has-short-invoice", claim);
    let open = evidence.open_attempts();
    // A session's report states its own price, which may be wrong.
    let short = open.filter(|(_, order, invoice)| {
        invoice.shown.page_url.is_some() || invoice.was_short(evidence.price_of(order))
    });
    let short: BTreeSet<&str> = short.map(|(_, order, _)| order.id.as_str()).collect();
    for order in &evidence.database.orders {
        let mut events = evidence.database.events_of(order).iter();
        if events.any(|event| event.name() == "underpaid") {
            finding.must(short.contains(order.id.as_str()), &order.id);
        }
    }
    finding
}

pub(super) fn no_gap(evidence: &Evidence) -> Finding {
    let claim = "orders: their events are numbered 1 to n, in the order in which they happened";
    let mut finding = Finding::new("no-gap", claim);
    for order in &evidence.database.orders {
        let events = evidence.database.events_of(order);
        let numbers: Vec<i64> = events.iter().map(|event| event.sequence).collect();
        let is_complete = numbers.iter().copied().eq(1..=order.sequence);
        finding.must(is_complete, (&order.id, &numbers, order.sequence));
    }
    let orders = evidence.database.orders_by_id();
    let events = evidence.database.events.iter();
    for stray in events.filter(|event| !orders.contains_key(event.order_id.as_str())) {
        finding.must(false, (&stray.id, "has no order"));
    }
    finding
}

pub(super) fn payload_matches_event(evidence: &Evidence) -> Finding {
    let claim = "events: their payload states the type, number and order of their row";
    let mut finding = Finding::new("payload-matches-event", claim);
    for event in &evidence.database.events {
        let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let stated = (
            payload["type"].as_str(),
            payload.pointer("/data/sequence").and_then(Value::as_i64),
            payload.pointer("/data/order/id").and_then(Value::as_str),
        );
        let (kind, order) = (event.kind.as_str(), event.order_id.as_str());
        let holds = stated == (Some(kind), Some(event.sequence), Some(order));
        finding.must(holds, (&event.id, stated));
    }
    finding
}

pub(super) fn donation_has_prefix(evidence: &Evidence) -> Finding {
    let claim = "events: donation.… for orders whose price a donor named, and only for them";
    let mut finding = Finding::new("donation-has-prefix", claim);
    for order in &evidence.database.orders {
        for event in evidence.database.events_of(order) {
            let is_donation = event.kind.starts_with("donation.");
            finding.must(is_donation == order.is_donation, (&event.id, &event.kind));
        }
    }
    finding
}

/// A reader passes each place of the list once: an event that appears behind that place is lost to the store for ever.
pub(super) fn event_list_is_complete(evidence: &Evidence) -> Finding {
    let claim =
        "events: a reader of the list has read each one once, and those of an order in their order";
    let mut finding = Finding::new("event-list-is-complete", claim);
    let Some(listing) = &evidence.shop.listing else {
        return finding;
    };
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, id) in listing.events.iter().enumerate() {
        places.entry(id).or_default().push(place);
    }
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    let events = evidence.database.events.iter();
    for event in events.filter(|event| event.store == listing.store) {
        let read = places.remove(event.id.as_str()).unwrap_or_default();
        finding.must(read.len() == 1, (&event.id, "was read at", &read));
        if let Some(place) = read.first() {
            let before = last.insert(&event.order_id, *place);
            let is_later = before.is_none_or(|before| before < *place);
            finding.must(
                is_later,
                (&event.id, "before an earlier event of its order"),
            );
        }
    }
    for id in places.keys() {
        finding.must(false, (id, "is not in the database"));
    }
    finding
}
