//! The PostgreSQL server of a test program, with a database for each test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use florin_postgres::{Durability, Pooler, PostgresServer};

/// Fewer connections than one proxy opens.
const POOLED: u32 = 4;

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
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let created = server().create_database(&name, None);
    created.expect("the server makes databases");
    server().url(&name)
}

/// The address of the same database through a PgBouncer in transaction mode.
///
/// # Panics
/// It is not installed, or does not start.
pub fn pooled(url: &str) -> String {
    static POOLER: OnceLock<Pooler> = OnceLock::new();
    let start = || Pooler::start(server(), POOLED).expect("PgBouncer is installed");
    let (_, name) = url.rsplit_once('/').expect("the address of a database");
    server().url_at(POOLER.get_or_init(start).port(), name)
}

fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    let start = || PostgresServer::start(Durability::None).expect("PostgreSQL is installed");
    SERVER.get_or_init(start)
}
