//! `GET /site/…`: style, script and pictures, part of the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

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

pub(crate) async fn show(Path(name): Path<String>) -> Response {
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
