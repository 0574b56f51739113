//! Requests that no client library sends: malformed HTTP, and bodies that are no JSON object. Each gets an error or a closed
//! connection, never a 500, and opens no unintended order. Connections that stay silent are in `proxy/src/http/connections.rs`.
//!
//! `tests/schemathesis` sends thousands more against the description, and what a request may name is in
//! `crates/checkout-api/src/tests/requests.rs`. Source of bodies: examples of classes of
//! <https://github.com/nst/JSONTestSuite> at 1ef36fa, `test_parsing` (2016 to 2024); copied by hand.

use std::time::Duration;

use reqwest::Method;
use support::{CONTRACT, HttpResponse, World, secrets};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::helpers::ebook;
const EBOOK: &str = r#"{"store":"demo","product":"ebook"}"#;
/// Longer than the proxy waits for a body.
const PATIENCE: Duration = Duration::from_secs(20);

/// Writes POST /v1/checkout with these header lines and this raw body.
fn open_order(lines: &str, body: &str) -> Vec<u8> {
    let head = "POST /v1/checkout HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    format!("{head}{lines}\r\n{body}").into_bytes()
}

fn get_request(path: &str, lines: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: x\r\n{lines}\r\n").into_bytes()
}

/// Sends bytes, and reads until the proxy closes the connection.
async fn response(world: &World, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(world.listen_address()).await.unwrap();
    // A server that has answered early may have closed the connection.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all));
    // A connection that is closed with unread bytes is reset.
    let _ = read.await.expect("the proxy closes what it cannot read");
    String::from_utf8_lossy(&all).into_owned()
}

fn statuses(response: &str) -> Vec<&str> {
    let lines = response.lines().filter(|line| line.starts_with("HTTP/1."));
    lines.map(|line| &line[9..12]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_request_is_rejected_and_the_connection_closed() {
    let world = World::start().await;
    let mut requests = vec![
        get_request("/v1/check\0out", ""),
        b"GET /v1/orders/\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        b"GET /openapi.json HTTP/2.0\r\nhost: x\r\n\r\n".to_vec(),
        b"\x00\x01\x02\xff\r\n\r\n".to_vec(),
    ];
    for lines in [
        "content-length: 34\r\ncontent-length: 3",
        "transfer-encoding: chunked, gzip",
    ] {
        requests.push(open_order(&format!("{lines}\r\n"), EBOOK));
    }
    for line in ["x-a: b\r\n c", "x-a : b", "x-a: b\0c"] {
        requests.push(get_request("/openapi.json", &format!("{line}\r\n")));
    }
    for bytes in &requests {
        let response = response(&world, bytes).await;
        let request = String::from_utf8_lossy(bytes);
        assert_eq!(statuses(&response), ["400"], "{request:?}: {response}");
    }
    // A second host is another one to a server in between. `middleware/request_log.rs` has the other headers.
    let length = EBOOK.len();
    let lines = format!("connection: close\r\ncontent-length: {length}\r\nhost: y\r\n");
    let twice = response(&world, &open_order(&lines, EBOOK)).await;
    assert_eq!(statuses(&twice), ["400"]);
    assert!(
        twice.contains("The header host came more than once"),
        "{twice}"
    );
    assert!(world.store().orders().await.is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_another_length_than_announced_opens_nothing() {
    let world = World::start().await;
    for (lines, body, status) in [
        ("transfer-encoding: chunked", "zz\r\n{}\r\n", "413"),
        // Shorter and longer than announced, and not announced.
        ("content-length: 99", EBOOK, "413"),
        ("content-length: 20", EBOOK, "400"),
        ("connection: close", EBOOK, "400"),
    ] {
        let request = open_order(&format!("{lines}\r\n"), body);
        let response = response(&world, &request).await;
        assert_eq!(statuses(&response)[0], status, "{lines}: {response}");
        assert!(!response.contains("client_token"), "{lines}: {response}");
    }
    // A missing body is awaited for ten seconds, but not one that is too large anyway.
    let lines = "content-length: 10000000000\r\nconnection: close\r\n";
    let request = open_order(lines, EBOOK);
    let large = tokio::time::timeout(Duration::from_secs(5), response(&world, &request)).await;
    let large = large.expect("the body is not awaited");
    assert_eq!(statuses(&large), ["413"], "{large}");
    assert!(world.store().orders().await.is_empty());

    // Request smuggling: a reverse proxy that reads the length and a server that reads the chunks would see different
    // requests. The bytes after the chunks are never read as a request.
    let hidden = "GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n";
    let body = format!("{:x}\r\n{EBOOK}\r\n0\r\n\r\n{hidden}", EBOOK.len());
    for lines in [
        "content-length: 4\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    ] {
        let response = response(&world, &open_order(lines, &body)).await;
        assert_eq!(statuses(&response), ["201"], "{response}");
    }
    let orders = world.store().orders().await;
    let prices: Vec<_> = orders.iter().map(|order| &order["amount"]).collect();
    assert_eq!(prices, ["19.90", "19.90"]);
    world.end().await;
}

/// Texts that are no JSON values, or that parsers read differently: nothing ambiguous is stored.
const NO_VALUES: [&str; 6] = ["", "NaN", "[1,]", "\"new\nline\"", "\"\\uD800\"", "1e9999"];

const VALUES: [&str; 3] = ["-0", "\"\\u0000\"", "{\"a\":\"b\",\"a\":\"c\"}"];

fn order(reference: usize, note: &str) -> String {
    format!(
        r#"{{"amount":"1.00","currency":"USD","reference":"json-{reference}","metadata":{{"note":{note}}}}}"#
    )
}

async fn open_with(world: &World, body: impl Into<reqwest::Body>) -> HttpResponse {
    let request = world
        .http()
        .post(format!("{}/v1/orders", world.proxy_url()))
        .bearer_auth(secrets::STORE_KEY)
        .header("content-type", "application/json")
        .body(body);
    let response = HttpResponse::read(request.send().await.unwrap()).await;
    CONTRACT.check(&Method::POST, "/v1/orders", &response);
    response
}

#[tokio::test]
async fn a_body_is_one_json_object_in_utf8() {
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
        let response = open_with(&world, body).await;
        assert_eq!(response.status, 400, "{text:?}: {}", response.text);
    }
    assert!(world.store().orders().await.is_empty());
    for (reference, note) in VALUES.iter().enumerate() {
        let response = open_with(&world, order(reference, note)).await;
        assert_eq!(response.status, 201, "{note:?}: {}", response.text);
    }

    // Of a page of any shop: `text/plain` would need no permission of the browser.
    let url = format!("{}/v1/checkout", world.proxy_url());
    let book = ebook().to_string();
    for media in ["application/x-www-form-urlencoded", "text/plain"] {
        let request = world.http().post(&url).header("content-type", media);
        let response = request.body(book.clone()).send().await.unwrap();
        let response = HttpResponse::read(response).await;
        response.refused(415, "unsupported_media_type");
    }
    assert_eq!(world.store().orders().await.len(), VALUES.len());
    world.end().await;
}
