//! The PostgreSQL server of a test program, with a database for each test.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use florin_postgres::{Durability, Pooler, PostgresServer};

/// Fewer connections than one proxy opens.
const POOLED: u32 = 4;

pub async fn postgres_database() -> String {
    let url = empty_postgres_database();
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    url
}

/// The address of a new database without a schema.
pub fn empty_postgres_database() -> String {
    server().url(&new_database())
}

/// The address of a new database with what a dump has, as [`dump_postgres_database`] writes it.
pub fn load_postgres_database(dump: &Path) -> String {
    let name = new_database();
    let loaded = server().load_statements(&name, dump);
    loaded.unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
    server().url(&name)
}

/// Writes the statements that make a database of this server, without the files of the checkout.
pub fn dump_postgres_database(url: &str, file: &Path) {
    let (_, name) = url.rsplit_once('/').expect("an address has a database");
    let written = server().dump_statements(name, "static_files", file);
    written.expect("the database can be dumped");
    // `\restrict` and `\unrestrict` are for psql of this version, with random keys.
    let text = std::fs::read_to_string(file).expect("a dump is text");
    let is_kept = |line: &&str| !line.starts_with(['\\']);
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    std::fs::write(file, lines.join("\n") + "\n").expect("the file is writable");
}

/// The address of the same database through a PgBouncer in transaction mode.
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

fn new_database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let created = server().create_database(&name, None);
    created.expect("the server makes databases");
    name
}
