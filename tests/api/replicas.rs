//! Several proxies on one PostgreSQL: any of them serves any request.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;
use support::{Replicas, World, eventually, postgres_database};
use tokio::time::timeout;

use crate::helpers::{Stream, delivered_events, wait_for_event};

/// A change on one proxy is on the streams of all others within this time.
const WAKE_UP: Duration = Duration::from_secs(1);

/// Callbacks reach the first of three, the page is another one's, and its stream is the third's.
#[tokio::test]
async fn any_proxy_honours_and_shows_what_the_others_do() {
    let url = postgres_database().await;
    let mut world = World::start_on(&url).await;
    let mut replicas = Replicas::start(&mut world, [&[], &[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let [second, third] = [1, 2].map(|number| replicas.page(number, &world, &first));
    let mut stream = Stream::open(&third).await;
    stream.status("open").await;
    let quote = second.quote("BTC").await;
    assert_eq!(first.quote("BTC").await["quote_id"], quote["quote_id"]);
    wait_for_event(&world, &first.order, "order.created").await;
    replicas.kill(1);
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
    first.post("/attempt", &choice).await.with(200);
    let shown = timeout(WAKE_UP, stream.status("awaiting_payment")).await;
    shown.expect("it is shown in time");
    // A view is never older than a write that was answered before.
    for number in 0..12 {
        let mut pages = [&first, &third];
        pages.rotate_left(number % 2);
        pages[1].view().await;
        let is_kept = number % 4 < 2;
        let email = if is_kept { "buyer@shop.example" } else { "" };
        let kept = pages[0].post("/email", &json!({ "email": email })).await;
        kept.with(200);
        assert_eq!(pages[1].view().await["email_kept"], is_kept, "{number}");
    }
    first.report_paid().await;
    stream.status("checking").await;
    world.sandbox().settle(&first, "exact").await;
    first.wait_for("paid").await;
    let shown = timeout(WAKE_UP, stream.status("paid")).await;
    shown.expect("it is shown in time");
    // The bytes and the tag are the same, whichever answers.
    let tags = [first.get("").await, third.get("").await];
    let tags = tags.map(|view| view.with(200).header("etag").unwrap().to_owned());
    assert_eq!(tags[0], tags[1]);
    replicas.stop(&mut world).await;
    let delivered = delivered_events(&world, &first.order).await;
    assert_eq!(delivered.last().unwrap(), "order.paid");
    world.end().await;
}

/// The server ends the connections that listen, and an order changes before there are others.
#[tokio::test]
async fn a_change_whose_announcement_is_lost_is_found_by_comparing() {
    let url = postgres_database().await;
    let mut world = World::start_on(&url).await;
    let replicas = Replicas::start(&mut world, [&[], &[]]).await;
    let first = world.customer().open("ebook").await;
    let second = replicas.page(1, &world, &first);
    first.choose("BTC").await;
    let mut stream = Stream::open(&second).await;
    stream.status("awaiting_payment").await;
    let database = PgPool::connect(&url).await.unwrap();
    let count = async |what: &'static str| {
        let listening =
            "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
        let count = sqlx::AssertSqlSafe(format!("SELECT count({what}) {listening}"));
        let count = sqlx::query_scalar::<_, i64>(count)
            .fetch_one(&database)
            .await;
        count.unwrap()
    };
    for email in ["buyer@shop.example", "", "buyer@shop.example"] {
        assert!(count("pg_terminate_backend(pid)").await > 0);
        let kept = first.post("/email", &json!({ "email": email })).await;
        kept.with(200);
        let is_shown = |view: &Value| view["email_kept"] == !email.is_empty();
        let shown = timeout(3 * WAKE_UP, stream.until(is_shown)).await;
        shown.expect("it is shown in time");
        eventually("both listen again", async || {
            (count("*").await == 2).then_some(())
        })
        .await;
    }
    database.close().await;
    replicas.stop(&mut world).await;
    world.end().await;
}
