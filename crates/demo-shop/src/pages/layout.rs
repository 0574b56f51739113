//! What all pages share: the frame of the page, and the headers that a careful shop sends.

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
