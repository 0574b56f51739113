//! Metrics and alerts of a PostgreSQL server: its clock, its standbys, and the connections to it.

use sqlx::{Connection as _, PgConnection};
use support::{Prometheus, TcpProxy, World, WorldConfig, eventually, postgres_database};
use tokio::task::JoinSet;

use crate::metrics::{MOST_SERIES, Scrape};
use crate::repository::text_of;

/// More than a proxy has connections.
const READERS: usize = 40;

fn rules() -> String {
    text_of("deploy/prometheus/alerts.yml")
}

async fn prometheus(world: &World) -> Prometheus {
    Prometheus::start(&world.admin_url(), &rules()).await
}

async fn world_on(database_url: String) -> World {
    World::start_with(WorldConfig {
        database_url: Some(database_url),
        ..WorldConfig::default()
    })
    .await
}

#[tokio::test]
async fn metrics_of_a_database_server_are_listed_and_make_no_more_than_300_series() {
    let world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        more_stores: 48,
        ..WorldConfig::default()
    })
    .await;
    let other = World::start().await;
    for world in [&world, &other] {
        world.customer().open("ebook").await.quotes().await;
    }
    let scrape = Scrape::of(&world).await;
    let count = scrape.series().len();
    assert!(count <= MOST_SERIES, "{count} series");
    let table = scrape.table();
    let of_file = Scrape::of(&other).await.table();
    let page = text_of("docs/operations/metrics.md");
    let rows = table.lines().filter(|row| !of_file.contains(row));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 6, "{rows:#?}");
    let wanted = rows.join("\n");
    assert!(
        page.contains(&wanted),
        "docs/operations/metrics.md needs these rows:\n\n{wanted}\n"
    );
    world.end().await;
    other.end().await;
}

/// An open transaction of another program. Its age is compared with a second in place of the minute.
#[tokio::test]
async fn an_alert_reports_a_transaction_that_holds_back_the_list_of_events() {
    let url = postgres_database().await;
    let world = world_on(url.clone()).await;
    let rules = rules();
    let (minute, second) = ("oldest_write_seconds > 60", "oldest_write_seconds > 1");
    assert!(rules.contains(minute));
    let rules = rules.replace(minute, second);
    let prometheus = Prometheus::start(&world.admin_url(), &rules).await;
    let mut other = PgConnection::connect(&url).await.unwrap();
    let mut open = other.begin().await.unwrap();
    let written = sqlx::query("SELECT pg_current_xact_id()").execute(&mut *open);
    written.await.unwrap();
    let checkout = world.customer().open("ebook").await;
    prometheus
        .wait_until_fires("FlorinDatabaseOldTransaction")
        .await;
    assert_eq!(world.store().events_of(&checkout.order).await.len(), 0);
    open.rollback().await.unwrap();
    assert_ne!(world.store().events_of(&checkout.order).await.len(), 0);
    prometheus
        .wait_until_over("FlorinDatabaseOldTransaction")
        .await;
    world.end().await;
}

/// The storage monitor reports it, too: a probe makes it check the database.
async fn is_reported(world: &World) {
    eventually("the proxy reports the outage", async || {
        let url = format!("{}/health/ready", world.admin_url());
        world.http().get(url).send().await.ok()?;
        world.logged("orders cannot be stored").then_some(())
    })
    .await;
}

/// The server keeps the connections and answers nothing.
#[tokio::test]
async fn an_alert_reports_that_the_connections_to_the_database_run_out() {
    let mut url = reqwest::Url::parse(&postgres_database().await).unwrap();
    let server = (url.host_str().unwrap(), url.port().unwrap());
    let server = format!("{}:{}", server.0, server.1).parse().unwrap();
    let mut link = TcpProxy::to(server).await;
    url.set_port(Some(link.address().port())).unwrap();
    let world = world_on(url.to_string()).await;
    world.expect_error("orders cannot be stored");
    world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    let prometheus = prometheus(&world).await;
    let timeouts = "florin_database_connection_timeouts_total{pool=\"read\"}";
    let before = Scrape::of(&world).await.value(timeouts);
    link.freeze();
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let url = format!("{}/v1/orders", world.proxy_url());
        let read = world
            .http()
            .get(url)
            .bearer_auth(support::secrets::STORE_KEY);
        readers.spawn(async move { read.send().await.unwrap().status().as_u16() });
    }
    let statuses = readers.join_all().await;
    assert_eq!(statuses, [503; READERS]);
    is_reported(&world).await;
    link.restore().await;
    prometheus
        .wait_until_fires("FlorinDatabaseConnectionsRunOut")
        .await;
    assert!(Scrape::of(&world).await.value(timeouts) > before);
    world.end().await;
}
