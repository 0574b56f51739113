//! Bodies that a JSON parser must reject, and those that it must accept.
//!
//! Source: the classification of <https://github.com/nst/JSONTestSuite> at 1ef36fa, `test_parsing` (2016 to 2024);
//! copied by hand.

use reqwest::Method;
use support::{CONTRACT, HttpResponse, World, eventually, secrets};

/// Invalid JSON values.
const NO_VALUES: &[&str] = &[
    "",
    "*",
    "x",
    "<null>",
    "abc",
    "å",
    "'single'",
    "tru",
    "fals",
    "nul",
    "True",
    "NULL",
    "truth",
    "NaN",
    "Inf",
    "-NaN",
    "+Inf",
    "Infinity",
    "-Infinity",
    "+1",
    "++1234",
    "-",
    "- 1",
    "-foo",
    "-1x",
    "-01",
    "-012",
    "012",
    "-.123",
    ".123",
    ".2e-3",
    ".-1",
    "1.",
    "-2.",
    "-1.0.",
    "0.1.2",
    "0.e1",
    "2.e3",
    "2.e+3",
    "2.e-3",
    "9.e+",
    "0.3e",
    "0.3e+",
    "0e",
    "0E",
    "0e+",
    "0E+",
    "0e+-1",
    "1.0e",
    "1.0e-",
    "1.0e+",
    "1eE2",
    "1ea",
    "1 000.0",
    "1+2",
    "1.2a-3",
    "1.8011670033376514H-308",
    "0x1",
    "0x42",
    "-123.123foo",
    "123\0",
    "１",
    "[",
    "]",
    "[1 true]",
    "[\"\": 1]",
    "[,1]",
    "[1,,2]",
    "[\"x\"]]",
    "[\"\",]",
    "[\"x\"",
    "[x",
    "[3[4]]",
    "[1:2]",
    "[,]",
    "[-]",
    "[   , \"\"]",
    "[\"a\",\n4\n,1,",
    "[1,]",
    "[1,,]",
    "[\"\"",
    "[1,\n1\n,1",
    "[{}",
    "[1]x",
    "[][]",
    "[\"asd]",
    "[\u{2060}]",
    "[\u{c}]",
    "[\u{b}]",
    "{]",
    "[}",
    "{",
    "{[: \"x\"}",
    "{\"x\", null}",
    "{\"x\"::\"b\"}",
    "{\"a\":\"a\" 123}",
    "{key: 'value'}",
    "{\"a\" b}",
    "{:\"b\"}",
    "{\"a\" \"b\"}",
    "{\"a\":",
    "{\"a\"",
    "{1:1}",
    "{9999E9999:1}",
    "{null:null,null:null}",
    "{\"id\":0,,,,,}",
    "{'a':0}",
    "{\"id\":0,}",
    "{\"a\":\"b\"}/**/",
    "{\"a\":\"b\"}//",
    "{\"a\":/*why*/\"b\"}",
    "{\"a\":\"b\",,\"c\":\"d\"}",
    "{a: \"b\"}",
    "{\"a\":\"a",
    "{\"foo\":\"bar\",\"a\"}",
    "{\"a\":\"b\"}#",
    "{\"a\": true} \"x\"",
    "\"",
    "\"\\\"",
    "\"\\",
    "\"\\uD800\\\"",
    "\"\\uD800\\u\"",
    "\"\\uD800\\u1\"",
    "\"\\uD800\\u1x\"",
    "\"\\a\"",
    "\"\\x00\"",
    "\"\\\\\\\"",
    "\"\\\t\"",
    "\"\\u00A\"",
    "\"\\uqqqq\"",
    "\"\\UA66D\"",
    "\"\\u\"",
    "\"\\🌀\"",
    "\"a\0a\"",
    "\"new\nline\"",
    "\"\t\"",
    "\"\u{1f}\"",
    "\"\"x",
    "\u{a0}1",
    "\u{feff}1",
];

/// Valid JSON values.
const VALUES: &[&str] = &[
    "[]",
    "{}",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "[[]   ]",
    "[\"\"]",
    "[ 1]",
    "[1\n]",
    "[1,null,null,null,2]",
    "[null, 1, \"1\", {}]",
    "123e65",
    "0e+1",
    "0e1",
    "20e1",
    "1E22",
    "1E-2",
    "1E+2",
    "123.456e78",
    "123.456789",
    "1e-2",
    "-0.0000000000000000000000000000000001",
    "\"\"",
    "\" \"",
    "\"a/*b*/c\"",
    "\"\\u0060\\u012a\\u12AB\"",
    "\"\\uD801\\udc37\"",
    "\"\\ud83d\\ude39\\ud83d\\udc8d\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\\\u0000\"",
    "\"\\u0000\"",
    "\"\\u0012\"",
    "\"\\uFFFF\"",
    "\"\\uDBFF\\uDFFF\"",
    "\"\\u200B\"",
    "\"\u{7f}\"",
    "\"\u{2028}\u{2029}\"",
    "\"\u{10ffff}\"",
    "\"€𝄞\"",
    "{\"a\":\"b\",\"a\":\"c\"}",
    "{\"\":0}",
    "{\"a\":[]}",
    "{\"foo\\u0000bar\": 42}",
    "{\"min\": -1.0e+28, \"max\": 1.0e+28}",
    "\t[1]\r\n ",
];

/// Texts that parsers read differently; rejected, so that nothing ambiguous is stored.
const DOUBTFUL: &[&str] = &[
    "\"\\uD800\"",
    "\"\\uDd1e\\uD834\"",
    "\"\\uD888\\u1234\"",
    "\"\\udc00\"",
    "\"\\uD800\\uD800\\n\"",
    "1e9999",
    "-1e9999",
    "1.5e+9999",
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

#[tokio::test(flavor = "multi_thread")]
async fn invalid_json_is_rejected() {
    let world = World::start().await;
    for note in NO_VALUES.iter().chain(DOUBTFUL) {
        let response = open_order(&world, order(0, note)).await;
        assert_eq!(response.status, 400, "{note:?}: {}", response.text);
        response.refused(400, "invalid_request");
    }
    let orders = world.store().get("/v1/orders").await.with(200);
    assert_eq!(orders.body["orders"], serde_json::json!([]));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn valid_json_is_accepted() {
    let world = World::start().await;
    for (reference, note) in VALUES.iter().enumerate() {
        let response = open_order(&world, order(reference, note)).await;
        assert_eq!(response.status, 201, "{note:?}: {}", response.text);
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_utf8_or_not_an_object_is_rejected() {
    let world = World::start().await;
    let whole = order(0, "1");
    let mut bodies: Vec<Vec<u8>> = [
        "",
        " ",
        "null",
        "1",
        "\"\"",
        "[]",
        "{}",
        "{",
        "}",
        "[{}]",
        "{\"amount\":",
        "\u{feff}{}",
        "\0",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    // Truncated, followed by more bytes, and in other encodings.
    bodies.extend((1..whole.len()).map(|end| whole.as_bytes()[..end].to_vec()));
    bodies.push(format!("{whole}{whole}").into_bytes());
    bodies.push(format!("{whole},").into_bytes());
    bodies.push(format!("{whole}\0").into_bytes());
    bodies.push(whole.encode_utf16().flat_map(u16::to_le_bytes).collect());
    for wrong in [
        &b"\xff"[..],
        b"\xe5",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\xbf\xbf\xbf",
        b"\xfc\x80\x80\x80\x80\xaf",
        b"\xe2\x82",
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

#[tokio::test(flavor = "multi_thread")]
async fn unlimited_nesting_is_rejected() {
    let world = World::start().await;
    for note in [
        "[".repeat(50_000),
        "{\"\":".repeat(12_000),
        "[{\"\":".repeat(10_000),
    ] {
        open_order(&world, note.clone())
            .await
            .refused(400, "invalid_request");
        open_order(&world, order(0, &note))
            .await
            .refused(400, "invalid_request");
    }
    let rejected = eventually("the large body is answered", async || {
        try_open_order(&world, "[".repeat(100_000)).await
    })
    .await;
    rejected.refused(413, "payload_too_large");
    world.end().await;
}
