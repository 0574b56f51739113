//! The PostgreSQL server of a test program, with a database for each test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use florin_postgres::{Durability, PostgresServer};

/// The address of a new database with the schema.
///
/// # Panics
/// No server is installed, or it does not start.
pub async fn postgres_database() -> String {
    let url = empty_postgres_database();
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    url
}

/// The address of a new database without a schema.
///
/// # Panics
/// No server is installed, or it does not start.
pub fn empty_postgres_database() -> String {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let start = || PostgresServer::start(Durability::None).expect("PostgreSQL is installed");
    let server = SERVER.get_or_init(start);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let created = server.create_database(&name, None);
    created.expect("the server makes databases");
    server.url(&name)
}
