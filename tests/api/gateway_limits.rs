//! Limits towards the gateway: excess work waits and is not lost.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, World, WorldConfig, eventually, pause, pay_in_full};

async fn ready(world: &World) -> Value {
    let url = format!("{}/health/ready", world.admin_url());
    world
        .http()
        .get(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap()
}

#[tokio::test]
async fn with_a_tiny_rate_limit_every_payment_is_found() {
    let world = World::start_with(WorldConfig {
        requests_per_second: 2,
        ..WorldConfig::default()
    })
    .await;
    let mut orders = Vec::new();
    for _ in 0..6 {
        let checkout = world.customer().open("ebook").await;
        checkout.choose("LTC").await;
        world.sandbox().pay(&checkout, "exact").await;
        orders.push(checkout);
    }
    world.sandbox().mine(3).await;
    let (began, before) = (world.clock.now(), world.sandbox().calls().await.len());
    for checkout in &orders {
        checkout.wait_for("paid").await;
    }
    let took = world.clock.now().duration_since(began);
    let calls = world.sandbox().calls().await.len() - before;
    let bound = 4 + 2 * (took.as_secs() + 1);
    assert!(
        i64::try_from(calls).unwrap() <= bound,
        "{calls} calls in {took:#}"
    );
    world.end().await;
}

#[tokio::test]
async fn an_outage_opens_the_circuit_and_pages_show_the_delay() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.gateway_link.cut().await;
    eventually("the circuit is open", async || {
        checkout.view().await;
        (ready(&world).await["gateway"]["circuit"] == "open").then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["delayed"], true);
    assert_eq!(ready(&world).await["gateway"]["status"], "not answering");
    assert!(world.logged("the gateway is down"));
    world.gateway_link.restore().await;
    world.skip(Duration::from_mins(1));
    eventually("the circuit is closed", async || {
        checkout.view().await;
        (ready(&world).await["gateway"]["circuit"] == "closed").then_some(())
    })
    .await;
    assert!(world.logged("the gateway is up again"));
    pay_in_full(&world, &checkout).await;
    assert_eq!(checkout.view().await["delayed"], false);
    world.end().await;
}

#[tokio::test]
async fn readiness_reports_the_gateways_health() {
    let world = World::start_with(WorldConfig {
        requests_per_second: 50,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let gateway = ready(&world).await["gateway"].clone();
    assert_eq!(gateway["circuit"], "closed");
    assert_eq!(gateway["requests_per_minute"], 3000);
    assert_eq!(gateway["pause_seconds"], 0);
    let limit = json!({"endpoint": "prices", "kind": "status", "status": 429, "retry_after": 30, "times": 1});
    world.sandbox().inject_fault(limit).await;
    world.skip(Duration::from_mins(2));
    checkout
        .get("/quotes")
        .await
        .refused(503, "gateway_unavailable");
    let gateway = ready(&world).await["gateway"].clone();
    assert_eq!(gateway["requests_per_minute"], 1500);
    assert!(
        gateway["pause_seconds"]
            .as_u64()
            .is_some_and(|left| (25..=30).contains(&left))
    );
    assert!(world.logged("the gateway limits us"));
    world.end().await;
}

#[tokio::test]
async fn late_polls_are_reported() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let in_time =
        json!({ "lag_seconds": 0, "stretch_percent": 100, "watched_stretch_percent": 100 });
    assert_eq!(ready(&world).await["polling"], in_time);
    for _ in 0..3 {
        world.customer().open("ebook").await.choose("LTC").await;
    }
    world.gateway_link.cut().await;
    eventually("the circuit is open", async || {
        (ready(&world).await["gateway"]["circuit"] == "open").then_some(())
    })
    .await;
    // While one poll tries the gateway, the others wait. A poll in flight at the move of the clock is planned anew behind it.
    eventually("polls are reported as late", async || {
        world.skip(Duration::from_secs(30));
        let lag = ready(&world).await["polling"]["lag_seconds"].as_u64()?;
        (lag >= 60 && world.logged("polls are late")).then_some(())
    })
    .await;
    world.gateway_link.restore().await;
    eventually("polls are in time", async || {
        world.skip(Duration::from_secs(30));
        world.logged("polls are in time again").then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn an_excessive_pause_is_an_error_and_ends_with_an_answer() {
    let world = World::start().await;
    world.expect_error("the gateway asks for a pause that would stop payments");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let excessive = json!({"endpoint": "prices", "kind": "status", "status": 429, "retry_after": 4_000_000, "times": 1});
    world.sandbox().inject_fault(excessive).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(2));
    checkout
        .get("/quotes")
        .await
        .refused(503, "gateway_unavailable");
    let url = format!("{}/health/ready", world.admin_url());
    let response = world.http().get(&url).send().await.unwrap();
    assert_eq!(response.status(), 503);
    let gateway = ready(&world).await["gateway"].clone();
    assert_eq!(gateway["pause_excessive"], true);
    assert!(gateway["pause_seconds"].as_u64().unwrap() <= 300);
    world.skip(Duration::from_mins(5));
    pay_in_full(&world, &checkout).await;
    let response = world.http().get(&url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    world.end().await;
}

/// Polls of the invoice that a checkout shows.
async fn polls_of(world: &World, invoice: &str) -> usize {
    let calls = world.sandbox().calls().await;
    let is_poll = |call: &&Value| {
        let path = call["path"].as_str().unwrap_or_default();
        call["method"] == "GET" && path.starts_with("/invoice?") && path.contains(invoice)
    };
    calls.iter().filter(is_poll).count()
}

#[tokio::test]
async fn sixteen_open_pages_cost_the_gateway_as_much_as_one() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let open = async |streams: usize| -> (String, Vec<reqwest::Response>) {
        let checkout: Checkout = world.customer().open("ebook").await;
        checkout.choose("BTC").await;
        let mut open = Vec::new();
        for _ in 0..streams {
            let mut stream = checkout.stream().await;
            stream.chunk().await.unwrap().expect("the order");
            open.push(stream);
        }
        let address = checkout.address().await;
        (world.sandbox().invoice_of(&address).await, open)
    };
    let (one, _page) = open(1).await;
    let (many, _pages) = open(16).await;
    let count = async || [polls_of(&world, &one).await, polls_of(&world, &many).await];
    let before = count().await;
    pause(Duration::from_secs(10)).await;
    let after = count().await;
    let polls = [after[0] - before[0], after[1] - before[1]];
    println!("polls within ten seconds, with one page and with sixteen: {polls:?}");
    assert!(polls[0] >= 4, "{polls:?}");
    assert!(polls[0].abs_diff(polls[1]) <= 1, "{polls:?}");
    world.end().await;
}
