//! Tests of a file alone: the query plan of every statement, each of which finds its rows by an index; the growth of the database
//! per order; an endpoint that is enabled after a backlog. The contract of both databases is in `crate::contract`.

mod writing;

use std::ops::Deref;

use florin_orders::fixtures::{amount, at, exact, observed, terms};
use florin_orders::{Observation, OrderStatus, PollPriority};
use sqlx::Row as _;
use tempfile::TempDir;

use super::*;
use crate::contract::{ByNumber as _, hook, id, polled, statements, token};
use crate::{DeliveryOutcome, DeliveryStorage as _, ExpiringStorage as _, Opened, Storage as _};

struct TestStorage {
    storage: SqliteStorage,
    folder: TempDir,
}

impl Deref for TestStorage {
    type Target = SqliteStorage;

    fn deref(&self) -> &SqliteStorage {
        &self.storage
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}

async fn test() -> TestStorage {
    let mut folder = tempfile::Builder::new();
    let folder = folder.prefix("florin-storage-").tempdir().unwrap();
    let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
    TestStorage { storage, folder }
}

/// Statements that read more than their rows, each with what bounds it.
const BOUNDED: &str = "
SCAN webhooks: a row for each webhook
SCAN disabled_endpoints: a row for each webhook
SCAN hooks: a row for each webhook
SCAN due: up to the limit of the query within
SCAN outbox USING INDEX outbox_leased: the leased events alone, at the start
SCAN attempts USING INDEX attempts_needing_review: those alone
SCAN outbox USING COVERING INDEX outbox_by_plan: the waiting events alone
SCAN outbox USING COVERING INDEX outbox_pending: the waiting events alone
SCAN orders USING INDEX orders_by_time: in the order of the index, up to the page's limit
SCAN outbox USING COVERING INDEX outbox_given_up: the given-up events alone, up to the page's limit
SCAN static_files: those of a few versions
SCAN price_lists: those of a few minutes
SCAN sqlite_schema: once, at the start
SCAN _sqlx_migrations: once, at the start
";

/// What a step of a plan reads too much of; `None` if it reads the rows that it needs.
fn excess(step: &str) -> Option<&str> {
    let mut bounded = BOUNDED.lines().filter_map(|line| line.split_once(": "));
    let is_constant = step == "SCAN CONSTANT ROW" || step.starts_with("SCAN (subquery");
    let is_scan = step.starts_with("SCAN ")
        && !is_constant
        && !bounded.any(|(scan, _)| step.starts_with(scan));
    // A store's orders are listed in the order of an index, not sorted for each page.
    let is_sort = step.starts_with("USE TEMP B-TREE");
    (is_scan || is_sort).then_some(step)
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let test = test().await;
    let mut connection = test.reader.acquire().await.unwrap();
    let statements = statements("sqlite", &[]);
    assert!(statements.len() > 60, "only {} found", statements.len());
    let mut problems = Vec::new();
    // SQLite reads the rows that refer to an inserted one only while a foreign key is violated.
    let reads =
        |statement: &&String| !statement.starts_with("INSERT") || statement.contains("SELECT");
    for statement in statements.iter().filter(reads) {
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let explain = sqlx::query(sqlx::AssertSqlSafe(explain));
        let steps = explain.fetch_all(&mut *connection).await;
        let steps = steps.unwrap_or_else(|error| panic!("{statement}: {error}"));
        for step in &steps {
            let step: &str = step.get("detail");
            problems.extend(excess(step).map(|step| format!("{step}: {statement}")));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

const ORDERS: u8 = 24;
/// Polls of an attempt in its life, as many as a poller without any economy makes.
const POLLS: u32 = 300;

/// The length of a response as the sandbox writes it. The time in it differs in each.
const LENGTH: usize = 700;

fn confirmed(count: u32) -> Observation {
    Observation {
        confirmations: Some(format!("{count}/3")),
        transaction_hash: Some("c0ffee".repeat(10) + "cafe"),
        ..exact(if count < 3 { "PROCESSING" } else { "COMPLETED" })
    }
}

async fn record(storage: &SqliteStorage, number: u8, poll: u32, response: Observation) {
    let response = Observation {
        raw: format!("{poll:x<LENGTH$}"),
        ..response
    };
    let now = 10 + i64::from(poll);
    let recorded = storage.record(&polled(number, poll), now, response).await;
    recorded.expect("the latest poll");
}

/// Bytes that `ORDERS` orders leave behind each, after what expires is gone: those of the pages in use, with the room in
/// them that later orders fill.
async fn bytes_per_order(observations: impl Fn(u32) -> Observation) -> u64 {
    let test = test().await;
    let size = async || {
        let mut connection = test.reader.acquire().await.unwrap();
        let mut number = async |pragma: &str| {
            let pragma = sqlx::AssertSqlSafe(format!("PRAGMA {pragma}"));
            let number = sqlx::query_scalar::<_, i64>(pragma);
            number.fetch_one(&mut *connection).await.unwrap()
        };
        let pages = number("page_count").await - number("freelist_count").await;
        u64::try_from(pages * number("page_size").await).unwrap()
    };
    let empty = size().await;
    for number in 1..=ORDERS {
        test.awaiting(number).await;
        for poll in 1..=POLLS {
            record(&test, number, poll, observations(poll)).await;
        }
    }
    while test.backlog().await.unwrap() > 0 {
        for due in test.due(9_000).await {
            test.deliver(&due, 9_000, DeliveryOutcome::Delivered).await;
        }
    }
    while test.delete_expired_tokens(at(1 << 32)).await.unwrap() > 0 {}
    (size().await - empty) / u64::from(ORDERS)
}

#[tokio::test]
async fn a_paid_order_leaves_ten_kilobytes_at_most_and_an_unpaid_one_twelve() {
    let paid = bytes_per_order(|poll| match poll {
        1..=40 => observed("WAITING"),
        41..=60 => confirmed(0),
        61..=80 => confirmed(1),
        81..=100 => confirmed(2),
        _ => confirmed(3),
    });
    let unpaid = bytes_per_order(|poll| match poll {
        1..=100 => observed("WAITING"),
        _ => observed("EXPIRED"),
    });
    let (paid, unpaid) = tokio::join!(paid, unpaid);
    println!("after {POLLS} polls: {paid} bytes of a paid order, {unpaid} of an unpaid one");
    assert!(paid <= 10_000, "{paid}");
    assert!(unpaid <= 12_000, "{unpaid}");
}

/// A store that is down: this many orders, with an event that is due for each.
async fn with_backlog(events: u32) -> TestStorage {
    let test = test().await;
    test.order(1).await;
    let mut tx = test.begin().await.unwrap();
    for statement in [
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title, lines, metadata, assets,
             flow, tolerance, expires_at, created_at, status)
         SELECT 'ord_' || printf('%032x', i + 4096), store_id, 'old-' || i, amount, currency, price_source, title,
             lines, metadata, assets, flow, tolerance, expires_at, created_at, status
         FROM orders, n WHERE reference = 'r1'",
        "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
         SELECT 'evt_' || substr(id, 5) || '_1_0123456789abcdef', store_id, id, 1, 'order.created', 0, '{}'
         FROM orders WHERE reference <> 'r1' LIMIT ?",
        "INSERT INTO outbox (order_id, sequence, webhook, position, store_id, next_at, planned_at, is_head)
         SELECT order_id, sequence, 'default', position, store_id, position % 1000, 0, 1 FROM events
         WHERE position NOT IN (SELECT position FROM outbox) LIMIT ?",
    ] {
        let filled = sqlx::query(statement).bind(events);
        filled.execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    test
}

#[tokio::test]
async fn an_endpoint_is_enabled_in_steps_and_keeps_its_events() {
    let test = with_backlog(3_000).await;
    let due = test.due_deliveries(&hook(), at(2), at(32), 2).await;
    let gone = DeliveryOutcome::Gone(florin_orders::EndpointHash([7; 32]));
    test.deliver(&due.unwrap()[0], 2, gone).await;
    let due = test.due_deliveries(&hook(), at(3), at(33), 4).await;
    assert_eq!(due.unwrap(), []);
    assert!(test.enable_endpoint(&hook(), at(50)).await.unwrap());
    let due = "SELECT count(*) FROM outbox WHERE state = 'pending' AND tries = 0 AND next_at = $1";
    let due = sqlx::query_scalar(due).bind(at(50).as_millisecond());
    let due: i64 = due.fetch_one(&test.reader).await.unwrap();
    assert_eq!(due, 3_001);
}
