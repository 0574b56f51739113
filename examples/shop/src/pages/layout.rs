//! The parts that all pages share: their frame, the headers that a careful shop sends, the files of `/site/…`, and text that is
//! escaped on its way into a page.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html as Body, IntoResponse, Response};

use crate::shop::Shop;

/// How a page shows the checkout, which decides what its Content-Security-Policy must allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkout {
    /// In a frame of the proxy's own origin.
    Frame,
    /// In the page itself.
    Inline,
}

/// A whole page, with status 200.
pub(super) fn page(shop: &Shop, checkout: Checkout, title: &str, main: Html) -> Response {
    let proxy_url = &shop.settings.proxy_url;
    let page = shop.fill(
        include_str!("../../site/layout.html"),
        &[("title", Html::text(title)), ("main", main)],
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy(proxy_url, checkout)),
        (header::REFERRER_POLICY, "strict-origin".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, Body(page.0)).into_response()
}

impl Shop {
    /// One of our templates, each `{{name}}` replaced by its value; `{{store}}` by the store's id, `{{proxy_url}}` by the
    /// proxy's address.
    pub(super) fn fill(&self, template: &'static str, values: &[(&str, Html)]) -> Html {
        let settings = &self.settings;
        let always = [
            ("store", Html::text(&settings.store_id)),
            ("proxy_url", Html::text(&settings.proxy_url)),
        ];
        Html::template(template, &[values, &always].concat())
    }
}

/// What a shop with a strict policy adds for Florin.
///
/// A frame needs two lines: the loader (`script-src`) and the frame itself (`frame-src`), which works without the loader. Inline, the checkout runs as
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

/// Name and text of each file.
const FILES: [(&str, &str); 8] = [
    ("shop.css", include_str!("../../site/shop.css")),
    ("shop.js", include_str!("../../site/shop.js")),
    (
        "theme-builder.css",
        include_str!("../../site/theme-builder.css"),
    ),
    (
        "theme-builder.js",
        include_str!("../../site/theme-builder.js"),
    ),
    ("ebook.svg", include_str!("../../site/art/ebook.svg")),
    ("mug.svg", include_str!("../../site/art/mug.svg")),
    ("piano.svg", include_str!("../../site/art/piano.svg")),
    ("sticker.svg", include_str!("../../site/art/sticker.svg")),
];

/// `GET /site/…`: style, script and pictures, part of the program.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let Some((_, text)) = FILES.iter().find(|(file, _)| *file == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let media_type = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, *text).into_response()
}

/// A piece of HTML. Made from our own templates, or by escaping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Html(String);

impl Html {
    /// A text, escaped for element content and for attributes in double quotes.
    pub(crate) fn text(text: &str) -> Self {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        let escaped = escaped.replace('>', "&gt;").replace('"', "&quot;");
        Self(escaped.replace('\'', "&#39;"))
    }

    fn template(template: &'static str, values: &[(&str, Self)]) -> Self {
        let mut pieces = template.split("{{");
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (name, tail) = piece
                .split_once("}}")
                .expect("our templates close their braces");
            let value = values.iter().find(|(key, _)| *key == name);
            out += &value.expect("our templates name what they are given").1.0;
            out += tail;
        }
        Self(out)
    }

    /// One after the other.
    pub(crate) fn join(pieces: impl IntoIterator<Item = Self>) -> Self {
        Self(pieces.into_iter().map(|piece| piece.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_elsewhere_cannot_become_markup_or_a_name_that_is_filled() {
        let values = [
            ("t", Html::text("\"><script>'&")),
            ("n", Html::text("{{t}}")),
        ];
        let page = Html::template("<p title=\"{{t}}\">{{n}}</p>", &values);
        let expected = "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">{{t}}</p>";
        assert_eq!(page, Html(expected.to_owned()));
    }

    #[test]
    fn only_an_inline_checkout_may_compile_in_the_shops_origin() {
        let proxy = "http://proxy.example";
        assert!(!policy(proxy, Checkout::Frame).contains("wasm-unsafe-eval"));
        let inline = policy(proxy, Checkout::Inline);
        for part in [
            "script-src 'self' http://proxy.example 'wasm-unsafe-eval';",
            "connect-src 'self' http://proxy.example;",
        ] {
            assert!(inline.contains(part), "{inline}");
        }
    }
}
