//! What a store's server calls.

use checkout_api::{ErrorCode, SignedReceipt};
use ledger::OrderRecord;
use serde_json::{Value, json};

use super::information::{EVENTS, ORDERS};
use super::operation::{Caller, Operation};
use super::types::Types;
use crate::http::receipts::{VerifiedReceipt, VerifyReceipt};
use crate::http::store_api::events::{
    DeliveriesQuery, DeliveryPage, EventPage, EventsQuery, WebhookStatus,
};
use crate::http::store_api::orders::{OpenOrder, OpenedOrder, OrderPage, OrdersQuery};

pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
    let all = [
        open_order(types),
        list_orders(types),
        get_order(types),
        cancel_order(types),
        get_receipt(types),
        verify_receipt(types),
    ];
    let orders = all.map(|operation| operation.of(ORDERS));
    let all = [
        list_events(types),
        redeliver_event(),
        list_deliveries(types),
        show_webhook(types),
        enable_webhook(types),
    ];
    let events = all.map(|operation| operation.of(EVENTS));
    orders.into_iter().chain(events).collect()
}

fn open_order(types: &mut Types) -> Operation {
    let example = json!({
        "amount": "19.90",
        "currency": "USD",
        "reference": "order-1017",
        "title": "Two tickets",
        "metadata": { "seats": ["A1", "A2"] },
    });
    let again = "The order of this reference at this price was there already: the same, with a fresh token.";
    Operation::post("/v1/orders", "open_order")
        .does(
            "Open an order",
            "The same `reference` at the same price is the same order; at another price it is refused.",
        )
        .by(Caller::Store)
        .takes_key(1)
        .takes::<OpenOrder>(types, &example)
        .refuses(&[
            ErrorCode::OrderConflict,
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::ServiceRefused,
            ErrorCode::RateLimited,
            ErrorCode::ServiceUnavailable,
        ])
        .answers::<OpenedOrder>(201, "The order, and how its customer gets to it.", types)
        .leads_to(201, "get_order", "id", "/order/id")
        .leads_to(201, "cancel_order", "id", "/order/id")
        .answers::<OpenedOrder>(200, again, types)
        .leads_to(200, "get_order", "id", "/order/id")
}

fn list_orders(types: &mut Types) -> Operation {
    Operation::get("/v1/orders", "list_orders")
        .does("List orders", "Newest first.")
        .by(Caller::Store)
        .query::<OrdersQuery>(types)
        .answers::<OrderPage>(200, "A page of orders.", types)
}

fn get_order(types: &mut Types) -> Operation {
    Operation::get("/v1/orders/{id}", "get_order")
        .does("See an order", "")
        .by(Caller::Store)
        .path("id", "The order.", &order_id())
        .refuses(&[ErrorCode::NotFound])
        .answers::<OrderRecord>(200, "The order.", types)
}

fn cancel_order(types: &mut Types) -> Operation {
    Operation::post("/v1/orders/{id}/cancel", "cancel_order")
        .does(
            "Cancel an order",
            "Only while no money was seen. It is final, though money that arrives later is still credited and told.",
        )
        .by(Caller::Store)
        .takes_key(1)
        .path("id", "The order.", &order_id())
        .refuses(&[ErrorCode::NotFound, ErrorCode::OrderClosed])
        .answers::<OrderRecord>(200, "The order, cancelled.", types)
}

fn get_receipt(types: &mut Types) -> Operation {
    Operation::get("/v1/orders/{id}/receipt", "get_receipt")
        .does("An order's receipt", "The same that its customer gets.")
        .by(Caller::Store)
        .path("id", "The order.", &order_id())
        .refuses(&[ErrorCode::NotFound, ErrorCode::NotPaid])
        .answers::<SignedReceipt>(200, "The receipt.", types)
}

fn verify_receipt(types: &mut Types) -> Operation {
    let example = json!({ "receipt": "7K3QM-2XW9P-0D4HT-V8NZC-J5RGB-1EYSA-6FQMW-3KTXP" });
    Operation::post("/v1/receipts/verify", "verify_receipt")
        .does(
            "Is this receipt genuine?",
            "Takes a token or a printed code. One that was forged, is another store's, or was never one, is all the same.",
        )
        .by(Caller::Store)
        .takes_key(1)
        .takes::<VerifyReceipt>(types, &example)
        .answers::<VerifiedReceipt>(200, "Whether it is, and the order as it stands.", types)
}

fn list_events(types: &mut Types) -> Operation {
    Operation::get("/v1/events", "list_events")
        .does(
            "List events",
            "In the order in which they happened. Nothing is left out, whatever became of the webhooks.",
        )
        .by(Caller::Store)
        .query::<EventsQuery>(types)
        .answers::<EventPage>(200, "A page of events.", types)
        .leads_to(200, "list_deliveries", "event", "/events/0/id")
        .leads_to(200, "redeliver_event", "id", "/events/0/id")
}

fn redeliver_event() -> Operation {
    Operation::post("/v1/events/{id}/redeliver", "redeliver_event")
        .does("Tell an event again", "With all its tries, from the first.")
        .by(Caller::Store)
        .takes_key(1)
        .path("id", "The event.", &event_id())
        .refuses(&[ErrorCode::NotFound])
        .answers_empty(202, "It will be told.")
}

fn list_deliveries(types: &mut Types) -> Operation {
    Operation::get("/v1/deliveries", "list_deliveries")
        .does(
            "List deliveries",
            "The tries at telling events, latest first.",
        )
        .by(Caller::Store)
        .query::<DeliveriesQuery>(types)
        .refuses(&[ErrorCode::NotFound])
        .answers::<DeliveryPage>(200, "A page of tries.", types)
}

fn show_webhook(types: &mut Types) -> Operation {
    Operation::get("/v1/webhook", "show_webhook")
        .does(
            "How telling goes",
            "Whether the store's endpoint is told, and how much waits.",
        )
        .by(Caller::Store)
        .answers::<WebhookStatus>(200, "How it goes.", types)
}

fn enable_webhook(types: &mut Types) -> Operation {
    Operation::post("/v1/webhook/enable", "enable_webhook")
        .does(
            "Tell the endpoint again",
            "After it has answered 410. Everything that waited is told first; an endpoint that has not is left as it is.",
        )
        .by(Caller::Store)
        .takes_key(1)
        .answers::<WebhookStatus>(200, "How it goes now.", types)
}

fn order_id() -> Value {
    json!({ "type": "string", "pattern": "^ord_[0-9a-f]{32}$" })
}

fn event_id() -> Value {
    json!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}_[0-9]{1,10}$" })
}
