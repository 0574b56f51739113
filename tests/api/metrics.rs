//! GET /metrics: what is exported, how much of it, and whether it is true.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use support::{TcpProxy, World, eventually, pay_in_full, postgres_database, secrets};
use tokio::task::JoinSet;

use crate::helpers::event_types;
use crate::repository::text_of;

const PAGE: &str = "docs/operations/metrics.md";

const MOST_SERIES: usize = 300;

pub(crate) struct Scrape(String);

impl Scrape {
    pub(crate) async fn of(world: &World) -> Self {
        let response = world.get_admin("/metrics").await.with(200);
        let content = response.header("content-type").unwrap();
        assert!(content.starts_with("application/openmetrics-text; version=1.0.0"));
        Self(response.text)
    }

    fn series(&self) -> BTreeSet<&str> {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| Some(line.rsplit_once(' ')?.0))
            .collect()
    }

    #[track_caller]
    pub(crate) fn value(&self, series: &str) -> u64 {
        let mut lines = self.0.lines();
        let value = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        let value = value.unwrap_or_else(|| panic!("no {series} in\n{}", self.0));
        value.parse().unwrap()
    }

    /// The table of docs/operations/metrics.md.
    fn table(&self) -> String {
        let mut table = "| metric | type | labels | value |\n|---|---|---|---|".to_owned();
        let comments = |kind: &'static str| {
            let lines = self.0.lines();
            lines.filter_map(move |line| line.strip_prefix(kind)?.split_once(' '))
        };
        let help: BTreeMap<&str, &str> = comments("# HELP ").collect();
        for (name, kind) in comments("# TYPE ") {
            let sample = match kind {
                "counter" => format!("{name}_total"),
                "info" => format!("{name}_info"),
                _ => name.to_owned(),
            };
            let mut labels = BTreeSet::new();
            for series in self.series() {
                let Some((of, rest)) = series.split_once('{') else {
                    continue;
                };
                if of == sample || of.strip_prefix(name) == Some("_bucket") {
                    let rest = rest.trim_end_matches('}').split("\",");
                    labels.extend(rest.filter_map(|label| label.split('=').next()));
                }
            }
            labels.remove("le");
            let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
            let (labels, value) = (labels.join(", "), help[name].trim_end_matches('.'));
            let _ = write!(table, "\n| `{sample}` | {kind} | {labels} | {value} |");
        }
        table
    }
}

#[tokio::test]
async fn fifty_stores_make_no_more_than_300_series_which_are_listed() {
    let world = World::with(|config| {
        config.more_stores = 48;
        config.store = "gateway_access = true".to_owned();
    })
    .await;
    world.customer().open("ebook").await.quotes().await;
    let before = Scrape::of(&world).await;
    let table = before.table();
    let page = text_of(PAGE);
    assert!(
        page.contains(&table),
        "{PAGE} needs this table:\n\n{table}\n"
    );
    // Those of a database server are in another table.
    let in_page = |line: &&str| line.starts_with("| `florin_") || line.starts_with("| `process_");
    let is_listed = |line: &&str| !line.starts_with("| `florin_database_");
    let rows = page.lines().filter(in_page).filter(is_listed).count();
    assert_eq!(rows + 2, table.lines().count(), "a row of something else");
    // Metrics are for the operator.
    world.get("/metrics").await.with(404);
    let checkout = world.customer().open_with("ebook", "BTC").await;
    let stream = checkout.stream().await;
    checkout.report_paid().await;
    pay_in_full(&world, &checkout).await;
    drop(stream);
    world.store().orders().await;
    world.store().get("/v1/gateway/currencies").await.with(200);
    for number in 1..=48 {
        let key = format!("{}{number}", secrets::STORE_KEY);
        let store = world.store().with_key(&key);
        let order = json!({ "amount": "5.00", "currency": "USD", "reference": "r" });
        store.open(&order).await.with(201);
    }
    for path in ["/florin.js", "/nothing", "/v1/orders"] {
        world.get(path).await;
    }
    world.wait_for_deliveries().await;
    let after = Scrape::of(&world).await;
    // A series that appears late hides its first event.
    let (series, known) = (after.series(), before.series());
    assert_eq!(series.difference(&known).collect::<Vec<_>>(), [&""; 0]);
    assert!(series.len() <= MOST_SERIES, "{} series", series.len());
    let waiting = series
        .iter()
        .filter(|one| one.starts_with("florin_events_waiting"));
    assert_eq!(waiting.count(), 17, "16 stores, and the others together");
    world.end().await;
}

#[tokio::test]
async fn what_is_counted_is_what_happened() {
    let world = World::with(|config| config.callbacks = false).await;
    let paid = world.customer().open_with("ebook", "BTC").await;
    pay_in_full(&world, &paid).await;
    let opened = json!({ "amount": "5.00", "currency": "USD", "reference": "r1" });
    let opened = world.store().open(&opened).await.with(201);
    let cancel = format!("/v1/orders/{}/cancel", opened.text_at("/order/id"));
    for _ in 0..2 {
        world.store().post(&cancel, &json!({})).await.with(200);
    }
    world.wait_for_deliveries().await;
    let events = world.store().get("/v1/events").await.with(200).body;
    let events = events["events"].as_array().unwrap();
    // More orders than an address may open.
    let token = world.token_signer().token("r2", "5.00");
    let order = json!({ "order_token": token });
    let mut refused = 0;
    for _ in 0..40 {
        let response = world.customer().request_order(&order).await;
        refused += u64::from(response.status == 429);
    }
    assert!(refused > 0);
    let scrape = Scrape::of(&world).await;
    let counted = scrape.value("florin_rate_limited_requests_total{rule=\"orders\"}");
    assert_eq!(counted, refused);
    let requests = "florin_http_requests_total{route=\"open_order\",status=\"4xx\"}";
    assert_eq!(scrape.value(requests), refused);
    let kinds = event_types(events);
    let prefix = "florin_order_events_total{";
    let counted = scrape.series().into_iter();
    let counted: Vec<_> = counted
        .filter(|series| series.starts_with(prefix))
        .collect();
    for series in counted {
        let event = format!("order.{}", series.split('"').nth(1).unwrap());
        let happened = kinds.iter().filter(|kind| **kind == event).count();
        // The token's order came afterwards.
        let later = usize::from(event == "order.created");
        assert_eq!(scrape.value(series), (happened + later) as u64, "{event}");
    }
    assert!(kinds.contains(&"order.cancelled"), "{kinds:?}");
    let credits = "florin_credits_total{store=\"demo\",currency=\"USD\"}";
    assert_eq!(scrape.value(credits), 1);
    let calls = |call: &str| {
        scrape.value(&format!(
            "florin_gateway_calls_total{{call=\"{call}\",outcome=\"ok\"}}"
        ))
    };
    let sent = world.sandbox().count("POST", "/invoice").await;
    assert_eq!(calls("create"), sent as u64);
    assert!(calls("poll") > 0);
    let delivered = scrape.value("florin_webhook_deliveries_total{outcome=\"delivered\"}");
    assert!(delivered >= events.len() as u64);
    let transactions = scrape.value("florin_storage_transactions_total");
    assert!(transactions >= scrape.value("florin_storage_commit_seconds_count"));
    assert!(scrape.value("process_resident_memory_bytes") > 1_000_000);
    world.end().await;
}

/// Returns what a file names and no proxy exports: metrics, and values of their labels. Prometheus adds `instance` and `job`, and an
/// operator names the stores.
fn unknown_in(file: &str, exported: &BTreeSet<&str>) -> Vec<String> {
    let text = text_of(file).replace("\\\"", "\"");
    let starts = ["florin_", "process_"].into_iter();
    let found = starts.flat_map(|start| text.match_indices(start));
    let found = found.flat_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let labels = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let labels = labels.map_or("", |(labels, _)| labels).split(',');
        let labels = labels.filter_map(|label| label.trim_end_matches('"').split_once('"'));
        let labels =
            labels.map(|(label, values)| (label.trim_end_matches(['=', '!', '~']), values));
        let labels = labels.filter(|(label, _)| !["instance", "job", "store"].contains(label));
        let values = labels.flat_map(|(label, values)| {
            let values = values.split('|');
            values.map(move |value| format!("{label}=\"{value}\""))
        });
        let values = values.chain([String::new()]);
        values.map(move |value| (name, value))
    });
    let found: Vec<(&str, String)> = found.collect();
    assert!(found.len() > 10, "{file}");
    let is_unknown = |(name, value): &(&str, String)| {
        let mut series = exported.iter();
        !series.any(|series| series.split('{').next() == Some(*name) && series.contains(value))
    };
    let unknown = found.into_iter().filter(is_unknown);
    unknown
        .map(|(name, value)| format!("{name} {value}"))
        .collect()
}

/// More than a proxy has connections.
const READERS: usize = 40;

#[tokio::test]
async fn metrics_of_a_database_server_are_listed_and_report_what_is_wrong_with_it() {
    let url = postgres_database().await;
    let mut through = reqwest::Url::parse(&url).unwrap();
    let server = format!("127.0.0.1:{}", through.port().unwrap());
    let mut link = TcpProxy::to(server.parse().unwrap()).await;
    through.set_port(Some(link.address().port())).unwrap();
    let world = World::with(|config| {
        config.database_url = Some(through.to_string());
        config.more_stores = 48;
    })
    .await;
    let on_file = World::start().await;
    for world in [&world, &on_file] {
        world.customer().open("ebook").await.quotes().await;
    }
    world.wait_for_deliveries().await;
    let scrape = Scrape::of(&world).await;
    let count = scrape.series().len();
    assert!(count <= MOST_SERIES, "{count} series");
    let sqlite = Scrape::of(&on_file).await;
    on_file.end().await;
    let exported = &scrape.series() | &sqlite.series();
    for file in [
        "deploy/prometheus/alerts.yml",
        "deploy/prometheus/alerts.test.yml",
        "deploy/grafana/florin.json",
    ] {
        assert_eq!(unknown_in(file, &exported), [""; 0], "{file}");
    }
    let (table, common) = (scrape.table(), sqlite.table());
    let rows = table.lines().filter(|row| !common.contains(row));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 6, "{rows:#?}");
    let wanted = rows.join("\n");
    let page = text_of(PAGE);
    assert!(
        page.contains(&wanted),
        "{PAGE} needs these rows:\n\n{wanted}\n"
    );

    // An open transaction of another program holds back the list of events.
    let mut other = PgConnection::connect(&url).await.unwrap();
    let mut open = other.begin().await.unwrap();
    let written = sqlx::query("SELECT pg_current_xact_id()").execute(&mut *open);
    written.await.unwrap();
    eventually("the transaction grows old", async || {
        let scrape = Scrape::of(&world).await;
        (scrape.value("florin_database_oldest_write_seconds") > 1).then_some(())
    })
    .await;
    open.rollback().await.unwrap();

    // The server keeps the connections and answers nothing.
    world.expect_error("orders cannot be stored");
    let timeouts = "florin_database_connection_timeouts_total{pool=\"read\"}";
    let before = Scrape::of(&world).await.value(timeouts);
    link.freeze();
    let orders = format!("{}/v1/orders", world.proxy_url());
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let read = world.http().get(&orders).bearer_auth(secrets::STORE_KEY);
        readers.spawn(async move { read.send().await.unwrap().status().as_u16() });
    }
    assert_eq!(readers.join_all().await, [503; READERS]);
    // A probe makes the storage monitor check the database.
    eventually("the proxy reports the outage", async || {
        world.get_admin("/health/ready").await;
        world.logged("orders cannot be stored").then_some(())
    })
    .await;
    link.restore().await;
    eventually("the timeouts are counted", async || {
        (Scrape::of(&world).await.value(timeouts) > before).then_some(())
    })
    .await;
    world.end().await;
}
