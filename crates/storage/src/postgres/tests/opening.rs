//! Opening a database: only the command changes its schema, and a program runs with its schema and the next, while proxies are
//! replaced one after the other.

use super::*;

async fn refused(database: &str) -> String {
    let opened = PostgresStorage::open(&server().url(database), "test").await;
    opened.unwrap_err().to_string()
}

#[tokio::test]
async fn an_unmigrated_database_is_refused_with_the_name_of_the_command() {
    let name = new_name();
    server().create_database(&name, None).unwrap();
    let sentence = refused(&name).await;
    assert!(
        sentence.contains("run `florin-proxy migrate`"),
        "{sentence}"
    );
    let url = server().url(&name);
    let all = crate::migrate_postgres(&url, "test").await.unwrap();
    assert_eq!(all, open::MIGRATIONS.len() as u64);
    assert_eq!(crate::migrate_postgres(&url, "test").await.unwrap(), 0);
    PostgresStorage::open(&url, "test").await.unwrap();
}

#[tokio::test]
async fn a_database_of_another_program_is_not_migrated() {
    let later = "CREATE TABLE _sqlx_migrations (version bigint, success boolean);
         INSERT INTO _sqlx_migrations VALUES (20260101, true)";
    for foreign in ["CREATE TABLE carts (id int)", later] {
        let name = new_name();
        server().create_database(&name, None).unwrap();
        server().psql(&name, foreign).unwrap();
        refused(&name).await;
        let migrated = crate::migrate_postgres(&server().url(&name), "test").await;
        let sentence = migrated.unwrap_err().to_string();
        assert!(
            sentence.contains("the database of another program"),
            "{sentence}"
        );
    }
}

#[tokio::test]
async fn limits_are_those_of_every_connection() {
    let second = std::time::Duration::from_secs(1);
    let default = PostgresOptions::DEFAULT;
    assert!(
        3 * default.connections + 10 <= 100,
        "three processes fit into a default server"
    );
    let other = PostgresOptions {
        connections: 5,
        acquire_timeout: second * 4,
        statement_timeout: second * 7,
        lock_timeout: second * 3,
    };
    let url = server().url(&database());
    for (given, connections, expected) in
        [(default, [8, 8], "5s 2s 10s"), (other, [2, 3], "7s 3s 10s")]
    {
        let clock = LeaseClock::Server;
        let opened = PostgresStorage::open_limited(&url, None, "test", clock, &given).await;
        let storage = opened.unwrap();
        for (pool, connections) in [&storage.writer, &storage.reader]
            .into_iter()
            .zip(connections)
        {
            assert_eq!(pool.options().get_max_connections(), connections);
            assert_eq!(pool.options().get_acquire_timeout(), given.acquire_timeout);
            let limits = "SELECT concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout'),
                 current_setting('idle_in_transaction_session_timeout'))";
            let limits: String = sqlx::query_scalar(limits).fetch_one(pool).await.unwrap();
            assert_eq!(limits, expected);
        }
        // The proxy waits longer than the server works.
        assert!(storage.patience.read > given.statement_timeout);
        assert!(storage.patience.transaction > given.statement_timeout);
    }
}

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

/// Returns `true` if a program of the version before runs after a statement: it makes something new, or adds a column that
/// may be left out.
fn only_adds(statement: &str) -> bool {
    let words: Vec<&str> = statement.split_whitespace().collect();
    match words[..] {
        [] | ["CREATE" | "COMMENT", ..] => true,
        ["ALTER", "TABLE", _, "ADD", "COLUMN", ..] => {
            !statement.contains("NOT NULL") || statement.contains("DEFAULT")
        }
        _ => false,
    }
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

/// A migration that does more than to add names the schema from which on programs run.
#[test]
fn a_migration_that_breaks_the_version_before_says_so() {
    for (version, name, sql) in &open::MIGRATIONS[1..] {
        let is_named = sql.contains("UPDATE schema_compatibility SET min_schema =");
        for statement in statements(sql) {
            assert!(
                is_named || only_adds(&statement),
                "{version:04}_{name}: {statement}"
            );
        }
    }
    for (statement, is_harmless) in [
        ("ALTER TABLE orders ADD COLUMN channel text", true),
        (
            "ALTER TABLE orders ADD COLUMN channel text NOT NULL DEFAULT 'web'",
            true,
        ),
        ("ALTER TABLE orders ADD COLUMN channel text NOT NULL", false),
        ("ALTER TABLE orders\n    DROP title", false),
        ("ALTER TABLE orders RENAME COLUMN title TO name", false),
    ] {
        assert_eq!(only_adds(statement), is_harmless, "{statement}");
    }
}

async fn purchase(storage: &PostgresStorage, n: u8, now: i64) {
    storage.awaiting(n).await;
    storage.observe(now, exact("COMPLETED")).await;
    assert_eq!(storage.status(n).await, OrderStatus::Paid);
    while storage.backlog().await.unwrap() > 0 {
        for due in storage.due(now).await {
            storage.deliver(&due, now, DeliveryOutcome::Delivered).await;
        }
    }
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
    let (url, storage) = (server().url(&name), another(&name).await);
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
    replica(&name).await;
    server().psql(&name, &contracted(latest + 1)).unwrap();
    let sentence = refused(&name).await;
    let remedy = "start that version, or restore a backup";
    assert!(sentence.contains(remedy), "{sentence}");
    let migrated = crate::migrate_postgres(&url, "test").await;
    let is_newer = matches!(migrated, Err(StorageError::Newer { found: 99, .. }));
    assert!(is_newer, "{migrated:?}");
}
