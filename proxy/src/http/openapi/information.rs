//! The parts of the API document beside its operations: introduction, chapters, keys and headers.

use florin_checkout_api::ErrorCode;
use serde_json::{Value, json};

/// The chapters, in the order in which they are read.
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
        } },
    })
}
