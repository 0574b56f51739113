//! Proof that the auditor reads each source: copies of good evidence are corrupted, each in one way, and each must break
//! the rule that covers it. Every rule by itself is broken in `crates/invariants`.

use std::fs;
use std::path::Path;

use florin_invariants::Finding;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use support::Folder;
use support::campaign::{Remains, audit_copy};

/// Statements, and the rule that they break. They are the same for both databases.
const ROWS: [(&str, &str); 4] = [
    (
        "payment-is-credited",
        "DELETE FROM credits WHERE order_id = (SELECT min(order_id) FROM credits)",
    ),
    (
        "outbox-is-settled",
        "UPDATE outbox SET state = 'pending' WHERE position = (SELECT max(position) FROM outbox)",
    ),
    (
        "row-is-invoice",
        "UPDATE attempts SET address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'
         WHERE id = (SELECT min(id) FROM attempts WHERE state = 'open' AND flow = 'custom')",
    ),
    (
        "file-is-sound",
        "UPDATE credits SET observation_id = -1 WHERE order_id = (SELECT min(order_id) FROM credits)",
    ),
];

/// A log's lines.
type Lines = Vec<Value>;

/// A change of a log's lines.
type Change = fn(&mut Lines);

/// The rule that is broken, the log, and the change of its lines.
const LINES: [(&str, &str, Change); 7] = [
    ("requested-once", "sandbox.jsonl", |lines| {
        repeat(lines, "created_invoice", "invoice_id");
    }),
    ("requested-once", "sandbox.jsonl", |lines| {
        repeat(lines, "opened_checkout", "session_id");
    }),
    ("pauses-kept", "sandbox.jsonl", |lines| {
        let request = lines.iter_mut().find(|line| line["kind"] == "request");
        request.unwrap()["retry_after"] = json!(30);
    }),
    ("event-is-accepted", "shop.jsonl", |lines| {
        let accepted = lines.iter().find(|line| line["response"] == 204);
        let id = accepted.unwrap()["id"].clone();
        lines.retain(|line| line["id"] != id);
    }),
    ("same-bytes", "shop.jsonl", |lines| {
        let body = lines[0]["body"].as_str().unwrap();
        lines[0]["body"] = json!(format!("{body} "));
    }),
    ("signed", "shop.jsonl", |lines| {
        let another = lines.last().unwrap()["signature"].clone();
        lines[0]["signature"] = another;
    }),
    ("event-list-is-complete", "events.jsonl", |lines| {
        lines.remove(lines.len() / 2);
    }),
];

fn repeat(lines: &mut Lines, what: &str, id: &str) {
    let line = lines.iter().find(|line| line["did"] == what);
    let mut again = line.unwrap().clone();
    again["response"][id] = json!("another");
    lines.push(again);
}

/// Applies every corruption to a copy of what a shard leaves, and checks that its rule breaks.
pub(crate) async fn every_source_is_read(remains: &Remains) {
    for (number, (rule, statements)) in ROWS.into_iter().enumerate() {
        let copy = Folder::new();
        let database = if let Some(server) = &remains.server {
            let name = format!("copy_{number}");
            server.create_database(&name, Some("florin")).unwrap();
            let statements = format!("SET session_replication_role = replica; {statements}");
            server.psql(&name, &statements).unwrap();
            server.url(&name)
        } else {
            let file = copy.file("florin.db");
            fs::copy(remains.folder.file("florin.db"), &file).unwrap();
            change_file(&file, statements).await;
            file.display().to_string()
        };
        let findings = audit_copy(remains.folder.path(), &database).await;
        assert_broken(&findings, rule, statements);
    }
    for (rule, log, change) in LINES {
        let copy = Folder::new();
        for file in fs::read_dir(remains.folder.path()).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|ending| ending == "jsonl") {
                fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
            }
        }
        change_lines(&copy.file(log), change);
        let findings = audit_copy(copy.path(), &remains.database()).await;
        assert_broken(&findings, rule, log);
    }
}

#[track_caller]
fn assert_broken(findings: &[Finding], rule: &str, change: &str) {
    let finding = findings.iter().find(|finding| finding.name == rule);
    let finding = finding.expect("the rule exists");
    assert!(!finding.holds(), "{change} does not break {finding}");
}

fn change_lines(log: &Path, change: fn(&mut Lines)) {
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    let mut lines: Lines = lines.collect::<Result<_, _>>().unwrap();
    change(&mut lines);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(log, lines.join("\n")).unwrap();
}

/// Runs a statement without triggers and foreign keys.
async fn change_file(file: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(false);
    let mut db = options.connect().await.unwrap();
    let triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'";
    let triggers = sqlx::query_scalar(triggers).fetch_all(&mut db).await;
    let triggers: Vec<String> = triggers.unwrap();
    for trigger in triggers {
        let drop = AssertSqlSafe(format!("DROP TRIGGER {trigger}"));
        sqlx::raw_sql(drop).execute(&mut db).await.unwrap();
    }
    sqlx::raw_sql(statement).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
}
