//! The built widget, compressed when it was built, out of the binary.

pub(crate) mod file;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use florin_checkout_api::{Environment, ErrorCode};
use serde_json::json;

use self::file::{FRESH, File, IMMUTABLE, answer, public};
use crate::http::error::ApiError;
use crate::http::openapi::information::FILES;
use crate::http::openapi::operation::Operation;
use crate::state::AppState;

mod dist {
    use super::File;

    include!(concat!(env!("OUT_DIR"), "/dist.rs"));
}

/// `/assets/{name}`.
pub(crate) async fn immutable(
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let file = find(&format!("assets/{name}"))?;
    Ok(public(answer(file, &headers, IMMUTABLE)))
}

pub(crate) fn describe_immutable() -> Operation {
    describe_file(
        Operation::get("/assets/{name}", "asset")
            .of(FILES)
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
            .with_header(200, "ETag", "ETag"),
    )
}

/// `/gallery/{name}`: every state of the checkout on canned answers, for those who build a shop. In production there is
/// none.
pub(crate) async fn gallery(
    State(app): State<Arc<AppState>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_test = app.config.environment == Environment::Test;
    let file = find(&format!("gallery/{name}"));
    let file = file.ok().filter(|_| is_test).ok_or(ApiError::NoSuchFile)?;
    Ok(answer(file, &headers, "no-cache"))
}

pub(crate) fn describe_gallery() -> Operation {
    describe_file(Operation::get("/gallery/{name}", "gallery")
        .of(FILES)
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
        .with_header(200, "ETag", "ETag"))
}

/// `/florin.js`: that of the proxy's environment.
pub(crate) async fn loader(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let file = find(match app.config.environment {
        Environment::Test => "florin.test.js",
        Environment::Production => "florin.js",
    })?;
    Ok(public(answer(file, &headers, FRESH)))
}

pub(crate) fn describe_loader() -> Operation {
    describe_file(
        Operation::get("/florin.js", "loader")
            .of(FILES)
            .does("The loader", "The script that defines `<florin-checkout>`.")
            .answers_as(
                200,
                "The script.",
                "text/javascript",
                &json!({ "type": "string" }),
            )
            .with_header(200, "ETag", "ETag"),
    )
}

/// `/florin.d.ts`.
pub(crate) async fn types(headers: HeaderMap) -> Result<Response, ApiError> {
    let file = find("florin.d.ts")?;
    Ok(public(answer(file, &headers, FRESH)))
}

pub(crate) fn describe_types() -> Operation {
    describe_file(
        Operation::get("/florin.d.ts", "loader_types")
            .of(FILES)
            .does("The element's types", "For TypeScript.")
            .answers_as(
                200,
                "The declarations.",
                "text/plain",
                &json!({ "type": "string" }),
            )
            .with_header(200, "ETag", "ETag"),
    )
}

/// A file of the built widget.
///
/// # Errors
/// Not found; and when the binary was built without the widget, how to build it with.
pub(crate) fn find(name: &str) -> Result<&'static File, ApiError> {
    let found = dist::FILES.iter().find(|file| file.name == name);
    found.ok_or_else(|| {
        if dist::FILES.is_empty() {
            ApiError::NoWidget
        } else {
            ApiError::NoSuchFile
        }
    })
}

/// What every file has in common: a tag by which a browser asks whether it changed.
pub(crate) fn describe_file(operation: Operation) -> Operation {
    operation
        .refuses(&[ErrorCode::NotFound])
        .header(
            "If-None-Match",
            "The `ETag` of the file that the page holds.",
            &json!({ "type": "string" }),
        )
        .answers_empty(304, "The same file as then.")
        .with_header(304, "ETag", "ETag")
}
