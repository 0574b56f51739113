//! Callbacks are hints: forged, repeated or wrong ones change nothing and cost a bounded number of calls to the
//! gateway.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use support::{World, WorldConfig, pause, pay_in_full, secrets};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::helpers::paid_event_count;

const A_MOMENT: Duration = Duration::from_millis(50);

const FLOOD: usize = 50_000;
/// Connections of the flood, and requests in flight on each.
const CONNECTIONS: usize = 4;
const ON_THE_WAY: usize = 50;

/// A response as received, without the headers that differ between responses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Delivery {
    status: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

fn request(token: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /callbacks/{token} HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends pipelined requests over one connection and reads every response.
async fn send(address: SocketAddr, requests: &[Vec<u8>]) -> Vec<Delivery> {
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    let mut response = Vec::with_capacity(requests.len());
    for together in requests.chunks(ON_THE_WAY) {
        stream.write_all(&together.concat()).await.unwrap();
        for _ in together {
            response.push(read_response(&mut stream).await);
        }
    }
    response
}

async fn read_response(stream: &mut BufReader<TcpStream>) -> Delivery {
    let (mut status, mut headers, mut length) = (String::new(), Vec::new(), 0);
    stream.read_line(&mut status).await.unwrap();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        if name == "content-length" {
            length = value.parse().unwrap();
        }
        if !["date", "x-request-id"].contains(&name) {
            headers.push(line);
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    Delivery {
        status,
        headers,
        body,
    }
}

fn address(world: &World) -> SocketAddr {
    world.proxy_url().replace("http://", "").parse().unwrap()
}

async fn post_callback(world: &World, body: &[u8]) -> Delivery {
    let requests = [request(secrets::CALLBACK_TOKEN, body)];
    send(address(world), &requests).await.remove(0)
}

async fn poll_count(world: &World) -> usize {
    world.sandbox().count("GET", "/invoice").await
}

/// A forged callback: a wrong status of a known invoice, an unknown invoice, or a malformed body.
fn forged_callback(n: usize, known: &[String]) -> Vec<u8> {
    let invoice = match n % 3 {
        0 => known[n / 3 % known.len()].clone(),
        1 => format!("inv_{n:08}"),
        _ => format!("'; DROP TABLE attempts; -- {n}"),
    };
    let status = ["COMPLETED", "FAILED", "", "PAID"][n % 4];
    let callback = json!({
        "invoice_id": invoice, "status": status, "received_crypto_amount": "1000", "n": n,
    });
    match n % 10 {
        0 => b"{\"invoice_id\":".to_vec(),
        1 => json!({ "invoice_id": n }).to_string().into(),
        _ => callback.to_string().into(),
    }
}

#[tokio::test]
async fn fifty_thousand_forged_callbacks_change_nothing_and_cost_a_bounded_number_of_calls() {
    let world = World::start_with(WorldConfig {
        requests_per_second: 10,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    for _ in 0..2 {
        world.customer().open("ebook").await.choose("LTC").await;
    }
    let invoices = world.sandbox().invoices().await;
    let known: Vec<_> = invoices
        .iter()
        .map(|invoice| invoice["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(known.len(), 3);
    let (before, began) = (poll_count(&world).await, world.clock.now());
    let requests: Vec<_> = (0..FLOOD)
        .map(|n| request(secrets::CALLBACK_TOKEN, &forged_callback(n, &known)))
        .collect();
    let address = address(&world);
    let flood = async {
        let [one, two, three, four] =
            <[_; CONNECTIONS]>::try_from(requests.chunks(FLOOD / CONNECTIONS).collect::<Vec<_>>())
                .unwrap()
                .map(|part| send(address, part));
        let (one, two, three, four) = tokio::join!(one, two, three, four);
        [one, two, three, four].concat()
    };
    let honest = async {
        let mut looked = 0;
        loop {
            assert_eq!(checkout.view().await["status"], "awaiting_payment");
            looked += 1;
            if looked % 10 == 0 {
                // A page also waits between two requests.
                pause(A_MOMENT).await;
            }
        }
    };
    let response = tokio::select! {
        response = flood => response,
        () = honest => unreachable!("it has no end"),
    };
    let took = world.clock.now().duration_since(began);
    let calls = poll_count(&world).await - before;
    for (n, response) in response.iter().enumerate() {
        let expected = if n % 10 < 2 { "400" } else { "200" };
        assert!(response.status.contains(expected), "{n}: {response:?}");
    }
    // Three invoices, each once in two seconds for its callbacks, and one of them once a second for its page.
    let bound = 8 + took.as_secs() * 5 / 2;
    println!("{FLOOD} callbacks in {took:#}: {calls} calls, {bound} at most");
    assert!(
        i64::try_from(calls).unwrap() <= bound,
        "{calls} calls in {took:#}"
    );
    assert!(calls >= 1, "a callback causes a poll");
    assert!(took < SignedDuration::from_mins(1), "{took:#}");
    let events = world.store().events_of(&checkout.order).await;
    assert_eq!(
        events.len(),
        2,
        "created, and its attempt opened: {events:#?}"
    );
    pay_in_full(&world, &checkout).await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn callbacks_for_known_and_unknown_invoices_get_the_same_response() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let known = world.sandbox().invoices().await[0]["id"].clone();
    let callback =
        |id: &serde_json::Value| json!({"invoice_id": id, "status": "COMPLETED"}).to_string();
    let first = post_callback(&world, callback(&known).as_bytes()).await;
    assert_eq!(
        (first.status.as_str(), &first.body[..]),
        ("HTTP/1.1 200 OK\r\n", &b""[..])
    );
    for body in [
        callback(&known),
        callback(&json!("inv_unknown")),
        callback(&json!("")),
        callback(&json!("é".repeat(500))),
        json!({ "invoice_id": "x", "more": { "is": ["ignored"] } }).to_string(),
    ] {
        assert_eq!(
            post_callback(&world, body.as_bytes()).await,
            first,
            "{body}"
        );
    }
    world.end().await;
}

#[tokio::test]
async fn a_malformed_callback_is_rejected() {
    let world = World::start().await;
    let fits = |length: usize| {
        let frame = json!({ "invoice_id": "x", "more": "" }).to_string().len();
        json!({ "invoice_id": "x", "more": "a".repeat(length - frame) }).to_string()
    };
    assert!(
        post_callback(&world, fits(4096).as_bytes())
            .await
            .status
            .contains("200")
    );
    for (body, status) in [
        (fits(4097), "413"),
        ("{}".to_owned(), "400"),
        ("[]".to_owned(), "400"),
        (String::new(), "400"),
    ] {
        let response = post_callback(&world, body.as_bytes()).await;
        assert!(response.status.contains(status), "{response:?}");
    }
    let elsewhere = [request(
        "another-token-of-the-same-length-1234",
        b"{\"invoice_id\":\"x\"}",
    )];
    let response = send(address(&world), &elsewhere).await.remove(0);
    assert!(response.status.contains("404"), "{response:?}");
    world.end().await;
}

#[tokio::test]
async fn a_callback_does_not_poll_a_settled_invoice() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    let known = world.sandbox().invoices().await[0]["id"].clone();
    // The gateway's real callback may still be in flight.
    pause(A_MOMENT).await;
    let before = poll_count(&world).await;
    for _ in 0..20 {
        post_callback(
            &world,
            json!({ "invoice_id": known, "status": "FAILED" })
                .to_string()
                .as_bytes(),
        )
        .await;
        // Time for a poll that must not be sent.
        pause(A_MOMENT).await;
    }
    assert_eq!(poll_count(&world).await, before);
    world.end().await;
}
