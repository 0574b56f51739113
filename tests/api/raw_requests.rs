//! Malformed HTTP that no client library sends, written to the socket byte by byte.
//!
//! Each gets an error or a closed connection, never a 500, and opens no unintended order.

use std::time::Duration;

use support::World;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

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
        "content-length: +34",
        "content-length: 99999999999999999999",
        "transfer-encoding: identity",
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
    // A second host is another one to a server in between. `request_log.rs` has the other headers.
    let length = EBOOK.len();
    let lines = format!("connection: close\r\ncontent-length: {length}\r\nhost: y\r\n");
    let twice = response(&world, &open_order(&lines, EBOOK)).await;
    assert_eq!(statuses(&twice), ["400"]);
    assert!(
        twice.contains("The header host came more than once"),
        "{twice}"
    );
    // Too large: unread bytes may reset the connection before the response is read.
    let many: String = (0..200).map(|_| "x-a: b\r\n").collect();
    let long = "a".repeat(400_000);
    for bytes in [
        get_request("/openapi.json", &many),
        get_request("/openapi.json", &format!("x-a: {long}\r\n")),
        get_request(&format!("/{long}"), ""),
    ] {
        let response = response(&world, &bytes).await;
        let expected = statuses(&response);
        assert!(matches!(expected[..], ["431"] | []), "{response}");
    }
    assert!(world.store().orders().await.is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_another_length_than_announced_opens_nothing() {
    let world = World::start().await;
    for (lines, body, status) in [
        // Chunks without a size, and with one that overflows.
        ("transfer-encoding: chunked", "zz\r\n{}\r\n", "413"),
        (
            "transfer-encoding: chunked",
            "ffffffffffffffff1\r\n{}",
            "413",
        ),
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

#[tokio::test(flavor = "multi_thread")]
async fn unusual_request_forms_reach_no_other_route() {
    let world = World::start().await;
    let close = "host: x\r\nconnection: close\r\n\r\n";
    for (line, status) in [
        ("GET /openapi.json HTTP/1.0", "200"),
        ("GET http://elsewhere.example/openapi.json HTTP/1.1", "200"),
        ("GET /assets/../openapi.json HTTP/1.1", "404"),
        ("GET /assets/..%2f..%2fetc%2fpasswd HTTP/1.1", "404"),
        ("CONNECT elsewhere.example:443 HTTP/1.1", "404"),
        ("OPTIONS * HTTP/1.1", "404"),
        ("TRACE /v1/checkout HTTP/1.1", "405"),
        ("get /openapi.json HTTP/1.1", "405"),
    ] {
        let response = response(&world, format!("{line}\r\n{close}").as_bytes()).await;
        assert_eq!(statuses(&response), [status], "{line}: {response}");
    }
    world.end().await;
}
