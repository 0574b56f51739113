//! Proof that the auditor reads each source: a copy of good evidence is corrupted in several ways, and each must break the
//! rule that covers it. Every rule by itself is broken in `crates/invariants`.

use std::fs;
use std::path::Path;

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

type Lines = Vec<Value>;

type Change = fn(&mut Lines);

/// The rule that is broken, the log, and the change of its lines.
const LINES: [(&str, &str, Change); 6] = [
    ("requested-once", "sandbox.jsonl", |lines| {
        for (what, id) in [("create_invoice", "invoice_id"), ("checkout", "session_id")] {
            let line = lines.iter().find(|line| line["did"] == what);
            let mut again = line.unwrap().clone();
            again["response"][id] = json!(format!("another after {what}"));
            lines.push(again);
        }
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
        lines[1]["signature"] = another;
    }),
    ("event-list-is-complete", "events.jsonl", |lines| {
        lines.remove(lines.len() / 2);
    }),
];

/// Applies every corruption to a copy of what a shard leaves, and checks that their rules break.
pub(crate) async fn every_source_is_read(remains: &Remains) {
    let copy = Folder::new();
    for file in fs::read_dir(remains.folder.path()).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    for (_, log, change) in LINES {
        change_lines(&copy.file(log), change);
    }
    let statements = ROWS.map(|(_, statement)| statement).join(";\n");
    let database = if let Some(server) = &remains.server {
        server.create_database("copy", Some("florin")).unwrap();
        let statements = format!("SET session_replication_role = replica; {statements}");
        server.psql("copy", &statements).unwrap();
        server.url("copy")
    } else {
        let file = copy.file("florin.db");
        fs::copy(remains.folder.file("florin.db"), &file).unwrap();
        change_file(&file, statements).await;
        file.display().to_string()
    };
    let findings = audit_copy(copy.path(), &database).await;
    let of_lines = LINES.map(|(rule, ..)| rule);
    for rule in ROWS.map(|(rule, _)| rule).into_iter().chain(of_lines) {
        let finding = findings.iter().find(|finding| finding.name == rule);
        let finding = finding.expect("the rule exists");
        // Both requests that are repeated break one rule.
        let offences = if rule == "requested-once" { 2 } else { 1 };
        assert!(finding.offences.len() >= offences, "not broken: {finding}");
    }
}

fn change_lines(log: &Path, change: Change) {
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    let mut lines: Lines = lines.collect::<Result<_, _>>().unwrap();
    change(&mut lines);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(log, lines.join("\n")).unwrap();
}

/// Runs statements without triggers and foreign keys.
async fn change_file(file: &Path, statements: String) {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .foreign_keys(false);
    let mut db = options.connect().await.unwrap();
    let triggers = "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger'";
    let triggers = sqlx::query_scalar(triggers).fetch_all(&mut db).await;
    let triggers: Vec<String> = triggers.unwrap();
    let script = AssertSqlSafe([triggers, vec![statements]].concat().join(";\n"));
    sqlx::raw_sql(script).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
}
