//! The parts that all pages share: text that is safe in a page, since what comes from elsewhere is escaped on its way in; the frame of
//! the page; the headers that a careful shop sends; and the files of `/site/…`.

use std::fmt;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html as Body, IntoResponse, Response};

use crate::Settings;

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

/// A piece of HTML. Made from our own templates, or by escaping.
#[derive(Clone, Debug)]
pub(crate) struct Html(String);

impl Html {
    /// A text, escaped for element content and for attributes in double quotes.
    pub(crate) fn text(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                c => out.push(c),
            }
        }
        Self(out)
    }

    /// One of our templates, each `{{name}}` replaced by its value.
    pub(crate) fn template(template: &'static str, values: &[(&str, Self)]) -> Self {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, tail) = after
                .split_once("}}")
                .expect("our templates close their braces");
            let value = values.iter().find(|(key, _)| *key == name);
            out.push_str(before);
            out.push_str(&value.expect("our templates name what they are given").1.0);
            rest = tail;
        }
        out.push_str(rest);
        Self(out)
    }

    /// One after the other.
    pub(crate) fn join(pieces: impl IntoIterator<Item = Self>) -> Self {
        Self(pieces.into_iter().map(|piece| piece.0).collect())
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_elsewhere_cannot_become_markup() {
        let page = Html::template(
            "<p title=\"{{t}}\">{{t}}</p>",
            &[("t", Html::text("\"><script>'&"))],
        );
        assert_eq!(
            page.to_string(),
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">&quot;&gt;&lt;script&gt;&#39;&amp;</p>"
        );
    }

    #[test]
    fn a_value_that_looks_like_a_name_is_not_filled_again() {
        let values = [("a", Html::text("{{b}}")), ("b", Html::text("no"))];
        assert_eq!(Html::template("{{a}}", &values).to_string(), "{{b}}");
    }
}
