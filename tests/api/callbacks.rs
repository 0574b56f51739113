//! Callbacks are hints: forged, repeated or false, they change nothing and cost the service a bounded number of calls.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use support::{World, WorldConfig, pause, pays_in_full, secrets};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::steps::times_paid;

const A_MOMENT: Duration = Duration::from_millis(50);

const FLOOD: usize = 50_000;
/// Connections that the flood comes over, and requests that are on their way on each.
const CONNECTIONS: usize = 4;
const ON_THE_WAY: usize = 50;

/// An answer as it came over the wire, without what differs from one to the next.
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

/// Sends requests over one connection, many at a time, and reads every answer.
async fn sends(address: SocketAddr, requests: &[Vec<u8>]) -> Vec<Delivery> {
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    let mut heard = Vec::with_capacity(requests.len());
    for together in requests.chunks(ON_THE_WAY) {
        stream.write_all(&together.concat()).await.unwrap();
        for _ in together {
            heard.push(hears(&mut stream).await);
        }
    }
    heard
}

async fn hears(stream: &mut BufReader<TcpStream>) -> Delivery {
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

async fn says(world: &World, body: &[u8]) -> Delivery {
    let requests = [request(secrets::CALLBACK_TOKEN, body)];
    sends(address(world), &requests).await.remove(0)
}

async fn looks_of(world: &World) -> usize {
    world.sandbox().count("GET", "/invoice").await
}

/// What a forger sends: lies about known invoices, unknown ones, and what is no callback at all.
fn forged(n: usize, known: &[String]) -> Vec<u8> {
    let invoice = match n % 3 {
        0 => known[n / 3 % known.len()].clone(),
        1 => format!("inv_{n:08}"),
        _ => format!("'; DROP TABLE attempts; -- {n}"),
    };
    let status = ["COMPLETED", "FAILED", "", "PAID"][n % 4];
    let lie = json!({
        "invoice_id": invoice, "status": status, "received_crypto_amount": "1000", "n": n,
    });
    match n % 10 {
        0 => b"{\"invoice_id\":".to_vec(),
        1 => json!({ "invoice_id": n }).to_string().into(),
        _ => lie.to_string().into(),
    }
}

#[tokio::test]
async fn fifty_thousand_forged_callbacks_change_nothing_and_cost_a_bounded_number_of_calls() {
    let world = World::start_with(WorldConfig {
        requests_per_second: 10,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    for _ in 0..2 {
        world.shopper().open("ebook").await.choose("LTC").await;
    }
    let invoices = world.sandbox().invoices().await;
    let known: Vec<_> = invoices
        .iter()
        .map(|invoice| invoice["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(known.len(), 3);
    let (before, began) = (looks_of(&world).await, world.clock.now());
    let requests: Vec<_> = (0..FLOOD)
        .map(|n| request(secrets::CALLBACK_TOKEN, &forged(n, &known)))
        .collect();
    let address = address(&world);
    let flood = async {
        let [one, two, three, four] =
            <[_; CONNECTIONS]>::try_from(requests.chunks(FLOOD / CONNECTIONS).collect::<Vec<_>>())
                .unwrap()
                .map(|part| sends(address, part));
        let (one, two, three, four) = tokio::join!(one, two, three, four);
        [one, two, three, four].concat()
    };
    let honest = async {
        let mut looked = 0;
        loop {
            assert_eq!(checkout.view().await["status"], "awaiting_payment");
            looked += 1;
            if looked % 10 == 0 {
                pause(A_MOMENT).await;
            }
        }
    };
    let heard = tokio::select! {
        heard = flood => heard,
        () = honest => unreachable!("it has no end"),
    };
    let took = world.clock.now().duration_since(began);
    let calls = looks_of(&world).await - before;
    for (n, heard) in heard.iter().enumerate() {
        let expected = if n % 10 < 2 { "400" } else { "200" };
        assert!(heard.status.contains(expected), "{n}: {heard:?}");
    }
    // Three invoices, each once in two seconds for its callbacks, and one of them once a second for its page.
    let bound = 8 + took.as_secs() * 5 / 2;
    println!("{FLOOD} callbacks in {took:#}: {calls} calls, {bound} at most");
    assert!(
        i64::try_from(calls).unwrap() <= bound,
        "{calls} calls in {took:#}"
    );
    assert!(calls >= 1, "a callback is heard");
    assert!(took < SignedDuration::from_mins(1), "{took:#}");
    let events = world.store().events_of(&checkout.order).await;
    assert_eq!(
        events.len(),
        2,
        "created, and its attempt opened: {events:#?}"
    );
    pays_in_full(&world, &checkout).await;
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_callback_about_nothing_is_answered_as_one_about_something() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let known = world.sandbox().invoices().await[0]["id"].clone();
    let callback =
        |id: &serde_json::Value| json!({"invoice_id": id, "status": "COMPLETED"}).to_string();
    let first = says(&world, callback(&known).as_bytes()).await;
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
        assert_eq!(says(&world, body.as_bytes()).await, first, "{body}");
    }
    world.end().await;
}

#[tokio::test]
async fn what_is_no_callback_is_refused() {
    let world = World::start().await;
    let fits = |length: usize| {
        let frame = json!({ "invoice_id": "x", "more": "" }).to_string().len();
        json!({ "invoice_id": "x", "more": "a".repeat(length - frame) }).to_string()
    };
    assert!(
        says(&world, fits(4096).as_bytes())
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
        let heard = says(&world, body.as_bytes()).await;
        assert!(heard.status.contains(status), "{heard:?}");
    }
    let elsewhere = [request(
        "another-token-of-the-same-length-1234",
        b"{\"invoice_id\":\"x\"}",
    )];
    let heard = sends(address(&world), &elsewhere).await.remove(0);
    assert!(heard.status.contains("404"), "{heard:?}");
    world.end().await;
}

#[tokio::test]
async fn a_settled_invoice_is_not_asked_about_for_a_callback() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    pays_in_full(&world, &checkout).await;
    let known = world.sandbox().invoices().await[0]["id"].clone();
    // The service's own callback may still be on its way.
    pause(A_MOMENT).await;
    let before = looks_of(&world).await;
    for _ in 0..20 {
        says(
            &world,
            json!({ "invoice_id": known, "status": "FAILED" })
                .to_string()
                .as_bytes(),
        )
        .await;
        pause(A_MOMENT).await;
    }
    assert_eq!(looks_of(&world).await, before);
    world.end().await;
}
