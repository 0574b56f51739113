//! The query plan of every statement: each finds its rows by an index. PostgreSQL plans here for a million rows in each
//! table, and reads a whole table or index only where no index leads to the rows.

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};

use super::*;
use crate::contract::statements;
use crate::{Actor, OperatorStorage as _};

/// Tables and indices that are read as a whole, each with what bounds it.
const BOUNDED: [(&str, &str); 12] = [
    (
        "attempts_creating",
        "invoices that are requested at this moment",
    ),
    ("attempts_needing_review", "payments that wait for a person"),
    ("orders_for_attention", "the same, up to the page's limit"),
    (
        "orders_by_time",
        "in the order of the index, up to the page's limit",
    ),
    (
        "outbox_given_up",
        "in the order of the index, up to the page's limit",
    ),
    ("outbox_pending", "events that are not delivered yet"),
    ("webhooks", "a row for each webhook"),
    ("disabled_endpoints", "a row for each webhook"),
    ("price_lists", "those of a few minutes"),
    ("delays", "a row for each proxy"),
    ("static_files", "a row for each file of the checkout"),
    ("pg_database", "a row for each database of the server"),
];

/// A file with the statements of two commands, which read the whole database: `store verify`, and `migrate` after a dump was
/// restored.
const OF_THE_WHOLE_DATABASE: [&str; 1] = ["open.rs"];

/// Names for the types of a statement's parameters `$1`, `$2`, …: PostgreSQL finds out those that the statement uses.
fn parameters(statement: &str) -> Vec<&'static str> {
    let numbers = statement.split('$').skip(1).filter_map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse::<usize>().ok()
    });
    let used: Vec<usize> = numbers.collect();
    let last = used.iter().max().copied().unwrap_or(0);
    let kind = |number| {
        if used.contains(&number) {
            "unknown"
        } else {
            "text"
        }
    };
    (1..=last).map(kind).collect()
}

async fn plan(connection: &mut PgConnection, statement: &str) -> Value {
    let parameters = parameters(statement);
    let (mut types, mut nulls) = (String::new(), String::new());
    if !parameters.is_empty() {
        types = format!("({})", parameters.join(", "));
        nulls = format!("({})", vec!["NULL"; parameters.len()].join(", "));
    }
    let prepare = format!("PREPARE statement {types} AS {statement}");
    let prepared = connection
        .execute(sqlx::raw_sql(AssertSqlSafe(prepare)))
        .await;
    prepared.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE statement{nulls}");
    let explained = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_one(&mut *connection);
    let text: String = explained.await.unwrap().get_unchecked(0);
    let released = connection.execute(sqlx::raw_sql("DEALLOCATE statement"));
    released.await.unwrap();
    serde_json::from_str(&text).unwrap()
}

fn excess(plan: &Value, found: &mut Vec<String>) {
    if let Some(node) = plan["Node Type"].as_str() {
        let table = plan["Relation Name"].as_str().unwrap_or_default();
        let index = plan["Index Name"].as_str().unwrap_or_default();
        let is_bounded = |(name, _): &(&str, &str)| *name == table || *name == index;
        let is_bounded = BOUNDED.iter().any(is_bounded);
        let is_whole_index = node.contains("Index") && plan["Index Cond"].is_null();
        if !is_bounded && (node == "Seq Scan" || is_whole_index) {
            found.push(format!("{node} of {table} {index}"));
        }
    }
    match plan {
        Value::Array(plans) => plans.iter().for_each(|plan| excess(plan, found)),
        Value::Object(members) => members.values().for_each(|plan| excess(plan, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let (storage, database) = store().await;
    for number in 1..=3 {
        storage.awaiting(number).await;
    }
    storage.observe(20, exact("COMPLETED")).await;
    let refund = crate::contract::refund(1, "0.0001");
    let ada = Actor::operator("ada");
    storage.refund(&id(1), &refund, &ada, at(25)).await.unwrap();
    let due = storage.due(30).await.remove(0);
    storage.deliver(&due, 30, DeliveryOutcome::Delivered).await;
    let connection = PgConnection::connect(&server().url(&database));
    let mut connection = connection.await.unwrap();
    for setting in [
        "SET plan_cache_mode = force_generic_plan",
        "SET enable_seqscan = off",
        "SET enable_bitmapscan = off",
        "SET enable_hashjoin = off",
        "SET enable_mergejoin = off",
    ] {
        connection.execute(setting).await.unwrap();
    }
    let link = "INSERT INTO staff_access (hash, state, store_id, secret_key, person, may_decide, session_seconds, expires_at)
         VALUES (sha256('link'), 'link', 'demo', sha256('key'), 'Zoë', true, 600, now())";
    connection.execute(link).await.unwrap();
    let million = "UPDATE pg_class SET relpages = 1, reltuples = 1000000
         WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
    connection.execute(million).await.unwrap();
    let statements = statements("postgres", &OF_THE_WHOLE_DATABASE);
    assert!(statements.len() > 100, "only {} found", statements.len());
    let mut problems = Vec::new();
    for statement in &statements {
        let mut found = Vec::new();
        excess(&plan(&mut connection, statement).await, &mut found);
        problems.extend(found.iter().map(|found| format!("{found}: {statement}")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
