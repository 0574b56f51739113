//! Schemas of later versions: a program runs with its schema and the next, while proxies are replaced one after the other.

use super::server::new_name;
use super::*;

/// What a later version's migration that only adds does.
const EXPANDED: &str =
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
     VALUES (99, 'later', true, '', 0);
     ALTER TABLE orders ADD COLUMN channel text;
     ALTER TABLE attempts ADD COLUMN channel text;
     ALTER TABLE polls ADD COLUMN channel text;
     ALTER TABLE events ADD COLUMN channel text;
     ALTER TABLE outbox ADD COLUMN channel text;
     ALTER TABLE observations ADD COLUMN channel text";

/// Statements after which a program of the version before fails, with the reason.
fn breaks(statement: &str) -> Option<&'static str> {
    let words: Vec<String> = statement
        .split_whitespace()
        .map(|word| word.trim_matches(['(', ')', ',', ';']).to_uppercase())
        .collect();
    let has = |phrase: &[&str]| {
        words.windows(phrase.len()).any(|window| {
            window
                .iter()
                .zip(phrase)
                .all(|(word, wanted)| word == wanted)
        })
    };
    let drops = |what: &str| has(&["DROP", what]);
    if [
        "TABLE", "COLUMN", "VIEW", "SEQUENCE", "TYPE", "DEFAULT", "IDENTITY",
    ]
    .into_iter()
    .any(drops)
    {
        return Some("it removes what the version before uses");
    }
    // `ALTER TABLE orders DROP title`: the word COLUMN may be left out.
    let harmless = ["CONSTRAINT", "TRIGGER", "INDEX", "FUNCTION", "NOT"];
    let is_alter = words.first().is_some_and(|word| word == "ALTER");
    let bare = words
        .windows(2)
        .any(|pair| pair[0] == "DROP" && !harmless.contains(&pair[1].as_str()));
    if is_alter && bare {
        return Some("it removes what the version before uses");
    }
    if has(&["RENAME"]) {
        return Some("the version before uses the old name");
    }
    if has(&["SET", "NOT", "NULL"]) || is_alter && has(&["TYPE"]) {
        return Some("the version before may write other values");
    }
    let is_added = is_alter && has(&["ADD"]) && !has(&["ADD", "CONSTRAINT"]);
    if is_added && has(&["NOT", "NULL"]) && !has(&["DEFAULT"]) {
        return Some("the version before writes rows without the column");
    }
    None
}

/// Statements of a migration, without comments and the bodies of functions.
fn statements(sql: &str) -> Vec<String> {
    let lines = sql
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let without_bodies: String = text.split("$$").step_by(2).collect();
    without_bodies.split(';').map(str::to_owned).collect()
}

/// A migration that removes or renames is the contract step: it names the schema from which on programs run.
fn is_contract(sql: &str) -> bool {
    sql.contains("UPDATE schema_compatibility SET min_schema =")
}

#[test]
fn a_migration_that_breaks_the_version_before_says_so() {
    for (version, name, sql) in open::MIGRATIONS {
        for statement in statements(sql) {
            if let Some(reason) = breaks(&statement) {
                assert!(
                    is_contract(sql),
                    "{version:04}_{name}: {reason}: {statement}"
                );
            }
        }
    }
}

#[test]
fn statements_that_break_the_version_before_are_recognised() {
    for statement in [
        "ALTER TABLE orders DROP COLUMN title",
        "ALTER TABLE orders\n    DROP title",
        "DROP TABLE deliveries",
        "ALTER TABLE orders RENAME COLUMN title TO name",
        "ALTER TABLE orders RENAME TO sales",
        "ALTER TABLE orders ADD COLUMN channel text NOT NULL",
        "ALTER TABLE orders ALTER COLUMN title SET NOT NULL",
        "ALTER TABLE orders ALTER COLUMN title TYPE bytea",
        "ALTER TABLE orders ALTER COLUMN title DROP DEFAULT",
    ] {
        assert!(breaks(statement).is_some(), "{statement}");
    }
    for statement in [
        "CREATE TABLE channels (id text NOT NULL, type text)",
        "ALTER TABLE orders ADD COLUMN channel text",
        "ALTER TABLE orders ADD COLUMN channel text NOT NULL DEFAULT 'web'",
        "ALTER TABLE orders DROP CONSTRAINT orders_status_check",
        "ALTER TABLE orders ALTER COLUMN title DROP NOT NULL",
        "DROP TRIGGER terms_stay ON orders",
    ] {
        assert_eq!(breaks(statement), None, "{statement}");
    }
}

/// A purchase from the order to the delivery of its last event.
async fn purchase(storage: &PostgresStorage, n: u8, now: i64) {
    let store = shared(storage);
    awaiting(&store, n).await;
    crate::contract::observe(&store, now, exact("COMPLETED")).await;
    assert_eq!(status(&store, n).await, OrderStatus::Paid);
    loop {
        let due = storage
            .due_deliveries(&demo(), at(now), at(now + 30), 9)
            .await;
        let due = due.unwrap();
        if due.is_empty() {
            break;
        }
        for due in due {
            let delivery = Delivery {
                event_id: due.event.id,
                tried_at: at(now),
                took: SignedDuration::ZERO,
                http_status: Some(204),
                note: String::new(),
            };
            let recorded = storage.record_delivery(&delivery, DeliveryOutcome::Delivered);
            recorded.await.unwrap();
        }
    }
    assert_eq!(storage.backlog().await.unwrap(), 0);
}

#[tokio::test]
async fn a_program_that_runs_while_the_next_schema_comes_goes_on_selling() {
    let (storage, name) = store().await;
    purchase(&storage, 1, 20).await;
    // Connections that are in use at the same time have prepared the same statements.
    for _ in 0..4 {
        let order = id(1);
        let reads = (0..8).map(|_| storage.snapshot(&order));
        futures_util::future::join_all(reads).await;
    }
    server().psql(&name, EXPANDED).unwrap();
    purchase(&storage, 2, 40).await;
}

#[tokio::test]
async fn a_program_starts_and_sells_on_the_next_schema() {
    let name = database();
    server().psql(&name, EXPANDED).unwrap();
    let url = server().url(&name);
    let storage = PostgresStorage::open_with(&url, "test", LeaseClock::Caller).await;
    let storage = storage.unwrap();
    purchase(&storage, 1, 20).await;
    // As the step before each proxy of a deployment runs it.
    assert_eq!(crate::migrate_postgres(&url, "test").await.unwrap(), 0);
    let schema = storage.server_state().await.unwrap().unwrap().schema;
    assert_eq!(schema, 99);
}

#[tokio::test]
async fn a_program_that_is_too_old_for_the_schema_is_refused_with_the_remedy() {
    let name = database();
    server().psql(&name, EXPANDED).unwrap();
    let latest = open::MIGRATIONS[open::MIGRATIONS.len() - 1].0;
    let contracted = |min: i64| format!("UPDATE schema_compatibility SET min_schema = {min}");
    let url = server().url(&name);
    server().psql(&name, &contracted(latest)).unwrap();
    PostgresStorage::open(&url, "test").await.unwrap();
    server().psql(&name, &contracted(latest + 1)).unwrap();
    let refused = PostgresStorage::open(&url, "test").await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("start that version, or restore a backup"),
        "{refused}"
    );
    let migrated = crate::migrate_postgres(&url, "test").await;
    assert!(matches!(
        migrated,
        Err(StorageError::Newer { found: 99, .. })
    ));
}

#[tokio::test]
async fn the_next_schema_of_another_program_is_refused() {
    let name = new_name();
    server().create_database(&name, None).unwrap();
    let foreign = "CREATE TABLE _sqlx_migrations (version bigint, success boolean);
         INSERT INTO _sqlx_migrations VALUES (20260101, true)";
    server().psql(&name, foreign).unwrap();
    let url = server().url(&name);
    let opened = PostgresStorage::open(&url, "test").await;
    assert!(
        matches!(opened, Err(StorageError::Newer { .. })),
        "{opened:?}"
    );
    let migrated = crate::migrate_postgres(&url, "test").await;
    let sentence = migrated.unwrap_err().to_string();
    assert!(
        sentence.contains("the database of another program"),
        "{sentence}"
    );
}
