//! Bodies that are no JSON object, or no request. `tests/schemathesis` sends thousands more against the description, and what a
//! request may name is in `crates/checkout-api/src/tests/requests.rs`.
//!
//! Source: examples of classes of <https://github.com/nst/JSONTestSuite> at 1ef36fa, `test_parsing` (2016 to 2024); copied by
//! hand.

use reqwest::Method;
use serde_json::json;
use support::{CONTRACT, HttpResponse, World, eventually, secrets};

/// Texts that are no JSON values, or that parsers read differently: nothing ambiguous is stored.
const NO_VALUES: [&str; 6] = ["", "NaN", "[1,]", "\"new\nline\"", "\"\\uD800\"", "1e9999"];

/// Valid JSON values.
const VALUES: [&str; 3] = ["-0", "\"\\u0000\"", "{\"a\":\"b\",\"a\":\"c\"}"];

/// An order with this text as its note.
fn order(reference: usize, note: &str) -> String {
    format!(
        r#"{{"amount":"1.00","currency":"USD","reference":"json-{reference}","metadata":{{"note":{note}}}}}"#
    )
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
async fn a_body_is_one_json_object_of_a_bounded_size_in_utf8() {
    let world = World::start().await;
    let whole = order(0, "1");
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    let notes = NO_VALUES.iter().map(|note| order(0, note).into_bytes());
    bodies.extend(notes);
    let wrong = ["", "null", "[{}]", "\u{feff}{}"];
    bodies.extend(wrong.map(|text| text.as_bytes().to_vec()));
    // Truncated, followed by more bytes, in another encoding, and nested without end.
    bodies.push(whole.as_bytes()[..whole.len() - 1].to_vec());
    bodies.push(format!("{whole},").into_bytes());
    let letters = order(0, "\"~\"").into_bytes().into_iter();
    let latin = letters.map(|byte| if byte == b'~' { 0xe4 } else { byte });
    bodies.push(latin.collect());
    bodies.push(order(0, &"[".repeat(50_000)).into_bytes());
    for body in bodies {
        let text = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let response = try_open_order(&world, body).await.unwrap();
        assert_eq!(response.status, 400, "{text:?}: {}", response.text);
    }
    assert!(world.store().orders().await.is_empty());
    for (reference, note) in VALUES.iter().enumerate() {
        let response = try_open_order(&world, order(reference, note)).await;
        let response = response.unwrap();
        assert_eq!(response.status, 201, "{note:?}: {}", response.text);
    }
    let rejected = eventually("the large body is answered", async || {
        try_open_order(&world, "[".repeat(100_000)).await
    })
    .await;
    rejected.refused(413, "payload_too_large");

    // Of a page of any shop: `text/plain` would need no permission of the browser.
    let url = format!("{}/v1/checkout", world.proxy_url());
    let book = json!({ "store": "demo", "product": "ebook" }).to_string();
    for media in ["application/x-www-form-urlencoded", "text/plain"] {
        let request = world.http().post(&url).header("content-type", media);
        let response = request.body(book.clone()).send().await.unwrap();
        let response = HttpResponse::read(response).await;
        response.refused(415, "unsupported_media_type");
    }
    for body in [
        r#"["demo", "ebook", null, null, null, null]"#,
        r#"{"store":"demo","product":"ebook","\u0061mount":"0.01"}"#,
        r#"{"store":"demo","product":"ebook","Quantity":5}"#,
        r#"{"store":"demo","product":"ebook","quantity":4294967297}"#,
    ] {
        let refused = world.customer().request_order_with(body.into()).await;
        refused.refused(400, "invalid_request");
    }
    assert_eq!(world.store().orders().await.len(), VALUES.len());
    world.end().await;
}
