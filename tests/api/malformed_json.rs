//! Bodies that a JSON parser must reject, and those that it must accept. The requests of `tests/schemathesis` have thousands more.
//!
//! Source: examples of each class of <https://github.com/nst/JSONTestSuite> at 1ef36fa, `test_parsing` (2016 to 2024);
//! copied by hand.

use reqwest::Method;
use serde_json::json;
use support::{CONTRACT, HttpResponse, World, eventually, secrets};

/// Invalid JSON values.
const NO_VALUES: &[&str] = &[
    "",
    "'single'",
    "tru",
    "NaN",
    "-Infinity",
    "+1",
    ".123",
    "1.",
    "0x42",
    "123\0",
    "１",
    "[1,]",
    "[\"x\"]]",
    "{\"x\"::\"b\"}",
    "{\"id\":0,}",
    "{\"a\":\"b\"}/**/",
    "\"\\uD800\\u1x\"",
    "\"new\nline\"",
    "\"a\0a\"",
    "\u{a0}1",
    "\u{feff}1",
];

/// Valid JSON values.
const VALUES: &[&str] = &[
    "[]",
    "-0",
    "[ 1,null, \"1\", {}]",
    "123.456e78",
    "-0.0000000000000000000000000000000001",
    "\"a/*b*/c\"",
    "\"\\u0060\\u012a\\u12AB\"",
    "\"\\ud83d\\ude39\\ud83d\\udc8d\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0000\"",
    "\"\u{7f}\u{2028}\u{10ffff}\"",
    "{\"a\":\"b\",\"a\":\"c\"}",
    "\t[1]\r\n ",
];

/// Texts that parsers read differently; rejected, so that nothing ambiguous is stored.
const DOUBTFUL: &[&str] = &[
    "\"\\uD800\"",
    "\"\\uDd1e\\uD834\"",
    "\"\\udc00\"",
    "1e9999",
    "1e999999999999999999999",
];

/// An order with this text as its note.
fn order(reference: usize, note: &str) -> String {
    format!(
        r#"{{"amount":"1.00","currency":"USD","reference":"json-{reference}","metadata":{{"note":{note}}}}}"#
    )
}

async fn open_order(world: &World, body: impl Into<reqwest::Body>) -> HttpResponse {
    try_open_order(world, body).await.unwrap()
}

/// `None` if the connection breaks, as it may when the proxy rejects a body before it has arrived.
async fn try_open_order(world: &World, body: impl Into<reqwest::Body>) -> Option<HttpResponse> {
    let request = world
        .http()
        .post(format!("{}/v1/orders", world.proxy_url()))
        .bearer_auth(secrets::STORE_KEY)
        .header("content-type", "application/json")
        .body(body);
    let response = HttpResponse::read(request.send().await.ok()?).await;
    CONTRACT.check(&Method::POST, "/v1/orders", &response);
    Some(response)
}

#[tokio::test]
async fn valid_json_is_accepted_and_everything_else_rejected() {
    let world = World::start().await;
    for note in NO_VALUES.iter().chain(DOUBTFUL) {
        let response = open_order(&world, order(0, note)).await;
        assert_eq!(response.status, 400, "{note:?}: {}", response.text);
        response.refused(400, "invalid_request");
    }
    assert!(world.store().orders().await.is_empty());
    for (reference, note) in VALUES.iter().enumerate() {
        let response = open_order(&world, order(reference, note)).await;
        assert_eq!(response.status, 201, "{note:?}: {}", response.text);
    }
    world.end().await;
}

#[tokio::test]
async fn a_body_that_is_not_utf8_or_not_an_object_is_rejected() {
    let world = World::start().await;
    let whole = order(0, "1");
    let wrong = [
        "",
        "null",
        "1",
        "\"\"",
        "[]",
        "{}",
        "}",
        "[{}]",
        "\u{feff}{}",
        "\0",
    ];
    let mut bodies: Vec<Vec<u8>> = wrong.map(|text| text.as_bytes().to_vec()).to_vec();
    // Truncated, followed by more bytes, and in other encodings.
    bodies.extend((1..whole.len()).map(|end| whole.as_bytes()[..end].to_vec()));
    bodies.extend([whole.as_str(), ",", "\0"].map(|more| format!("{whole}{more}").into_bytes()));
    bodies.push(whole.encode_utf16().flat_map(u16::to_le_bytes).collect());
    for wrong in [
        &b"\xff"[..],
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\xbf\xbf\xbf",
    ] {
        let whole = order(0, "\"~\"").into_bytes();
        let at = whole.iter().position(|byte| *byte == b'~').unwrap();
        bodies.push([&whole[..at], wrong, &whole[at + 1..]].concat());
    }
    for body in bodies {
        let text = String::from_utf8_lossy(&body).into_owned();
        let response = open_order(&world, body).await;
        assert_eq!(response.status, 400, "{text:?}: {}", response.text);
    }
    world.end().await;
}

#[tokio::test]
async fn unlimited_nesting_and_size_are_rejected() {
    let world = World::start().await;
    for note in ["[".repeat(50_000), "[{\"\":".repeat(10_000)] {
        for body in [note.clone(), order(0, &note)] {
            let refused = open_order(&world, body).await;
            refused.refused(400, "invalid_request");
        }
    }
    let rejected = eventually("the large body is answered", async || {
        try_open_order(&world, "[".repeat(100_000)).await
    })
    .await;
    rejected.refused(413, "payload_too_large");
    world.end().await;
}

/// Of a page of any shop: `text/plain` would need no permission of the browser.
#[tokio::test]
async fn a_body_of_another_media_type_or_method_is_rejected() {
    let world = World::start().await;
    let url = format!("{}/v1/checkout", world.proxy_url());
    let book = json!({ "store": "demo", "product": "ebook" }).to_string();
    for media in ["application/x-www-form-urlencoded", "text/plain"] {
        let request = world.http().post(&url).header("content-type", media);
        let response = request.body(book.clone()).send().await.unwrap();
        let response = HttpResponse::read(response).await;
        response.refused(415, "unsupported_media_type");
    }
    for body in [
        "[\"demo\", \"ebook\", null, null, null, null]",
        "{\"store\":\"demo\"}",
    ] {
        let page = world.customer();
        let response = page.request_order_with(body.into()).await;
        response.refused(400, "invalid_request");
    }
    let response = world.http().delete(&url).send().await.unwrap();
    let response = HttpResponse::read(response).await;
    response.refused(405, "method_not_allowed");
    world.end().await;
}
