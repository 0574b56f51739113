//! Several proxies on one PostgreSQL: any of them serves any request.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection as _;
use support::{
    Checkout, HttpResponse, Replicas, TcpProxy, World, WorldConfig, eventually, pooled,
    postgres_database,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::helpers::{delivered_events, paid_event_count};

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
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let view: Option<Value> = data.map(|data| serde_json::from_str(data).unwrap());
                let rest = rest.to_owned();
                self.text = rest;
                if view.is_some_and(|view| is_wanted(&view)) {
                    return began.elapsed();
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(45), self.response.chunk());
            let chunk = chunk.await.expect("the stream shows it").unwrap();
            let chunk = chunk.expect("the stream is open");
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
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
async fn a_quote_that_was_shown_before_a_restart_is_honoured_after_it() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    world.stop_proxy().await;
    world.start_proxy().await;
    attempt(&checkout, &quote).await.with(200);
    let other = world.customer().open("ebook").await;
    world.skip(Duration::from_secs(61));
    world.stop_proxy().await;
    world.start_proxy().await;
    attempt(&other, &quote).await.refused(409, "quote_expired");
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

/// PgBouncer gives each transaction another connection, and passes no announcement on.
#[tokio::test]
async fn a_stream_of_one_proxy_follows_a_payment_at_another_behind_a_pooler() {
    let (mut world, direct) = world().await;
    let pooled = pooled(&direct);
    let variables: &[(&str, &str)] = &[
        ("FLORIN_DATABASE_URL", &pooled),
        ("FLORIN_DATABASE_URL_DIRECT", &direct),
    ];
    let replicas = Replicas::start(&mut world, [variables, variables]).await;
    let first = world.customer().open("ebook").await;
    let second = replicas.page(1, &world, &first);
    let mut stream = Stream::open(&second).await;
    stream.status("open").await;
    first.choose("BTC").await;
    let took = stream.status("awaiting_payment").await;
    assert!(took < WAKE_UP, "{took:?}");
    world.sandbox().pay(&first, "exact").await;
    world.sandbox().mine(3).await;
    first.wait_for("paid").await;
    let took = stream.status("paid").await;
    assert!(took < WAKE_UP, "{took:?}");
    for number in 0..2 {
        let printed = replicas.printed(number);
        assert!(!printed.contains("do not arrive"), "{printed}");
    }
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
        let email = if number % 4 < 2 {
            "buyer@shop.example"
        } else {
            ""
        };
        let kept = writer
            .post("/email", &json!({ "email": email }))
            .await
            .with(200);
        let shown = reader.view().await;
        assert_eq!(shown["email_kept"], kept.body["email_kept"], "{number}");
        assert_eq!(shown["email_kept"], !email.is_empty(), "{number}");
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
    let open = async |number: usize| {
        let url = format!("{}/v1/checkout", replicas.url(number % 2));
        let request = world
            .http()
            .post(url)
            .header("x-forwarded-for", "203.0.113.7");
        HttpResponse::read(request.json(&source).send().await.unwrap()).await
    };
    let mut opened = 0;
    for number in 0..10 {
        let response = open(number).await;
        opened += usize::from(response.status == 201);
        if response.status != 201 {
            let wait = response
                .header("retry-after")
                .unwrap()
                .parse::<u64>()
                .unwrap();
            assert!((1..=10).contains(&wait), "{wait}");
            response.refused(429, "rate_limited");
        }
    }
    // One is free again after ten seconds.
    assert!((6..=7).contains(&opened), "{opened}");
    replicas.stop(&mut world).await;
    world.end().await;
}

/// Each stream asks for its order's version. One query for each would keep the last ones waiting for a connection for longer than
/// they may wait, and their streams would end.
#[tokio::test]
async fn a_change_reaches_every_one_of_many_streams_over_a_slow_network_to_the_database() {
    let mut url = reqwest::Url::parse(&postgres_database().await).unwrap();
    let server = (url.host_str().unwrap(), url.port().unwrap());
    let server = format!("{}:{}", server.0, server.1).parse().unwrap();
    let link = TcpProxy::to(server).await;
    url.set_port(Some(link.address().port())).unwrap();
    let world = World::start_with(WorldConfig {
        database_url: Some(url.to_string()),
        ..WorldConfig::default()
    })
    .await;
    let (mut pages, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..14 {
        let page = world.customer().open("ebook").await;
        for _ in 0..15 {
            let mut stream = Stream::open(&page).await;
            stream.shows(|_| true).await;
            streams.push(stream);
        }
        pages.push(page);
    }
    link.delay(Duration::from_millis(100));
    let mut changes = JoinSet::new();
    for page in pages {
        changes.spawn(async move {
            let email = json!({ "email": "buyer@example.org" });
            page.post("/email", &email).await.with(200);
        });
    }
    changes.join_all().await;
    for stream in &mut streams {
        stream.shows(|_| true).await;
    }
    link.delay(Duration::ZERO);
    world.end().await;
}
