//! What each public address costs: the server's processor time of a request, beside that of a status read.
//!
//! The limit is a status read whose order is not kept in memory: each page that opens causes one, so the proxy is laid out
//! for as many of them as there are requests. What costs no more cannot be used to slow it down.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::ensure;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::server::{Server, open_order, processor_time};

/// Connections that send requests, each one after another.
const CONNECTIONS: usize = 8;
/// Requests of each kind: so many that ticks of 10 ms are a few percent of their time.
const REQUESTS: usize = 24_000;
/// Orders that are read once each, after a restart.
const ORDERS: usize = 4_000;

/// A request and the status that it gets. `{}` in it stands for a number that no other request has.
struct Kind {
    name: &'static str,
    request: String,
    status: u16,
}

/// Measures all kinds.
pub(crate) async fn compare(proxy: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut tokens = Vec::new();
    {
        let (_server, address) = Server::start_proxy(proxy, &folder).await?;
        for _ in 0..ORDERS {
            tokens.push(open_order(address).await?);
        }
    }
    let (server, address) = Server::start_proxy(proxy, &folder).await?;
    let read = |token: &str| {
        get(
            "/v1/checkout",
            &format!("authorization: Bearer {token}\r\n"),
        )
    };
    let requests = tokens.iter().map(|token| read(token)).collect();
    let uncached = cost(&server, address, requests, 200).await?;
    println!("  processor time of the proxy for a request, {CONNECTIONS} connections");
    line("status read, its order not in memory", uncached);
    let mut dearest = 0;
    for kind in kinds(address, &tokens[0]).await? {
        let number = |number: usize| kind.request.replace("{}", &format!("{number:064x}"));
        let requests = (0..REQUESTS).map(number).collect();
        let nanoseconds = cost(&server, address, requests, kind.status).await?;
        line(kind.name, nanoseconds);
        dearest = dearest.max(nanoseconds);
    }
    ensure!(
        dearest <= uncached,
        "a public address costs more than a status read whose order is not in memory"
    );
    Ok(())
}

fn line(name: &str, nanoseconds: u128) {
    let (whole, tenth) = (nanoseconds / 1000, nanoseconds / 100 % 10);
    println!("    {name:<44}{whole:>8}.{tenth} µs");
}

/// All that a client without a secret can send, by what the proxy does for it.
async fn kinds(address: SocketAddr, token: &str) -> anyhow::Result<Vec<Kind>> {
    let kind = |name, request, status| Kind {
        name,
        request,
        status,
    };
    let bearer = |token: &str| format!("authorization: Bearer {token}\r\n");
    let packed = "accept-encoding: gzip, br\r\n";
    let mut kinds = vec![kind(
        "status read",
        get("/v1/checkout", &bearer(token)),
        200,
    )];
    let held = held(address, "/v1/checkout", &bearer(token)).await?;
    kinds.push(kind("status read, unchanged", held, 304));
    for (name, path) in [
        ("/openapi.json", "/openapi.json"),
        ("/florin.js", "/florin.js"),
        ("/pay", "/pay?store=demo"),
    ] {
        kinds.push(kind(name, get(path, packed), 200));
        let held = self::held(address, path, packed).await?;
        kinds.push(kind("    unchanged", held, 304));
    }
    let random = bearer("{}");
    kinds.extend([
        kind("unknown address", get("/unknown/{}", ""), 404),
        kind("unknown client token", get("/v1/checkout", &random), 404),
        kind("no client token", get("/v1/checkout", ""), 404),
        kind(
            "event stream with an unknown client token",
            get("/v1/checkout/events", &random),
            404,
        ),
        kind(
            "callback with a wrong token",
            post("/callbacks/{}", r#"{"id":"1"}"#),
            404,
        ),
        kind("invalid order token", post("/v1/checkout", INVALID), 401),
        kind("body that is no order", post("/v1/checkout", "[]"), 400),
        kind("store's address without a key", get("/v1/orders", ""), 401),
    ]);
    Ok(kinds)
}

/// An order token with the right shape and a wrong signature: HS256, `{"iss":"demo"}`.
const INVALID: &str = concat!(
    r#"{"order_token":"eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJkZW1vIn0."#,
    r#"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#
);

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: florin.example\r\n{headers}\r\n")
}

fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: florin.example\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The request of a page that has the response already.
async fn held(address: SocketAddr, path: &str, headers: &str) -> anyhow::Result<String> {
    let mut connection = Connection::open(address).await?;
    connection.exchange(&get(path, headers), 200).await?;
    let tag = connection.header("etag")?;
    Ok(get(path, &format!("{headers}if-none-match: {tag}\r\n")))
}

/// The server's processor time of each request, in nanoseconds.
async fn cost(
    server: &Server,
    address: SocketAddr,
    mut requests: Vec<String>,
    status: u16,
) -> anyhow::Result<u128> {
    let count = requests.len();
    let before = processor_time(server.id())?;
    let mut clients = JoinSet::new();
    for left in (1..=CONNECTIONS).rev() {
        let share = requests.split_off(requests.len() - requests.len() / left);
        clients.spawn(async move {
            let mut connection = Connection::open(address).await?;
            for request in share {
                connection.exchange(&request, status).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(result) = clients.join_next().await {
        result??;
    }
    let spent = processor_time(server.id())?.saturating_sub(before);
    Ok(spent.as_nanos() / u128::try_from(count)?)
}
