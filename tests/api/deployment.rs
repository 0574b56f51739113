//! The files of `deploy/`, run by what they are for. Behind Caddy and nginx TLS ends, events stream, and orders are counted by
//! the address of the client.

use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use support::{ReverseProxy, World, WorldConfig};

/// An address of this machine that is not the reverse proxy's.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const OTHER_CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 10);

#[tokio::test]
async fn caddy_serves_the_checkout() {
    let world = world().await;
    let front = ReverseProxy::caddy(world.listen_address()).await;
    serves_the_checkout(world, front).await;
}

#[tokio::test]
async fn nginx_serves_the_checkout() {
    let world = world().await;
    let front = ReverseProxy::nginx(world.listen_address()).await;
    serves_the_checkout(world, front).await;
}

#[test]
fn systemd_isolates_the_service() {
    let unit = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../deploy/systemd/florin-proxy.service"
    );
    // Source: systemd-analyze(1), `--threshold`: the highest exposure, in tenths.
    let analyzed = Command::new("systemd-analyze")
        .args([
            "security",
            "--offline=true",
            "--threshold=15",
            "--no-pager",
            unit,
        ])
        .output()
        .expect("`cargo xtask tools` installs systemd");
    let printed = String::from_utf8_lossy(&analyzed.stdout);
    assert!(analyzed.status.success(), "{printed}");
    assert!(printed.contains("Overall exposure level"), "{printed}");
}

async fn world() -> World {
    World::start_with(WorldConfig {
        trusted_proxies: vec!["127.0.0.1".to_owned()],
        ..WorldConfig::default()
    })
    .await
}

async fn serves_the_checkout(world: World, front: ReverseProxy) {
    events_stream(&world, &front).await;
    orders_are_counted_by_client(&world, &front).await;
    world.end().await;
}

async fn events_stream(world: &World, front: &ReverseProxy) {
    let client = front.client(CLIENT).unwrap();
    let shopper = world.shopper().through(&front.url(), client);
    let checkout = shopper.open("ebook").await;
    checkout.choose("BTC").await;
    let mut stream = checkout.stream().await;
    assert_eq!(stream.status(), 200, "{}", front.printed());
    let mut events = String::new();
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    // The stream stays open: what is buffered on the way would not arrive.
    let bound = Duration::from_secs(30);
    while !events.contains(r#""status":"paid""#) {
        let chunk = tokio::time::timeout(bound, stream.chunk()).await;
        let chunk = chunk.unwrap_or_else(|_| panic!("only {events}"));
        let chunk = chunk.unwrap().expect("the stream stays open");
        events.push_str(&String::from_utf8_lossy(&chunk));
    }
}

async fn orders_are_counted_by_client(world: &World, front: &ReverseProxy) {
    let order = async |from: Ipv4Addr, forged: usize| {
        let request = front.client(from).unwrap();
        let request = request.post(format!("{}/v1/checkout", front.url()));
        // A client that names another address each time is still one client.
        let request = request.header("x-forwarded-for", format!("198.51.100.{forged}"));
        let request = request.header("origin", world.shop_url());
        let request = request.json(&json!({ "store": "demo", "product": "ebook" }));
        request.send().await.unwrap().status()
    };
    let mut refused = None;
    for number in 1..=40 {
        match order(CLIENT, number).await {
            StatusCode::CREATED => {}
            StatusCode::TOO_MANY_REQUESTS => {
                refused = Some(number);
                break;
            }
            other => panic!("{other}"),
        }
    }
    // One order of this client was opened for its events, and a new one is permitted every two seconds.
    assert!(
        refused.is_some_and(|number| (30..40).contains(&number)),
        "{refused:?} of 30 orders a minute"
    );
    assert_eq!(order(OTHER_CLIENT, 1).await, StatusCode::CREATED);
}
