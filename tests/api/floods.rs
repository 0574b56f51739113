//! Floods of requests by a few addresses: other customers are served.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use support::{OrderFlood, World, WorldConfig};

use crate::program::start_program;

/// A customer behind the trusted reverse proxy.
struct Client<'a> {
    world: &'a World,
    address: String,
}

impl<'a> Client<'a> {
    fn of(world: &'a World, address: impl Into<String>) -> Self {
        let address = address.into();
        Self { world, address }
    }

    async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> (StatusCode, Value) {
        let url = format!("{}{path}", self.world.proxy_url());
        let mut request = self.world.http().post(url);
        request = request
            .header("x-forwarded-for", &self.address)
            .header("origin", self.world.shop_url());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.json(body).send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    /// Opens an order. Returns its client token.
    async fn open(&self) -> String {
        let product = json!({ "store": "demo", "product": "ebook" });
        let (status, opened) = self.post("/v1/checkout", None, &product).await;
        assert_eq!(status, 201, "{opened}");
        opened["client_token"].as_str().unwrap().to_owned()
    }

    /// Asks for an invoice.
    async fn attempt(&self, token: &str, quote: &str) -> (StatusCode, Value) {
        let choice = json!({ "crypto_code": "BTC", "quote_id": quote });
        self.post("/v1/checkout/attempt", Some(token), &choice)
            .await
    }
}

async fn world() -> World {
    World::start_with(WorldConfig {
        trusted_proxies: vec!["127.0.0.0/8".to_owned()],
        requests_per_second: 10,
        ..WorldConfig::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_attempts_of_an_address_and_the_uses_of_an_order_token_are_limited() {
    let world = world().await;
    let client = Client::of(&world, "198.51.100.1");
    let token = client.open().await;
    let mut refused = None;
    for number in 1..=60 {
        // An unknown quote costs no request to the gateway, and counts.
        let (status, body) = client.attempt(&token, "conv_unknown").await;
        if status == 429 {
            refused = Some((number, body));
            break;
        }
    }
    let (number, body) = refused.expect("one of 60 attempts is refused");
    // The clock runs meanwhile: every two seconds allow one more.
    assert!(number > 30, "{number}");
    assert_eq!(body["error"]["code"], "rate_limited");
    let other = Client::of(&world, "198.51.100.2");
    let (status, _) = other.attempt(&token, "conv_unknown").await;
    assert_ne!(status, 429, "another address has its own limit");

    // A token that is replayed has its limit from every address.
    let token = world.token_signer().token("signed-1", "5.00");
    let mut statuses = Vec::new();
    for number in 0..60 {
        let client = Client::of(&world, format!("203.0.113.{number}"));
        let body = json!({ "order_token": token });
        statuses.push(client.post("/v1/checkout", None, &body).await.0.as_u16());
    }
    assert_eq!(statuses[0], 201);
    let reused = &statuses[1..30];
    assert!(reused.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    world.end().await;
}

/// Promised are two seconds; `cargo xtask bench` measures the release with more orders. A loaded machine takes longer.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_unpaid_orders_under_the_program_delays_no_payment() {
    let mut world = World::start_with(WorldConfig {
        orders_per_minute_per_ip: Some(10_000),
        ..WorldConfig::default()
    })
    .await;
    let mut program = start_program(&mut world).await;
    let flood = OrderFlood::play(&world, 400).await;
    println!("400 unpaid orders, and a payment: {flood:?}");
    assert!(flood.waiting > 100, "{flood:?}");
    assert!(flood.delay < Duration::from_secs(5), "{flood:?}");
    world.wait_for_deliveries().await;
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}
