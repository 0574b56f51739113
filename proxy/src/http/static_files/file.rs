//! The response with a file: its smallest form that the browser reads, and its tag.

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE,
    ETAG, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};

use crate::widget_files::File;

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
