//! The files of the widget. Those of other versions come from the database: their proxies share it with this one, or had it
//! before.

pub(crate) mod file;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use florin_checkout_api::{Environment, ErrorCode};
use florin_storage::StorageError;
use serde_json::{Value, json};

use self::file::{FRESH, IMMUTABLE, public, response};
use crate::http::error::ApiError;
use crate::http::openapi::information::FILES;
use crate::http::openapi::operation::{Auth, Operation};
use crate::http::openapi::types::Types;
use crate::state::AppState;
use crate::widget_files::{self, File};

const MAX_NAME: usize = 100;

pub(crate) async fn immutable(
    State(app): State<Arc<AppState>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if let Some(file) = widget_files::find_asset(&name) {
        return Ok(public(response(file, &headers, IMMUTABLE)));
    }
    let file = of_other_version(&app, &name).await?;
    let file = file.ok_or_else(missing)?;
    Ok(public(response(&file, &headers, IMMUTABLE)))
}

/// A page that was loaded before an upgrade or a roll-back asks for its files afterwards. Meanwhile, the proxies on one
/// database are of two versions, and it asks any of them.
async fn of_other_version(app: &AppState, name: &str) -> Result<Option<Arc<File>>, StorageError> {
    if let Some(file) = app.other_assets.get(name) {
        return Ok(Some(file));
    }
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.len() > MAX_NAME || !name.bytes().all(is_sound) {
        return Ok(None);
    }
    let Some(kept) = app.deps.storage.static_file(name).await? else {
        return Ok(None);
    };
    let file = Arc::new(File::kept(kept));
    app.other_assets.insert(name.to_owned(), file.clone());
    Ok(Some(file))
}

pub(crate) fn describe_immutable(_: &mut Types) -> Operation {
    describe_file(
        Operation::new("asset", FILES, Auth::None)
            .summary(
                "A file of the checkout",
                "Named by its content, so that it never changes.",
            )
            .path("name", "The file.", &file_name())
            .responds_as(200, "The file.", "*/*", &json!({})),
    )
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn file_name() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// `/gallery/{name}`: every state of the checkout on canned responses, for those who build a shop. In production there is
/// none.
pub(crate) async fn gallery(
    State(app): State<Arc<AppState>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_test = app.config().environment == Environment::Test;
    let file = find(&format!("gallery/{name}"));
    let file = file.ok().filter(|_| is_test).ok_or(ApiError::NoSuchFile)?;
    Ok(response(file, &headers, "no-cache"))
}

pub(crate) fn describe_gallery(_: &mut Types) -> Operation {
    describe_file(Operation::new("gallery", FILES, Auth::None)
        .summary(
            "A file of the state gallery",
            "In the test environment alone, where `/pay#gallery` shows every state of the checkout.",
        )
        .path("name", "The file.", &file_name())
        .responds_as(200, "The file.", "*/*", &json!({})))
}

/// `/florin.js`: that of the proxy's environment, with the proxy's address, so that its text works from any place.
pub(crate) async fn loader(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let config = app.config();
    let file = find(match config.environment {
        Environment::Test => "florin.test.js",
        Environment::Production => "florin.js",
    })?;
    let file = app
        .loader
        .get_or_init(|| file.replaced("%PUBLIC_URL%", &format!("{}/", config.public_url.base())));
    Ok(public(response(file, &headers, FRESH)))
}

pub(crate) fn describe_loader(_: &mut Types) -> Operation {
    describe_file(
        Operation::new("loader", FILES, Auth::None)
            .summary("The loader", "The script that defines `<florin-checkout>`.")
            .responds_as(200, "The script.", "text/javascript", &text()),
    )
}

pub(crate) async fn types(headers: HeaderMap) -> Result<Response, ApiError> {
    let file = find("florin.d.ts")?;
    Ok(public(response(file, &headers, FRESH)))
}

pub(crate) fn describe_types(_: &mut Types) -> Operation {
    describe_file(
        Operation::new("loader_types", FILES, Auth::None)
            .summary("The element's types", "For TypeScript.")
            .responds_as(200, "The declarations.", "text/plain", &text()),
    )
}

/// # Errors
/// Not found; and when the binary was built without the widget, how to build it with.
pub(crate) fn find(name: &str) -> Result<&'static File, ApiError> {
    widget_files::find(name).ok_or_else(missing)
}

fn missing() -> ApiError {
    if widget_files::has_widget() {
        ApiError::NoSuchFile
    } else {
        ApiError::NoWidget
    }
}

/// What every file has in common: a tag by which a browser asks whether it changed.
pub(crate) fn describe_file(operation: Operation) -> Operation {
    operation
        .with_header(200, "ETag", "ETag")
        .errors(&[ErrorCode::NotFound])
        .header(
            "If-None-Match",
            "The `ETag` of the file that the page holds.",
            &json!({ "type": "string" }),
        )
        .responds_empty(304, "The same file as then.")
        .with_header(304, "ETag", "ETag")
}
