//! What is the same for everybody.

use checkout_api::ErrorCode;
use serde_json::json;

use super::information::{self, FILES};
use super::operation::Operation;
use super::types::Types;
use crate::http::checkout_page::PageQuery;

pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
    types.keep("Refusal", information::refusal());
    let page = Operation::get("/pay", "checkout_page")
        .does(
            "The checkout page",
            "The order comes in the fragment, which no server sees. Only pages of the store's origins may frame it.",
        )
        .query::<PageQuery>(types)
        .answers_as(200, "The page.", "text/html", &json!({ "type": "string" }))
        .with_header(200, "ETag", "ETag");
    let loader = Operation::get("/florin.js", "loader")
        .does("The loader", "The script that defines `<florin-checkout>`.")
        .answers_as(
            200,
            "The script.",
            "text/javascript",
            &json!({ "type": "string" }),
        )
        .with_header(200, "ETag", "ETag");
    let declarations = Operation::get("/florin.d.ts", "loader_types")
        .does("The element's types", "For TypeScript.")
        .answers_as(
            200,
            "The declarations.",
            "text/plain",
            &json!({ "type": "string" }),
        )
        .with_header(200, "ETag", "ETag");
    let asset = Operation::get("/assets/{name}", "asset")
        .does(
            "A file of the checkout",
            "Named by its content, so that it never changes.",
        )
        .path(
            "name",
            "The file.",
            &json!({ "type": "string", "minLength": 1 }),
        )
        .answers_as(200, "The file.", "*/*", &json!({}))
        .with_header(200, "ETag", "ETag");
    let gallery = Operation::get("/gallery/{name}", "gallery")
        .does(
            "A file of the state gallery",
            "In the test environment alone, where `/pay#gallery` shows every state of the checkout.",
        )
        .path(
            "name",
            "The file.",
            &json!({ "type": "string", "minLength": 1 }),
        )
        .answers_as(200, "The file.", "*/*", &json!({}))
        .with_header(200, "ETag", "ETag");
    let files = [page, loader, declarations, asset, gallery].map(|file| {
        file.refuses(&[ErrorCode::NotFound])
            .header(
                "If-None-Match",
                "The `ETag` of the file that the page holds.",
                &json!({ "type": "string" }),
            )
            .answers_empty(304, "The same file as then.")
            .with_header(304, "ETag", "ETag")
    });
    let description = Operation::get("/openapi.json", "description")
        .does("This description", "OpenAPI 3.1.")
        .answers_as(
            200,
            "The document.",
            "application/json",
            &json!({ "type": "object" }),
        );
    files
        .into_iter()
        .chain([description])
        .map(|operation| operation.of(FILES))
        .collect()
}
