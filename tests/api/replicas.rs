//! Several proxies on one PostgreSQL: any of them serves any request.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection as _;
use support::{
    Checkout, HttpResponse, Replicas, World, WorldConfig, eventually, postgres_database,
};
use tokio::time::Instant;

use crate::helpers::{delivered_events, next_order, paid_event_count};

/// A change on one proxy is on the streams of all others within this time.
const WAKE_UP: Duration = Duration::from_secs(1);

async fn world() -> (World, String) {
    let url = postgres_database().await;
    let world = World::start_with(WorldConfig {
        database_url: Some(url.clone()),
        ..WorldConfig::default()
    });
    (world.await, url)
}

/// Chooses an asset at a quote that was given before.
async fn attempt(page: &Checkout, quote: &Value) -> HttpResponse {
    let choice = json!({ "crypto_code": quote["crypto_code"], "quote_id": quote["quote_id"] });
    page.post("/attempt", &choice).await
}

/// An open event stream, and the orders that it shows.
struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    async fn open(page: &Checkout) -> Self {
        let response = page.stream().await;
        assert_eq!(response.status(), 200);
        let text = String::new();
        Self { response, text }
    }

    /// Waits for a view of this status; returns how long it took.
    async fn status(&mut self, status: &str) -> Duration {
        self.shows(|view| view["status"] == status).await
    }

    async fn shows(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Duration {
        let began = Instant::now();
        while !is_wanted(&next_order(&mut self.response, &mut self.text).await) {}
        began.elapsed()
    }
}

#[tokio::test]
async fn a_quote_of_one_proxy_is_honoured_by_another_and_after_its_kill() {
    let (mut world, _) = world().await;
    let mut replicas = Replicas::start(&mut world, [&[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let other = replicas.page(1, &world, &first);
    let quote = first.quote("BTC").await;
    assert_eq!(
        other.quote("BTC").await["quote_id"],
        quote["quote_id"],
        "one list of prices"
    );
    replicas.kill(0);
    let view = attempt(&other, &quote).await.with(200).body;
    assert_eq!(view["status"], "awaiting_payment", "{view}");
    replicas.stop(&mut world).await;
    world.sandbox().pay(&first, "exact").await;
    world.sandbox().mine(3).await;
    first.wait_for("paid").await;
    assert_eq!(paid_event_count(&world, &first.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_stream_of_one_proxy_follows_a_payment_that_the_others_take() {
    let (mut world, _) = world().await;
    // Callbacks reach the first; the page is of the second, its stream of the third.
    let replicas = Replicas::start(&mut world, [&[], &[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let [second, third] = [1, 2].map(|number| replicas.page(number, &world, &first));
    let mut stream = Stream::open(&third).await;
    stream.status("open").await;
    let quote = first.quote("BTC").await;
    attempt(&second, &quote).await.with(200);
    let took = stream.status("awaiting_payment").await;
    assert!(took < WAKE_UP, "{took:?}");
    second.report_paid().await;
    let took = stream.status("checking").await;
    assert!(took < WAKE_UP, "{took:?}");
    world.sandbox().pay(&first, "exact").await;
    world.sandbox().mine(3).await;
    first.wait_for("paid").await;
    let took = stream.status("paid").await;
    assert!(took < WAKE_UP, "{took:?}");
    // The bytes and the tag are the same, whichever answers.
    let pages = [&first, &second, &third];
    let mut tags = Vec::new();
    for page in pages {
        let response = page.get("").await.with(200);
        tags.push(response.header("etag").unwrap().to_owned());
    }
    assert!(tags.iter().all(|tag| *tag == tags[0]), "{tags:?}");
    replicas.stop(&mut world).await;
    let delivered = delivered_events(&world, &first.order).await;
    assert_eq!(delivered.last().unwrap(), "order.paid");
    world.end().await;
}

/// The server ends the connections that listen, and an order changes before there are others.
#[tokio::test]
async fn a_change_whose_announcement_is_lost_is_found_by_comparing() {
    let (mut world, url) = world().await;
    let replicas = Replicas::start(&mut world, [&[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let second = replicas.page(1, &world, &first);
    first.choose("BTC").await;
    let mut stream = Stream::open(&second).await;
    stream.status("awaiting_payment").await;
    let mut database = sqlx::PgConnection::connect(&url).await.unwrap();
    for email in ["buyer@shop.example", "", "buyer@shop.example"] {
        let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE 'LISTEN%'";
        let ended: i64 = sqlx::query_scalar(ended)
            .fetch_one(&mut database)
            .await
            .unwrap();
        assert!(ended > 0);
        let kept = first.post("/email", &json!({ "email": email })).await;
        kept.with(200);
        let took = stream
            .shows(|view| view["email_kept"] == !email.is_empty())
            .await;
        assert!(took < 3 * WAKE_UP, "{took:?}");
        eventually("both listen again", async || {
            let listening = "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND query LIKE 'LISTEN%'";
            let pool = sqlx::PgPool::connect(&url).await.unwrap();
            let listening: i64 = sqlx::query_scalar(listening)
                .fetch_one(&pool)
                .await
                .unwrap();
            pool.close().await;
            (listening == 2).then_some(())
        })
        .await;
    }
    replicas.stop(&mut world).await;
    world.end().await;
}

/// A view is never older than a write that was answered before the read began, whichever proxy answers.
#[tokio::test]
async fn a_read_after_a_write_on_another_proxy_is_never_stale() {
    let (mut world, _) = world().await;
    let replicas = Replicas::start(&mut world, [&[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let second = replicas.page(1, &world, &first);
    first.choose("BTC").await;
    for number in 0..40 {
        let (writer, reader) = if number % 2 == 0 {
            (&first, &second)
        } else {
            (&second, &first)
        };
        reader.view().await;
        let is_kept = number % 4 < 2;
        let email = if is_kept { "buyer@shop.example" } else { "" };
        let kept = writer.post("/email", &json!({ "email": email })).await;
        kept.with(200);
        assert_eq!(reader.view().await["email_kept"], is_kept, "{number}");
    }
    replicas.stop(&mut world).await;
    world.end().await;
}

#[tokio::test]
async fn an_address_has_one_limit_over_all_proxies() {
    let mut world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        trusted_proxies: vec!["127.0.0.1".to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let limit: &[(&str, &str)] = &[("FLORIN_RATE_LIMIT__ORDERS_PER_MINUTE_PER_IP", "6")];
    let replicas = Replicas::start(&mut world, [limit, limit]).await;
    let source = json!({ "store": "demo", "product": "ebook" });
    let mut opened = 0;
    for number in 0..10 {
        let url = format!("{}/v1/checkout", replicas.url(number % 2));
        let request = world
            .http()
            .post(url)
            .header("x-forwarded-for", "203.0.113.7");
        let response = request.json(&source).send().await.unwrap();
        opened += usize::from(response.status() == 201);
    }
    // One is free again after ten seconds.
    assert!((6..=7).contains(&opened), "{opened}");
    replicas.stop(&mut world).await;
    world.end().await;
}
