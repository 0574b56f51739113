//! GET /openapi.json: the HTTP described for machines, made from the types and the codes that answer.
//!
//! Nothing is written twice: shapes come from the types (through [`Types`]), refusals from [`checkout_api::ErrorCode`],
//! events from [`ledger::EventType`]. By hand are only the operations themselves, one list per caller; a test in
//! `tests/it/openapi.rs` compares them with the router, and every answer of every journey with its shape.

mod browser;
mod information;
mod operation;
mod service;
mod statics;
mod store;
mod types;
mod webhooks;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};

use self::operation::Operation;
use self::types::Types;
use crate::state::AppState;

pub(crate) use webhooks::events;

/// The document, which holds no secret: any page may read it.
pub(super) async fn document(State(app): State<Arc<AppState>>) -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "public, max-age=300"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (headers, openapi(app.config.public_url.base()).to_string())
}

/// The description of a proxy at this address.
pub fn openapi(base: &str) -> Value {
    let mut types = Types::new();
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

fn operations(types: &mut Types) -> Vec<Operation> {
    [
        browser::operations(types),
        store::operations(types),
        service::operations(types),
        statics::operations(types),
    ]
    .concat()
}
