//! The query plan of every statement: each finds its rows by an index.

use std::fs;
use std::path::Path;

use sqlx::Row as _;
use syn::visit::Visit;

use super::*;

/// Statements that read more than their rows, each with what bounds it.
const BOUNDED: [(&str, &str); 6] = [
    ("SCAN waiting_events", "a row for each store"),
    (
        "SCAN orders USING COVERING INDEX orders_by_time",
        "in the order of the index, up to the page's limit",
    ),
    (
        "SCAN outbox USING COVERING INDEX outbox_given_up",
        "the given-up events alone, up to the page's limit",
    ),
    ("SCAN price_lists", "those of a few minutes"),
    ("SCAN sqlite_schema", "once, at the start"),
    ("SCAN _sqlx_migrations", "once, at the start"),
];

/// Statements that run once after this machine's clock was set back, and look at all that is pending.
const AFTER_A_CLOCK_CHANGE: [&str; 3] = [
    "UPDATE outbox SET next_at = ?1 WHERE state = 'pending' AND next_at > ?1",
    "UPDATE attempts SET expires_at = ?1 + expires_at - opened_at",
    "UPDATE attempts SET next_poll_at = ?1, lease_until = 0, looked_at",
];

/// The string literals of a file that are SQL.
struct Statements(Vec<String>);

impl<'ast> Visit<'ast> for Statements {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let text = literal.value();
        let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
        if verbs.iter().any(|verb| text.trim_start().starts_with(verb)) {
            self.0.push(text);
        }
    }
}

fn statements() -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = fs::read_dir(source.join("sqlite")).unwrap();
    let modules = modules.map(|entry| entry.unwrap().path());
    let mut found = Statements(Vec::new());
    for file in modules.chain([source.join("sqlite.rs")]) {
        if file.extension().is_some_and(|ending| ending == "rs") && !file.ends_with("tests.rs") {
            let text = fs::read_to_string(&file).unwrap();
            found.visit_file(&syn::parse_file(&text).unwrap());
        }
    }
    found.0
}

/// What a step of a plan reads too much of; `None` if it reads the rows that it needs.
fn excess(step: &str) -> Option<&str> {
    let is_bounded = |(scan, _): &(&str, &str)| step.starts_with(scan);
    let is_constant = step == "SCAN CONSTANT ROW" || step.starts_with("SCAN (subquery");
    let is_scan = step.starts_with("SCAN ") && !is_constant && !BOUNDED.iter().any(is_bounded);
    // A store's orders are listed in the order of an index, not sorted for each page.
    let is_sort = step.starts_with("USE TEMP B-TREE");
    (is_scan || is_sort).then_some(step)
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let test = test().await;
    let mut connection = test.storage.reader.acquire().await.unwrap();
    let statements = statements();
    assert!(statements.len() > 60, "only {} found", statements.len());
    let mut problems = Vec::new();
    let is_rare = |statement: &&String| {
        let mut rare = AFTER_A_CLOCK_CHANGE.iter();
        rare.any(|start| statement.starts_with(start))
    };
    for statement in statements.iter().filter(|statement| !is_rare(statement)) {
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
