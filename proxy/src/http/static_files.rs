//! The built widget, compressed when it was built, out of the binary.

use std::sync::{Arc, OnceLock};

use axum::extract::{Path, State};
use axum::http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE,
    ETAG, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use florin_checkout_api::{Environment, ErrorCode};
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::http::error::ApiError;
use crate::http::openapi::information::FILES;
use crate::http::openapi::operation::Operation;
use crate::state::AppState;

/// One file of the built widget.
pub(crate) struct File {
    name: &'static str,
    whole: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
    /// Computed at the first request: hashing at every request would cost more than sending.
    tag: OnceLock<HeaderValue>,
}

impl File {
    /// The content, uncompressed.
    pub(crate) fn whole(&self) -> &'static [u8] {
        self.whole
    }

    /// Names the content, for `ETag`.
    fn tag(&self) -> &HeaderValue {
        self.tag.get_or_init(|| {
            let digest = Sha256::digest(self.whole);
            let tag = format!("\"{}\"", hex::encode(&digest[..8]));
            HeaderValue::from_str(&tag).expect("hexadecimal digits fit a header")
        })
    }
}

mod dist {
    use super::File;

    include!(concat!(env!("OUT_DIR"), "/dist.rs"));
}

/// Named by their content: cached for good.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// Named for good: revalidated after five minutes, mostly with 304.
const FRESH: &str = "public, max-age=300";

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

/// The file in the smallest form that the browser reads.
pub(crate) fn answer(file: &File, headers: &HeaderMap, cache: &'static str) -> Response {
    let tag = file.tag();
    let mut fixed = HeaderMap::new();
    fixed.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    fixed.insert(VARY, HeaderValue::from_static("accept-encoding"));
    fixed.insert(ETAG, tag.clone());
    fixed.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if holds_tag(headers, tag.to_str().unwrap_or_default()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    fixed.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(content_type(file.name)),
    );
    let (encoding, bytes) = smallest(file, headers);
    if let Some(encoding) = encoding {
        fixed.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    (fixed, bytes).into_response()
}

/// Returns `true` if the request's `If-None-Match` lists the tag. Reverse proxies weaken a tag when they compress, so a weak
/// one is the same. Source: RFC 9110, section 13.1.2.
pub(crate) fn holds_tag(headers: &HeaderMap, tag: &str) -> bool {
    let tag: Option<ETag> = tag.parse().ok();
    let listed = headers.typed_get::<IfNoneMatch>().zip(tag);
    listed.is_some_and(|(listed, tag)| !listed.precondition_passes(&tag))
}

/// Code and texts without a secret: any page may load them.
fn public(mut answer: Response) -> Response {
    let anyone = HeaderValue::from_static("*");
    answer
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, anyone);
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    answer
        .headers_mut()
        .insert(policy, HeaderValue::from_static("cross-origin"));
    answer
}

fn smallest(file: &File, headers: &HeaderMap) -> (Option<&'static str>, &'static [u8]) {
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
    match (file.brotli, file.gzip) {
        (Some(bytes), _) if accepts("br") => (Some("br"), bytes),
        (_, Some(bytes)) if accepts("gzip") => (Some("gzip"), bytes),
        _ => (None, file.whole),
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
            assert_eq!(holds_tag(&headers, "\"a\""), holds, "{listed}");
            assert_eq!(holds_tag(&headers, "W/\"a\""), holds, "{listed}");
        }
        assert!(!holds_tag(&HeaderMap::new(), "\"a\""));
    }
}
