//! The HTTP described for machines, made from the types and the codes of responses.
//!
//! Nothing is written twice: shapes come from the types (through [`Types`]), refusals from [`florin_checkout_api::ErrorCode`],
//! events from [`florin_orders::EventType`]. By hand are only the operations themselves, each beside its handler; the router
//! lists them with their handlers. Tests compare every response of every journey with its shape.

pub(crate) mod operation;

use florin_checkout_api::ErrorCode;
use florin_orders::{EventType, OrderRecord, PriceSource};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use strum::VariantArray as _;

use crate::http::openapi::operation::{Operation, Types};
use crate::webhooks::TEST_EVENT;

pub(crate) fn openapi(base: &str, operations: fn(&mut Types) -> Vec<Operation>) -> Value {
    let mut types = Types::new();
    types.keep("Refusal", refusal());
    let operations = operations(&mut types);
    let webhooks = webhooks(&mut types);
    let mut paths = Map::new();
    for operation in &operations {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[operation.method] = operation.to_json();
    }
    json!({
        "openapi": "3.1.1",
        "info": info(),
        "servers": [{ "url": base, "description": "This proxy." }],
        "tags": tags(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": security_schemes(),
            "headers": headers(),
            "schemas": types.into_schemas(),
        },
    })
}

pub(crate) const CHECKOUT: &str = "Checkout";
pub(crate) const ORDERS: &str = "Orders";
pub(crate) const EVENTS: &str = "Events";
pub(crate) const STAFF: &str = "Staff";
pub(crate) const GATEWAY: &str = "Gateway";
pub(crate) const FILES: &str = "Files";

const INTRODUCTION: &str = "JSON in snake_case. Money is a decimal *string*, times are RFC 3339 in UTC, durations are \
whole seconds. An unknown member of a request is refused by its name.

Every refusal is `{\"error\": {code, message, field?, reason?, request_id}}`; its code is of a closed list, and each code has one \
status. Beside the refusals that an operation lists, any address answers an unexpected method with 405 \
`method_not_allowed` and the header `Allow`, an address that is not here answers 404 `not_found`, and a header that may \
come once and came twice (`Host`, `Authorization`, `Content-Type`, `Origin`, `Idempotency-Key`) 400 `invalid_request`. \
429, 503, `request_in_progress` and `attempt_in_progress` carry `Retry-After`.

A POST with an `Idempotency-Key` may be sent again: it is carried out once, and answered the same.";

pub(crate) fn info() -> Value {
    json!({
        "title": "Florin",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "A crypto checkout for any storefront.",
        "description": INTRODUCTION,
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

pub(crate) fn tags() -> Value {
    let chapter =
        |name: &str, description: &str| json!({ "name": name, "description": description });
    json!([
        chapter(
            CHECKOUT,
            "For pages in a browser. CORS by the store's `origins`, no cookies; a page with an order's \
            client token may see and pay this one order. An unknown, foreign or expired token gets one and the same 404."
        ),
        chapter(
            ORDERS,
            "For the store's server, with its secret key. Every store sees its own orders alone."
        ),
        chapter(
            EVENTS,
            "The same events as the webhooks, to be read in order, and the tries at delivering them."
        ),
        chapter(
            STAFF,
            "Links to the pages on which the people of a store see its orders and decide about them. They exist where the \
            operator has set the store's `staff_pages`."
        ),
        chapter(
            GATEWAY,
            "What the gateway calls, and its own endpoints for the store's server: signed here, their JSON passed \
            through as it is, since its shape is the gateway's."
        ),
        chapter(FILES, "The checkout page, the loader and this description."),
    ])
}

pub(crate) fn security_schemes() -> Value {
    json!({
        "secret_key": {
            "type": "http",
            "scheme": "bearer",
            "description": "The store's `secret_key` of the proxy's configuration. It belongs on the store's server and \
                            nowhere else.",
        },
        "client_token": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "64 hexadecimal digits",
            "description": "Opens one order. It comes with the order, and with every call that opens the same order \
                            again.",
        },
    })
}

pub(crate) fn headers() -> Value {
    json!({
        "RequestId": {
            "description": "What to quote when asking for help; the log names it.",
            "required": true,
            "schema": { "type": "string", "pattern": "^req_[0-9a-f]{16}$" },
        },
        "RetryAfter": {
            "description": "Seconds until it makes sense to come back.",
            "required": true,
            "schema": { "type": "integer", "minimum": 0 },
        },
        "RetryAfterSome": {
            "description": "Seconds until it makes sense to come back. It comes with `request_in_progress`.",
            "required": false,
            "schema": { "type": "integer", "minimum": 0 },
        },
        "IdempotencyReplayed": {
            "description": "`true` when this response was given before to the same request with the same \
                            `Idempotency-Key`. A client token in it is fresh.",
            "required": false,
            "schema": { "const": "true" },
        },
        "ETag": {
            "description": "Names this response: send it back as `If-None-Match`.",
            "required": true,
            "schema": { "type": "string", "pattern": "^(W/)?\"[^\"]+\"$" },
        },
    })
}

pub(crate) fn refusal() -> Value {
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused.",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "message", "request_id"],
            "properties": {
                "code": { "type": "string", "enum": codes, "description": "For machines." },
                "message": { "type": "string", "minLength": 1, "description": "One or two sentences for people." },
                "gateway": {
                    "type": "object",
                    "description": "The gateway's message, when it refused the store's request.",
                    "required": ["status"],
                    "properties": {
                        "status": { "type": "integer", "minimum": 400, "maximum": 499 },
                        "error": { "type": "string" },
                        "code": { "type": "string", "description": "One of the gateway's own codes." },
                        "message": { "type": "string" },
                    },
                },
                "reason": {
                    "type": "string",
                    "description": "For the shop's developer, in the test environment alone: what of the page's request is wrong.",
                },
                "field": { "type": "string", "description": "The member or parameter at fault, when it is one." },
                "request_id": {
                    "type": "string",
                    "pattern": "^req_[0-9a-f]{16}$",
                    "description": "What to quote when asking for help; also the header `X-Request-Id`.",
                },
            },
        },
        "offer": { "$ref": "#/components/schemas/Offer" } },
    })
}

// The webhooks in the API document.

fn webhooks(types: &mut Types) -> Value {
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
        EventType::RefundAddressAdded => {
            "The customer named an address for a refund, or another one: `refund_address`"
        }
        EventType::Refunded => "The store has recorded money that it sent back: `refunds`",
        EventType::LatePayment => {
            "Money arrived for an attempt that was over or replaced, or for an order that was paid already"
        }
    }
}
