//! What all pages share: the frame of the page, the headers that a careful shop sends, and the files of `/site/…`.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html as Body, IntoResponse, Response};

use crate::Settings;
use crate::html::Html;

/// How a page shows the checkout, which decides what its Content-Security-Policy must allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkout {
    /// In a frame of the proxy's own origin.
    Frame,
    /// In the page itself.
    Inline,
}

/// A whole page.
pub(super) fn page(
    status: StatusCode,
    settings: &Settings,
    checkout: Checkout,
    title: &str,
    main: Html,
) -> Response {
    let page = Html::template(
        include_str!("../../site/layout.html"),
        &[
            ("title", Html::text(title)),
            ("proxy_url", Html::text(&settings.proxy_url)),
            ("store", Html::text(&settings.store_id)),
            ("main", main),
        ],
    );
    let headers = [
        (
            header::CONTENT_SECURITY_POLICY,
            policy(&settings.proxy_url, checkout),
        ),
        (header::REFERRER_POLICY, "strict-origin".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (status, headers, Body(page.into_string())).into_response()
}

/// What a shop with a strict policy adds for Florin.
///
/// A frame needs two lines: the loader (`script-src`) and the frame itself (`frame-src`). Inline, the checkout runs as
/// a part of the page: it also needs `'wasm-unsafe-eval'` to compile, and `connect-src` for its files and its calls.
fn policy(proxy_url: &str, checkout: Checkout) -> String {
    let (wasm, connect) = match checkout {
        Checkout::Frame => ("", String::new()),
        Checkout::Inline => (" 'wasm-unsafe-eval'", format!(" {proxy_url}")),
    };
    format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; \
         script-src 'self' {proxy_url}{wasm}; connect-src 'self'{connect}; frame-src {proxy_url}; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Name, media type and text of each file.
const FILES: [(&str, &str, &str); 8] = [
    (
        "shop.css",
        "text/css; charset=utf-8",
        include_str!("../../site/shop.css"),
    ),
    (
        "shop.js",
        "text/javascript; charset=utf-8",
        include_str!("../../site/shop.js"),
    ),
    (
        "theme-builder.css",
        "text/css; charset=utf-8",
        include_str!("../../site/theme-builder.css"),
    ),
    (
        "theme-builder.js",
        "text/javascript; charset=utf-8",
        include_str!("../../site/theme-builder.js"),
    ),
    (
        "ebook.svg",
        "image/svg+xml",
        include_str!("../../site/art/ebook.svg"),
    ),
    (
        "mug.svg",
        "image/svg+xml",
        include_str!("../../site/art/mug.svg"),
    ),
    (
        "piano.svg",
        "image/svg+xml",
        include_str!("../../site/art/piano.svg"),
    ),
    (
        "sticker.svg",
        "image/svg+xml",
        include_str!("../../site/art/sticker.svg"),
    ),
];

/// `GET /site/…`: style, script and pictures, part of the program.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let Some((_, media_type, text)) = FILES.iter().find(|(file, ..)| *file == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, *media_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, *text).into_response()
}
