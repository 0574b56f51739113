//! Untrusted clients: forged tokens and origins have no effect. What forged, repeated and
//! wrong callbacks cost is in `crates/storage/src/contract/callbacks.rs` and in the simulation.
//!
//! And requests that no client library sends: malformed HTTP, and bodies that are no JSON object. Each gets an error or a closed
//! connection, never a 500, and opens no unintended order. Connections that stay silent are in `proxy/src/http/connections.rs`.
//! `tests/schemathesis` sends thousands more against the description, and what a request may name is in
//! `crates/checkout-api/src/tests/requests.rs`. Source of bodies: examples of classes of
//! <https://github.com/nst/JSONTestSuite> at 1ef36fa, `test_parsing` (2016 to 2024); copied by hand.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use support::{CONTRACT, HttpResponse, World, eventually, secrets};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::helpers::{ebook, until_limited};

#[tokio::test]
async fn a_token_opens_its_own_order_and_unknown_foreign_and_expired_ones_get_the_same_response() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    world.customer().open("mug").await;
    assert_eq!(checkout.view().await["id"], checkout.order);
    let unknown = "0".repeat(64);
    let shouted = checkout.token().to_uppercase();
    let wrong = [
        unknown.as_str(),
        "",
        "abc",
        &checkout.token()[..63],
        &shouted,
        secrets::STORE_KEY,
        secrets::OTHER_STORE_KEY,
        secrets::TOKEN_KEY,
        &checkout.order,
    ];
    let customer = world.customer();
    let mut bodies = Vec::new();
    for (method, path) in CONTRACT.operations() {
        let operation = &CONTRACT.document()["paths"][path][method.as_str().to_lowercase()];
        if operation["security"][0].get("client_token").is_none() {
            continue;
        }
        for token in wrong.iter().map(|token| Some(*token)).chain([None]) {
            let body = json!({});
            let body = (method == Method::POST).then_some(&body);
            let sent = customer.send(method.clone(), path, token, body);
            let response = sent.await;
            bodies.push(response.refused(404, "not_found").without_request_id());
        }
    }
    // A valid token after its expiry: one month after the order's end.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(32 * 24));
    let expired = checkout.get("").await.refused(404, "not_found");
    eventually("the order's end is reported", async || {
        (world.webhooks.accepted(&checkout.order).len() == 2).then_some(())
    })
    .await;
    bodies.push(expired.without_request_id());
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:#?}");
    world.end().await;
}

#[tokio::test]
async fn a_page_of_another_origin_is_rejected_and_its_preflight_allows_nothing() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let shop = world.shop_url();
    for origin in [
        "https://evil.example",
        "https://other.example",
        "null",
        &shop.replace("127.0.0.1", "localhost"),
        &format!("{shop}.evil.example"),
    ] {
        let customer = world.customer().from_page_of(origin);
        let page = checkout.from_page_of(origin);
        for response in [
            customer.request_order(&ebook()).await,
            page.get("").await,
            page.get("/quotes").await,
            page.get("/receipt").await,
            page.get("/events").await,
            page.post("/paid", &json!({})).await,
        ] {
            let response = response.refused(403, "origin_not_allowed");
            let allowed = response.header("access-control-allow-origin");
            let is_a_stores = origin == "https://other.example";
            assert_eq!(allowed, is_a_stores.then_some(origin));
        }
    }
    let listed = checkout.get("").await.with(200);
    assert_eq!(
        listed.header("access-control-allow-origin"),
        Some(shop.as_str())
    );
    assert_eq!(listed.header("access-control-allow-credentials"), None);
    assert_eq!(listed.header("vary"), Some("origin"));

    let preflight = async |origin: &str| {
        let url = format!("{}/v1/checkout", world.proxy_url());
        let headers = "authorization,content-type,idempotency-key";
        let request = world.http().request(Method::OPTIONS, url);
        let request = request
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", headers);
        let response = HttpResponse::read(request.send().await.unwrap()).await;
        response.with(204)
    };
    let ours = preflight(&shop).await;
    let allowed = |name: &str| ours.header(&format!("access-control-allow-{name}"));
    assert_eq!(allowed("origin"), Some(shop.as_str()));
    assert_eq!(allowed("methods"), Some("GET, POST"));
    for header in ["authorization", "content-type", "idempotency-key"] {
        assert!(allowed("headers").unwrap().contains(header), "{header}");
    }
    let theirs = preflight("https://evil.example").await;
    for name in ["origin", "methods"] {
        let header = format!("access-control-allow-{name}");
        assert_eq!(theirs.header(&header), None);
    }
    world.end().await;
}

#[tokio::test]
async fn only_listed_origins_frame_the_page() {
    let world = World::start().await;
    let shop = world.shop_url();
    for (query, origins) in [
        ("?store=demo", format!(" {shop}")),
        ("?store=other", " https://other.example".to_owned()),
        // The page without a store may be framed only by itself, for its gallery.
        ("?store=unknown", String::new()),
        ("?store=", String::new()),
        ("", String::new()),
    ] {
        let page = world.get(&format!("/pay{query}")).await.with(200);
        let policy = page.header("content-security-policy").unwrap();
        let ancestors = format!("frame-ancestors 'self'{origins}");
        assert!(policy.ends_with(&ancestors), "{query}: {policy}");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-")
        );
        let trusted = "require-trusted-types-for 'script'; trusted-types default;";
        assert!(policy.contains(trusted), "{policy}");
        let is_lax = policy.contains("unsafe-inline") || policy.contains('*');
        assert!(!is_lax, "{policy}");
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            // The opener of the window cannot navigate it.
            ("cross-origin-opener-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            // A page with a Cross-Origin-Embedder-Policy frames only what has one, and says that it may be framed.
            ("cross-origin-embedder-policy", "require-corp"),
            ("cross-origin-resource-policy", "cross-origin"),
        ] {
            assert_eq!(page.header(name), Some(value), "{query}");
        }
    }
    let hosted = world.get("/pay?store=demo&hosted=").await.with(200);
    assert_eq!(hosted.header("cross-origin-embedder-policy"), None);
    // Only the gateway's page is framed, and has the clipboard; in the test environment also itself, for the state gallery.
    let (page, gateway) = (world.get("/pay?store=demo").await, world.sandbox_url());
    let framed = format!(" frame-src 'self' {gateway};");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains(&framed), "{policy}");
    let lent = format!("clipboard-write=(self \"{gateway}\"),");
    let features = page.header("permissions-policy").unwrap();
    assert!(features.starts_with(&lent), "{features}");
    // What it says of each page is in `proxy/src/http/checkout_page.rs`.
    let module = world
        .get(&format!("/admission.js?store=demo&pages={shop}"))
        .await
        .with(200);
    for part in ["\"store\":\"demo\"", "\"pages\":[\"listed\"]"] {
        assert!(module.text.contains(part), "{}", module.text);
    }
    for (name, value) in [
        ("content-type", "text/javascript; charset=utf-8"),
        ("cache-control", "no-store"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(module.header(name), Some(value), "{name}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_page_loads_pictures_only_from_the_stores_origins() {
    let cdn = "https://cdn.example";
    let world = World::with(|config| {
        config.store = "logo_url = \"https://shop.example/logo.svg\"".to_owned();
        config.image_origins = vec![cdn.to_owned()];
    })
    .await;
    for (query, origins) in [
        ("?store=demo", format!(" {cdn} https://shop.example")),
        ("?store=other", format!(" {cdn}")),
        ("", String::new()),
    ] {
        let page = world.get(&format!("/pay{query}")).await.with(200);
        let policy = page.header("content-security-policy").unwrap();
        let sources = format!("img-src 'self' data:{origins};");
        assert!(policy.contains(&sources), "{query}: {policy}");
    }
    // Pictures of servers that do not send Cross-Origin-Resource-Policy are shown.
    let page = world.get("/pay?store=demo").await.with(200);
    let embedder_policy = page.header("cross-origin-embedder-policy");
    assert_eq!(embedder_policy, Some("credentialless"));
    world.end().await;
}

/// The clock runs meanwhile: every two seconds allow one more.
#[tokio::test(flavor = "multi_thread")]
async fn the_attempts_and_staff_pages_of_an_address_and_the_uses_of_an_order_token_are_limited() {
    let world = World::with(|config| config.trusted_proxies = vec!["127.0.0.0/8".to_owned()]).await;
    let checkout = world.customer().open("ebook").await;
    let from = |address: &str| world.customer().with_header("x-forwarded-for", address);
    // An unknown quote costs no request to the gateway, and counts.
    let choice = json!({ "crypto_code": "BTC", "quote_id": "conv_unknown" });
    let attempt = async |address: &str| {
        let page = from(address).with_token(checkout.token(), &checkout.order);
        page.post("/attempt", &choice).await
    };
    let (permitted, refused) = until_limited(async |_| attempt("198.51.100.1").await).await;
    assert!(permitted >= 30, "{permitted}");
    refused.refused(429, "rate_limited");
    let other = attempt("198.51.100.2").await.status;
    assert_ne!(other, 429, "another address has its own limit");

    // A token that is replayed has its limit from every address.
    let signed = json!({ "order_token": world.token_signer().token("signed-1", "5.00") });
    let (permitted, _) = until_limited(async |number| {
        let customer = from(&format!("203.0.113.{number}"));
        customer.request_order(&signed).await
    })
    .await;
    assert!((30..60).contains(&permitted), "{permitted}");

    // A page of staff, without a session.
    let page = async |address: &str| {
        let request = world.http().get(format!("{}/staff/", world.proxy_url()));
        let response = request.header("x-forwarded-for", address).send().await;
        HttpResponse::read(response.unwrap()).await
    };
    let (permitted, _) = until_limited(async |_| page("203.0.113.7").await).await;
    assert!(permitted >= 120, "{permitted}");
    page("203.0.113.8").await.with(401);
    world.end().await;
}
async fn post_to(world: &World, token: &str, body: String) -> HttpResponse {
    let url = format!("{}/callbacks/{token}", world.proxy_url());
    let request = world.http().post(url).body(body);
    let request = request.header("content-type", "application/json");
    HttpResponse::read(request.send().await.unwrap()).await
}

async fn post_callback(world: &World, body: String) -> HttpResponse {
    post_to(world, secrets::CALLBACK_TOKEN, body).await
}

fn completed(invoice: &str) -> String {
    json!({ "invoice_id": invoice, "status": "COMPLETED" }).to_string()
}

#[tokio::test]
async fn a_response_distinguishes_right_tokens_and_bodies_and_no_invoices() {
    let world = World::start().await;
    world.customer().open("ebook").await.choose("BTC").await;
    let invoice = world.sandbox().invoices().await.remove(0);
    let known = invoice["id"].as_str().unwrap();
    let seen = |mut response: HttpResponse| {
        for differs in ["date", "x-request-id"] {
            response.headers.remove(differs);
        }
        (response.status, response.headers, response.text)
    };
    let first = seen(post_callback(&world, completed(known)).await);
    assert_eq!((first.0, first.2.as_str()), (200, ""));
    let of_length = |length: usize| {
        let frame = json!({ "invoice_id": "x", "more": "" }).to_string().len();
        json!({ "invoice_id": "x", "more": "a".repeat(length - frame) }).to_string()
    };
    for body in [
        completed("inv_unknown"),
        completed(&"é".repeat(500)),
        of_length(4096),
    ] {
        let again = seen(post_callback(&world, body.clone()).await);
        assert_eq!(again, first, "{body}");
    }
    let long = post_callback(&world, of_length(4097)).await;
    long.refused(413, "payload_too_large");
    for body in ["{}", "[]", "", "null", "{\"invoice_id\":7}"] {
        let refused = post_callback(&world, body.to_owned()).await;
        refused.refused(400, "invalid_request");
    }
    let other = "another-token-of-the-same-length-1234";
    for token in [other, "x", &secrets::CALLBACK_TOKEN[1..]] {
        for body in [completed("x"), "garbage".to_owned()] {
            let refused = post_to(&world, token, body).await;
            refused.refused(404, "not_found");
        }
    }
    world.end().await;
}

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
