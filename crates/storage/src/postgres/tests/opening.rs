//! Opening a database: only the command changes its schema.

use super::server::new_name;
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
async fn a_database_of_a_newer_version_is_refused() {
    let name = database();
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (99, 'later', true, '', 0);
         UPDATE schema_compatibility SET min_schema = 99";
    server().psql(&name, newer).unwrap();
    let sentence = refused(&name).await;
    assert!(
        sentence.contains("a newer version of Florin wrote"),
        "{sentence}"
    );
    let migrated = crate::migrate_postgres(&server().url(&name), "test").await;
    assert!(matches!(
        migrated,
        Err(StorageError::Newer { found: 99, .. })
    ));
}

#[tokio::test]
async fn a_database_of_another_program_is_not_migrated() {
    let name = new_name();
    server().create_database(&name, None).unwrap();
    server().psql(&name, "CREATE TABLE carts (id int)").unwrap();
    let migrated = crate::migrate_postgres(&server().url(&name), "test").await;
    let sentence = migrated.unwrap_err().to_string();
    assert!(
        sentence.contains("the database of another program"),
        "{sentence}"
    );
}

#[tokio::test]
async fn the_connections_of_three_processes_fit_into_a_default_server() {
    let url = server().url(&database());
    let storage = PostgresStorage::open(&url, "test").await.unwrap();
    let connections = storage.writer.options().get_max_connections()
        + storage.reader.options().get_max_connections();
    assert!(3 * connections + 10 <= 100, "{connections}");
    let limits = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE name IN
         ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')";
    let limits: String = sqlx::query_scalar(limits)
        .fetch_one(&storage.writer)
        .await
        .unwrap();
    assert_eq!(
        limits,
        "idle_in_transaction_session_timeout=10000 lock_timeout=2000 statement_timeout=5000"
    );
}

#[tokio::test]
async fn other_limits_are_those_of_every_connection() {
    let second = std::time::Duration::from_secs(1);
    let given = PostgresOptions {
        connections: 5,
        acquire_timeout: second * 4,
        statement_timeout: second * 7,
        lock_timeout: second * 3,
    };
    let url = server().url(&database());
    let opened =
        PostgresStorage::open_limited(&url, None, "test", LeaseClock::Server, &given).await;
    let storage = opened.unwrap();
    for (pool, connections) in [(&storage.writer, 2), (&storage.reader, 3)] {
        assert_eq!(pool.options().get_max_connections(), connections);
        assert_eq!(pool.options().get_acquire_timeout(), second * 4);
        let limits =
            "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')";
        let limits: String = sqlx::query_scalar(limits).fetch_one(pool).await.unwrap();
        assert_eq!(limits, "7s 3s");
    }
    // The proxy waits longer than the server works.
    assert!(storage.patience.read > given.statement_timeout);
    assert!(storage.patience.transaction > given.statement_timeout);
}
