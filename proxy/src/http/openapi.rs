//! GET /openapi.json: the HTTP described for machines, made from the types and the codes that answer.
//!
//! Nothing is written twice: shapes come from the types (through [`Types`]), refusals from [`florin_checkout_api::ErrorCode`],
//! events from [`florin_orders::EventType`]. By hand are only the operations themselves, each beside its handler; a test in
//! `tests/api/openapi.rs` compares them with the router, and every answer of every journey with its shape.

pub(crate) mod information;
pub(crate) mod operation;
pub(crate) mod types;
pub(crate) mod webhooks;

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};

use self::operation::Operation;
use self::types::Types;
use crate::http::openapi::information::FILES;
use crate::http::static_files::file::{FRESH, File, answer, public};
use crate::http::store_api::gateway;
use crate::http::{callbacks, checkout, checkout_page, receipts, static_files, store_api};
use crate::state::AppState;

/// The document, which holds no secret: any page may read it. It is made at the first request.
pub(crate) async fn document(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    let file = app.openapi.get_or_init(|| {
        let document = openapi(app.config().public_url.base());
        File::compressed("openapi.json", document.to_string())
    });
    public(answer(file, &headers, FRESH))
}

pub(crate) fn describe_document() -> Operation {
    Operation::get("/openapi.json", "description")
        .of(FILES)
        .does("This description", "OpenAPI 3.1.")
        .answers_as(
            200,
            "The document.",
            "application/json",
            &json!({ "type": "object" }),
        )
        .with_header(200, "ETag", "ETag")
        .header(
            "If-None-Match",
            "The `ETag` of the document that the client has.",
            &json!({ "type": "string" }),
        )
        .answers_empty(304, "The same document as then.")
        .with_header(304, "ETag", "ETag")
}

/// The description of a proxy at this address.
pub fn openapi(base: &str) -> Value {
    let mut types = Types::new();
    types.keep("Refusal", information::refusal());
    let operations = operations(&mut types);
    let webhooks = webhooks::webhooks(&mut types);
    let mut paths = Map::new();
    for operation in &operations {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[operation.method] = operation.to_json();
    }
    json!({
        "openapi": "3.1.1",
        "info": information::info(),
        "servers": [{ "url": base, "description": "This proxy." }],
        "tags": information::tags(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": information::security_schemes(),
            "headers": information::headers(),
            "schemas": types.into_schemas(),
        },
    })
}

/// Every endpoint, each described beside its handler.
fn operations(types: &mut Types) -> Vec<Operation> {
    vec![
        checkout::orders::describe_open(types),
        checkout::orders::describe_donation(types),
        checkout::orders::describe_show(types),
        checkout::payments::describe_quotes(types),
        checkout::payments::describe_attempt(types),
        checkout::payments::describe_session(types),
        checkout::payments::describe_email(types),
        checkout::payments::describe_paid(types),
        checkout::events::describe_events(types),
        receipts::describe_customer_receipt(types),
        store_api::orders::describe_open_order(types),
        store_api::orders::describe_orders(types),
        store_api::orders::describe_order(types),
        store_api::orders::describe_cancel(types),
        receipts::describe_store_receipt(types),
        receipts::describe_verify(types),
        store_api::events::describe_events(types),
        store_api::events::describe_redeliver(),
        store_api::events::describe_deliveries(types),
        store_api::events::describe_show_webhook(types),
        store_api::events::describe_enable_webhook(types),
        callbacks::describe_callback(),
        gateway::describe_currencies(),
        gateway::describe_invoice(types),
        gateway::describe_add_preferences(),
        gateway::describe_update_preferences(),
        gateway::describe_onboard_merchant(),
        gateway::describe_merchant_account(),
        gateway::describe_update_settings(),
        checkout_page::describe_page(types),
        static_files::describe_loader(),
        static_files::describe_types(),
        static_files::describe_immutable(),
        static_files::describe_gallery(),
        describe_document(),
    ]
}
