//! The server of this test binary, with a database for each test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use florin_postgres::{Durability, PostgresServer};

/// What every test's database is a copy of.
const TEMPLATE: &str = "florin_template";

/// The server. It ends with this process.
pub(crate) fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = PostgresServer::start(Durability::None).expect("PostgreSQL is installed");
        server.create_database(TEMPLATE, None).unwrap();
        let url = server.url(TEMPLATE);
        // The caller may be inside a runtime.
        let migrated = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(crate::migrate_postgres(&url, "test"))
        });
        let applied = migrated.join().unwrap().unwrap();
        assert_eq!(applied, crate::postgres::open::MIGRATIONS.len() as u64);
        server
    })
}

/// The name of a new database with the schema.
pub(crate) fn database() -> String {
    let name = new_name();
    server().create_database(&name, Some(TEMPLATE)).unwrap();
    name
}

/// A name that no database has.
pub(crate) fn new_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
