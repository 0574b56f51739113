//! Events: one for every step, numbered without a gap.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::credits::is_paid;
use crate::evidence::{Event, Evidence, Order};
use crate::finding::Finding;

/// `order.paid` and `donation.paid` are both `paid`.
pub(super) fn word(event: &Event) -> &str {
    event.kind.split_once('.').map_or("", |(_, word)| word)
}

/// Where an event leaves its order; `None` for one that moves nothing.
fn status_after(event: &Event) -> Option<&'static str> {
    Some(match word(event) {
        "created" => "open",
        "attempt_opened" => "awaiting_payment",
        "payment_seen" => "checking",
        "processing" => "processing",
        "paid" => "paid",
        "overpaid" => "overpaid",
        "underpaid" => "underpaid",
        "failed" => "failed",
        "expired" => "expired",
        "cancelled" => "cancelled",
        "blocked" => "blocked",
        _ => return None,
    })
}

fn of<'a>(evidence: &'a Evidence, order: &Order) -> &'a [Event] {
    let events = &evidence.ledger.events;
    let from = events.partition_point(|event| event.order_id < order.id);
    let to = events.partition_point(|event| event.order_id <= order.id);
    &events[from..to]
}

pub(super) fn every_state_has_its_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "state-has-event",
        "orders: each stands where its last event left it",
    );
    for order in &evidence.ledger.orders {
        let last = of(evidence, order).iter().rev().find_map(status_after);
        // "I have paid" is only the customer's claim and has no event.
        let is_marked_as_paid = order.is_marked_as_paid
            && order.status == "checking"
            && matches!(last, Some("awaiting_payment"));
        finding.must(last == Some(&*order.status) || is_marked_as_paid, || {
            let Order { id, status, .. } = order;
            format!(
                "{id} is {status}, and its events say {}",
                last.unwrap_or("nothing")
            )
        });
    }
    finding
}

pub(super) fn what_is_paid_stays_paid(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-stays-paid",
        "paid orders: exactly one order.paid, and no lower status afterwards",
    );
    for order in &evidence.ledger.orders {
        let events = of(evidence, order);
        let times = events.iter().filter(|event| word(event) == "paid").count();
        if times == 0 && !is_paid(order) {
            continue;
        }
        let after = events
            .iter()
            .skip_while(|event| word(event) != "paid")
            .skip(1);
        let taken_back = after
            .filter_map(status_after)
            .find(|status| *status != "overpaid");
        finding.must(times == 1 && taken_back.is_none() && is_paid(order), || {
            let Order { id, status, .. } = order;
            let back = taken_back.map_or(String::new(), |to| format!(", then as {to}"));
            format!("{id} is {status} and has {times} events order.paid{back}")
        });
    }
    finding
}

pub(super) fn every_second_payment_has_its_event(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "late-payment-has-event",
        "orders paid by several invoices: each payment after the first has an event late_payment",
    );
    let mut payments: BTreeMap<&str, usize> = BTreeMap::new();
    for (attempt, _) in evidence.paid_attempts() {
        *payments.entry(&attempt.order_id).or_default() += 1;
    }
    for order in &evidence.ledger.orders {
        let payments = payments.get(order.id.as_str()).copied().unwrap_or(0);
        if payments < 2 {
            continue;
        }
        let events = of(evidence, order).iter();
        let reported = events.filter(|event| word(event) == "late_payment").count();
        finding.must(reported + 1 >= payments, || {
            format!(
                "{} was paid {payments} times, and {reported} late payments were reported",
                order.id
            )
        });
    }
    finding
}

pub(super) fn no_sequence_has_a_gap(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "no-gap",
        "orders: their events are numbered 1 to n, in the order in which they happened",
    );
    for order in &evidence.ledger.orders {
        let events = of(evidence, order);
        let numbers: Vec<i64> = events.iter().map(|event| event.sequence).collect();
        let count = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        let expected: Vec<i64> = (1..=count).collect();
        finding.must(numbers == expected && order.sequence == count, || {
            format!(
                "{}: numbered {numbers:?}, counted to {}",
                order.id, order.sequence
            )
        });
    }
    let orders: BTreeSet<&str> = evidence
        .ledger
        .orders
        .iter()
        .map(|it| it.id.as_str())
        .collect();
    let events = evidence.ledger.events.iter();
    let strays = events.filter(|event| !orders.contains(event.order_id.as_str()));
    for stray in strays {
        finding.look(Some(format!("{} is of no order", stray.id)));
    }
    finding
}

pub(super) fn every_event_says_what_it_is(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "event-is-true",
        "events: their payload states the type, number and order of their row",
    );
    for event in &evidence.ledger.events {
        let text: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let stated = (
            text["type"].as_str(),
            text.pointer("/data/sequence").and_then(Value::as_i64),
            text.pointer("/data/order/id").and_then(Value::as_str),
        );
        let filed = (
            Some(&*event.kind),
            Some(event.sequence),
            Some(&*event.order_id),
        );
        finding.must(stated == filed, || {
            format!("{} is filed under {filed:?} and says {stated:?}", event.id)
        });
    }
    finding
}
