//! The shop's own orders: what its backend would ship by.
//!
//! Invariants: an order is paid if and only if a verified `order.paid` was received; an event is
//! stored once, however often it is delivered.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::webhook::{Event, Facts};

/// The table of orders and the ids of the events in it. In memory: a real shop has a database with a unique index.
#[derive(Debug, Default)]
pub(crate) struct OrderBook {
    seen: BTreeSet<String>,
    orders: BTreeMap<String, Order>,
    next_row: u64,
}

/// One order as the shop's page shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Order {
    id: String,
    reference: String,
    title: String,
    amount: String,
    currency: String,
    /// The `webhook-id` of its `order.paid`; absent while unpaid.
    paid_by: Option<String>,
    /// Every event about it, oldest first.
    events: Vec<ReceivedEvent>,
    #[serde(skip)]
    row: u64,
}

/// One event of an order.
#[derive(Clone, Debug, Serialize)]
struct ReceivedEvent {
    webhook_id: String,
    r#type: String,
}

/// The outcome of storing an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// The event is new.
    Fresh,
    /// It was delivered before: nothing changed.
    Duplicate,
}

impl OrderBook {
    /// Notes an order that the shop's backend has just opened.
    pub(crate) fn opened(&mut self, facts: Facts) {
        self.row_of(facts);
    }

    /// Stores a verified event.
    pub(crate) fn apply(&mut self, webhook_id: &str, event: Event) -> Stored {
        if !self.seen.insert(webhook_id.to_owned()) {
            return Stored::Duplicate;
        }
        let Some(facts) = event.order else {
            return Stored::Fresh;
        };
        let order = self.row_of(facts);
        // `order.overpaid` follows `order.paid` and reports the excess; `order.processing` may
        // still fail. Neither marks an order as paid.
        if event.r#type == "order.paid" && order.paid_by.is_none() {
            order.paid_by = Some(webhook_id.to_owned());
        }
        order.events.push(ReceivedEvent {
            webhook_id: webhook_id.to_owned(),
            r#type: event.r#type,
        });
        Stored::Fresh
    }

    /// The newest first.
    pub(crate) fn newest_first(&self) -> Vec<&Order> {
        let mut orders: Vec<&Order> = self.orders.values().collect();
        orders.sort_by_key(|order| std::cmp::Reverse(order.row));
        orders
    }

    fn row_of(&mut self, facts: Facts) -> &mut Order {
        let next_row = &mut self.next_row;
        self.orders
            .entry(facts.order_id.clone())
            .or_insert_with(|| {
                *next_row += 1;
                Order {
                    id: facts.order_id,
                    reference: facts.reference,
                    title: facts.title,
                    amount: facts.amount,
                    currency: facts.currency,
                    paid_by: None,
                    events: Vec::new(),
                    row: *next_row,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(r#type: &str) -> Event {
        Event {
            r#type: r#type.to_owned(),
            order: Some(Facts {
                order_id: "o1".to_owned(),
                reference: "r1".to_owned(),
                title: "Enamel mug".to_owned(),
                amount: "12.50".to_owned(),
                currency: "USD".to_owned(),
            }),
        }
    }

    fn paid_by(book: &OrderBook) -> Option<&str> {
        book.orders["o1"].paid_by.as_deref()
    }

    #[test]
    fn only_order_paid_pays() {
        let mut book = OrderBook::default();
        for (id, kind) in [
            ("e1", "order.created"),
            ("e2", "order.processing"),
            ("e3", "order.underpaid"),
            ("e4", "order.overpaid"),
        ] {
            book.apply(id, event(kind));
            assert_eq!(paid_by(&book), None, "{kind}");
        }
        book.apply("e5", event("order.paid"));
        assert_eq!(paid_by(&book), Some("e5"));
    }

    #[test]
    fn an_event_about_something_else_makes_no_order() {
        let mut book = OrderBook::default();
        let other = Event {
            r#type: "donation.paid".to_owned(),
            order: None,
        };
        assert_eq!(book.apply("e1", other), Stored::Fresh);
        assert!(book.newest_first().is_empty());
    }
}
