//! The files of the widget. Those of other versions come from the database: their proxies share it with this one, or had it
//! before.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE,
    ETAG, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use florin_checkout_api::{Environment, ErrorCode};
use florin_storage::StorageError;
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::openapi::FILES;
use crate::http::openapi::operation::{Auth, Operation, Types};
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
    let Some(kept) = app.storage.static_file(name).await? else {
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

// The response with a file: its smallest form that the browser reads, and its tag.

/// Named by their content: cached for good.
pub(crate) const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// Named for good: revalidated after five minutes, mostly with 304.
pub(crate) const FRESH: &str = "public, max-age=300";

pub(crate) fn response(file: &File, headers: &HeaderMap, cache: &'static str) -> Response {
    let tag = file.tag();
    let mut fixed = HeaderMap::new();
    fixed.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    fixed.insert(VARY, HeaderValue::from_static("accept-encoding"));
    fixed.insert(ETAG, etag(tag));
    fixed.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if holds_tag(headers, tag) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    fixed.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(content_type(&file.name)),
    );
    let (encoding, bytes) = smallest(file, headers);
    if let Some(encoding) = encoding {
        fixed.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    (fixed, bytes).into_response()
}

pub(crate) fn etag(tag: &str) -> HeaderValue {
    HeaderValue::from_str(tag).expect("a tag is plain ASCII")
}

/// Returns `true` if the request's `If-None-Match` lists the tag. Reverse proxies weaken a tag when they compress, so a weak
/// one is the same. Source: RFC 9110, section 13.1.2.
pub(crate) fn holds_tag(headers: &HeaderMap, tag: &str) -> bool {
    let Some(listed) = headers.typed_get::<IfNoneMatch>() else {
        return false;
    };
    let tag = tag.parse::<ETag>();
    tag.is_ok_and(|tag| !listed.precondition_passes(&tag))
}

/// Code and texts without a secret: any page may load them.
pub(crate) fn public(mut response: Response) -> Response {
    let anyone = HeaderValue::from_static("*");
    response
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, anyone);
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    response
        .headers_mut()
        .insert(policy, HeaderValue::from_static("cross-origin"));
    response
}

fn smallest(file: &File, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
    let accepted = headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let accepts = |encoding: &str| {
        accepted.split(',').any(|choice| {
            let mut parts = choice.split(';').map(str::trim);
            parts.next() == Some(encoding) && !parts.any(|part| part == "q=0")
        })
    };
    match (&file.brotli, &file.gzip) {
        (Some(bytes), _) if accepts("br") => (Some("br"), bytes.clone()),
        (_, Some(bytes)) if accepts("gzip") => (Some("gzip"), bytes.clone()),
        _ => (None, file.whole.clone()),
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("html") => "text/html; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::IF_NONE_MATCH;

    use super::*;

    #[test]
    fn a_browser_holds_each_tag_that_it_lists() {
        for (listed, holds) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", W/\"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(listed));
            for tag in ["\"a\"", "W/\"a\""] {
                assert_eq!(holds_tag(&headers, tag), holds, "{listed}");
            }
        }
        assert!(!holds_tag(&HeaderMap::new(), "\"a\""));
    }
}
