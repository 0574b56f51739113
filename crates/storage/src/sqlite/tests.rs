//! Tests of a file alone: here the query plan of every statement, each of which finds its rows by an index. The contract of both
//! databases is in `crate::contract`.

mod growth;
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
