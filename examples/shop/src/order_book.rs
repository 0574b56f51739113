//! The shop's own orders: what its backend would ship by.
//!
//! Invariants: an order is paid if and only if a verified `order.paid` was received; an event is
//! stored once, however often it is delivered.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::webhook::{Event, Facts};

/// The table of orders, oldest first, and the ids of the events in it. In memory: a real shop has a database with a unique index.
#[derive(Debug, Default)]
pub(crate) struct OrderBook {
    seen: BTreeSet<String>,
    orders: Vec<Order>,
}

/// One order as the shop's page shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Order {
    #[serde(flatten)]
    facts: Facts,
    /// The `webhook-id` of its `order.paid`; absent while unpaid.
    paid_by: Option<String>,
    /// Every event about it, oldest first.
    events: Vec<ReceivedEvent>,
}

#[derive(Clone, Debug, Serialize)]
struct ReceivedEvent {
    webhook_id: String,
    r#type: String,
}

impl OrderBook {
    /// Notes an order that the shop's backend has just opened.
    pub(crate) fn opened(&mut self, facts: Facts) {
        self.order_of(facts);
    }

    /// Stores a verified event. Returns `false` for one that was delivered before: nothing changed.
    pub(crate) fn apply(&mut self, webhook_id: &str, event: Event) -> bool {
        if !self.seen.insert(webhook_id.to_owned()) {
            return false;
        }
        let Some(facts) = event.order else {
            return true;
        };
        let order = self.order_of(facts);
        // `order.overpaid` follows `order.paid` and reports the excess; `order.processing` may
        // still fail. Neither marks an order as paid.
        if event.r#type == "order.paid" && order.paid_by.is_none() {
            order.paid_by = Some(webhook_id.to_owned());
        }
        order.events.push(ReceivedEvent {
            webhook_id: webhook_id.to_owned(),
            r#type: event.r#type,
        });
        true
    }

    pub(crate) fn newest_first(&self) -> Vec<&Order> {
        self.orders.iter().rev().collect()
    }

    fn order_of(&mut self, facts: Facts) -> &mut Order {
        let mut orders = self.orders.iter();
        let known = orders.position(|order| order.facts.order_id == facts.order_id);
        let place = known.unwrap_or_else(|| {
            self.orders.push(Order {
                facts,
                paid_by: None,
                events: Vec::new(),
            });
            self.orders.len() - 1
        });
        &mut self.orders[place]
    }
}
