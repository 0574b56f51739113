//! Floods of requests by a few addresses: other customers are served.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use support::{OrderFlood, Reply, World, WorldConfig, eventually, pause, pay_in_full, within};

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
async fn eight_addresses_keep_no_buyer_from_an_invoice() {
    let world = world().await;
    let quote = world.customer().open("ebook").await.quote("BTC").await;
    let quote = quote["quote_id"].as_str().unwrap();
    let flooders = (1..=8).map(|n| Client::of(&world, format!("198.51.100.{n}")));
    let flooders: Vec<_> = flooders.collect();
    let customers: Vec<_> = (1..=14)
        .map(|n| Client::of(&world, format!("203.0.113.{n}")))
        .collect();
    let of_flooders = join_all(
        flooders
            .iter()
            .flat_map(|client| (0..30).map(move |_| async move { (client, client.open().await) })),
    )
    .await;
    let of_buyers = join_all(
        customers
            .iter()
            .map(|client| async move { (client, client.open().await) }),
    )
    .await;
    let flood = join_all(
        of_flooders
            .iter()
            .map(|(client, token)| client.attempt(token, quote)),
    );
    let customers = join_all(
        of_buyers
            .iter()
            .map(|(client, token)| client.attempt(token, quote)),
    );
    let (_, bought) = tokio::join!(flood, customers);
    for (status, body) in bought {
        assert_eq!(status, 200, "{body}");
        assert!(body["attempt"]["address"].is_string(), "{body}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_opens_a_limited_number_of_attempts() {
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
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_order_token_is_limited_from_every_address() {
    let world = world().await;
    let token = world.token_signer().token("signed-1", "5.00");
    let mut statuses = Vec::new();
    for number in 0..60 {
        let client = Client::of(&world, format!("198.51.100.{number}"));
        let body = json!({ "order_token": token });
        statuses.push(client.post("/v1/checkout", None, &body).await.0.as_u16());
    }
    assert_eq!(statuses[0], 201);
    assert!(
        statuses[1..30].iter().all(|status| *status == 200),
        "{statuses:?}"
    );
    // The clock runs meanwhile: every two seconds allow one more.
    assert!(statuses.contains(&429), "{statuses:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_unpaid_orders_delays_no_event_of_a_payment() {
    let world = World::start().await;
    let customer = world.customer().open("ebook").await;
    customer.choose("BTC").await;
    // The store takes nothing while the flood comes.
    world.webhooks.reply_with(Reply::Status(503));
    let store = world.store();
    let flood = (0..300).map(|number| {
        let order =
            json!({ "reference": format!("flood-{number}"), "amount": "1.00", "currency": "USD" });
        let store = &store;
        async move { store.open(&order).await.with(201) }
    });
    join_all(flood).await;
    pay_in_full(&world, &customer).await;
    world.webhooks.reply_with(Reply::Accept);
    world.skip(Duration::from_mins(10));
    eventually("the payment is reported", async || {
        let events = world.webhooks.event_types(&customer.order);
        events.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    let accepted = world.webhooks.deliveries().into_iter();
    let accepted = accepted.filter(|delivery| delivery.taken);
    let before = accepted.take_while(|delivery| delivery.kind != "order.paid");
    let of_others = before
        .filter(|delivery| delivery.order != customer.order)
        .count();
    // Three deliveries of others run beside each of the customer's events, which are sent one after another.
    assert!(
        of_others < 60,
        "{of_others} events of unpaid orders came first"
    );
    world.wait_for_deliveries().await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_store_is_sent_a_payment_while_other_events_are_under_way() {
    let world = World::start().await;
    let customer = world.customer().open("ebook").await;
    customer.choose("BTC").await;
    world.wait_for_deliveries().await;
    let before = world.webhooks.deliveries().len();
    world
        .webhooks
        .reply_with(Reply::After(Duration::from_secs(14)));
    for _ in 0..5 {
        world.customer().open("ebook").await;
    }
    let others = || world.webhooks.deliveries().len() - before;
    eventually("the store is busy", async || (others() >= 3).then_some(())).await;
    // Time for a fourth, which must not be sent.
    pause(Duration::from_millis(1500)).await;
    assert_eq!(others(), 3);
    world.sandbox().pay(&customer, "exact").await;
    eventually("the payment is seen", async || {
        let view = customer.view().await;
        (view["status"] != "awaiting_payment").then_some(())
    })
    .await;
    let sent = within(Duration::from_secs(2), async || {
        let sent = world.webhooks.deliveries().into_iter().skip(before);
        sent.map(|delivery| delivery.order)
            .find(|order| *order == customer.order)
    });
    assert!(sent.await.is_some(), "the payment waits for other events");
    assert_eq!(others(), 4, "no other event has made room for it");
    world.webhooks.reply_with(Reply::Accept);
    world.wait_for_deliveries().await;
    world.end().await;
}
