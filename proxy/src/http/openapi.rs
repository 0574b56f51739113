//! GET /openapi.json: the HTTP described for machines, made from the types and the codes of responses.
//!
//! Nothing is written twice: shapes come from the types (through [`Types`]), refusals from [`florin_checkout_api::ErrorCode`],
//! events from [`florin_orders::EventType`]. By hand are only the operations themselves, each beside its handler; the router
//! lists them with their handlers. Tests compare every response of every journey with its shape.

pub(crate) mod information;
pub(crate) mod operation;
pub(crate) mod types;
pub(crate) mod webhooks;

use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};

use self::operation::{Auth, Operation};
use self::types::Types;
use crate::http::openapi::information::FILES;
use crate::http::static_files::file::{FRESH, public, response};
use crate::state::AppState;
use crate::widget_files::File;

/// The document, which holds no secret: any page may read it. `build` runs at the first request, with the address of the
/// proxy.
pub(crate) fn document(app: &AppState, headers: &HeaderMap, build: fn(&str) -> Value) -> Response {
    let file = app.openapi.get_or_init(|| {
        let document = build(app.config().public_url.base());
        File::compressed("openapi.json", document.to_string())
    });
    public(response(file, headers, FRESH))
}

pub(crate) fn describe_document(_: &mut Types) -> Operation {
    Operation::new("description", FILES, Auth::None)
        .summary("This description", "OpenAPI 3.1.")
        .responds_as(
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
        .responds_empty(304, "The same document as then.")
        .with_header(304, "ETag", "ETag")
}

/// The description of a proxy at this address, with these operations.
pub(crate) fn openapi(base: &str, operations: fn(&mut Types) -> Vec<Operation>) -> Value {
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
