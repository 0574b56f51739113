//! The webhooks in the API document.

use florin_orders::{EventType, OrderRecord, PriceSource};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use strum::VariantArray as _;

use super::information::EVENTS;
use super::types::Types;
use crate::webhooks::TEST_EVENT;

pub(super) fn webhooks(types: &mut Types) -> Value {
    let order = types.written::<OrderRecord>();
    let all = kinds().map(|(event, word)| {
        let body = members(&json!({ "const": word }), &order);
        let shape = types.keep(&shape_name(&word), body);
        let webhook = webhook(event, &word, &shape);
        (word, webhook)
    });
    let mut all: Map<_, _> = all.collect();
    all.insert(TEST_EVENT.to_owned(), test_webhook(types));
    all.into()
}

/// What an operator sends to see whether a store's endpoint answers.
fn test_webhook(types: &mut Types) -> Value {
    let body = json!({
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": { "const": TEST_EVENT },
            "timestamp": { "type": "string", "format": "date-time", "description": "When it was sent." },
            "data": {
                "type": "object",
                "required": ["store", "as_written"],
                "properties": {
                    "store": { "type": "string", "description": "The store's id." },
                    "as_written": {
                        "type": "object",
                        "description": "Values that a JSON library writes otherwise: the signature is of the body as it arrives.",
                    },
                },
            },
        },
    });
    let shape = types.keep(&shape_name(TEST_EVENT), body);
    signed(
        TEST_EVENT,
        "An operator tests the endpoint: answer with 2xx, and do nothing",
        &shape,
    )
}

/// Every type of event: of an order, and of a donation.
fn kinds() -> impl Iterator<Item = (EventType, String)> {
    let sources = [PriceSource::StoreServer, PriceSource::Customer];
    let events = |source| {
        EventType::VARIANTS
            .iter()
            .map(move |event| (*event, event.name_for(source)))
    };
    sources.into_iter().flat_map(events)
}

/// The events of a page: a webhook's body each, with the webhook's id.
pub(crate) fn events(generator: &mut SchemaGenerator) -> Schema {
    let words: Vec<String> = kinds().map(|(_, word)| word).collect();
    let order = generator.subschema_for::<OrderRecord>().to_value();
    let mut event = members(&json!({ "type": "string", "enum": words }), &order);
    event["properties"]["id"] = json!({
        "type": "string",
        "pattern": "^evt_[0-9a-f]{32}_[0-9]{1,10}(_[0-9a-f]{16})?$",
        "description": "The webhook's id.",
    });
    event["required"] = json!(["id", "type", "timestamp", "data"]);
    json_schema!({ "type": "array", "items": event, "description": "The events, in order." })
}

fn members(word: &Value, order: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": word,
            "timestamp": { "type": "string", "format": "date-time", "description": "When it happened." },
            "data": {
                "type": "object",
                "required": ["sequence", "order"],
                "properties": {
                    "sequence": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Number among the order's events, from 1 without a gap.",
                    },
                    "order": order,
                },
            },
        },
    })
}

fn webhook(event: EventType, word: &str, shape: &Value) -> Value {
    signed(word, meaning(event), shape)
}

fn signed(word: &str, summary: &str, shape: &Value) -> Value {
    let header = |name: &str, description: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": true,
            "description": description,
            "schema": { "type": "string" },
        })
    };
    json!({ "post": {
        "operationId": shape_name(word),
        "tags": [EVENTS],
        "summary": summary,
        "description": "Signed as Standard Webhooks 1.0.0 says. Tried ten times over 75 h 35 min; every try has the same \
                        `webhook-id` and the same body.",
        "parameters": [
            header("webhook-id", "Stable over all tries: act on each once."),
            header("webhook-timestamp", "When it was sent: seconds since 1970."),
            header("webhook-signature", "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`."),
            {
                "name": "traceparent",
                "in": "header",
                "required": false,
                "description": "The order's trace, of W3C Trace Context; absent when the order has none. It is not signed.",
                "schema": { "type": "string" },
            },
        ],
        "requestBody": { "required": true, "content": { "application/json": { "schema": shape } } },
        "responses": {
            "2XX": { "description": "The store has it." },
            "410": { "description": "The endpoint is gone: nothing more is sent to it until the store enables it, and nothing is lost." },
            "default": { "description": "Tried again later." },
        },
    } })
}

/// `order.attempt_opened` → `OrderAttemptOpened`.
fn shape_name(word: &str) -> String {
    let parts = word.split(['.', '_']).map(|part| {
        let (first, rest) = part.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    });
    parts.collect()
}

fn meaning(event: EventType) -> &'static str {
    match event {
        EventType::Created => "It was opened",
        EventType::AttemptOpened => "An invoice is shown to the customer",
        EventType::PaymentSeen => "A transaction was seen, without a confirmation",
        EventType::Processing => "The transaction gathers confirmations",
        EventType::Paid => "It is paid: the one event to ship on",
        EventType::Overpaid => "It is paid, and more than the price arrived; follows order.paid",
        EventType::Underpaid => "The payment is complete, with less than the price",
        EventType::Failed => "The gateway calls the payment failed",
        EventType::Expired => "The invoice ran out before anything arrived",
        EventType::Cancelled => "It was cancelled; a received amount is kept and reported",
        EventType::Blocked => {
            "The invoice did not pass our checks, or its address changed: a person has to check"
        }
        EventType::Reverted => {
            "It is paid, and the gateway contradicts that: a person has to check before anything more is shipped"
        }
        EventType::EmailAdded => {
            "The customer of a paid order named an email address: `receipt_email`"
        }
        EventType::LatePayment => {
            "Money arrived for an attempt that was over or replaced, or for an order that was paid already"
        }
    }
}
