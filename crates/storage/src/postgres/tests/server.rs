//! The server of this test binary, with a database for each test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use florin_servers::{Durability, Pooler, PostgresServer};

const TEMPLATE: &str = "florin_template";

/// Refuses a write of an order's rows by a transaction that has not locked the order's row, or made it. Leases are the
/// exception, and what makes a waiting event due: they say which process works and when, and change nothing else.
const LOCKED_FIRST: &str = "
    CREATE FUNCTION require_locked_order() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        mine bigint := pg_current_xact_id()::text::bigint % 4294967296;
        is_locked boolean;
    BEGIN
        -- It gives all events new places at once, with their table locked.
        IF current_setting('application_name') = 'florin-proxy migrate' THEN
            RETURN NULL;
        END IF;
        IF TG_TABLE_NAME = 'outbox' AND TG_OP = 'UPDATE' THEN
            IF (NEW.leased_until IS DISTINCT FROM OLD.leased_until AND NEW.leased_until IS NOT NULL
                    OR NEW.early_from IS NULL AND OLD.early_from IS NOT NULL)
                AND (NEW.state, NEW.tries, NEW.is_head, NEW.was_delivered, NEW.position)
                    = (OLD.state, OLD.tries, OLD.is_head, OLD.was_delivered, OLD.position) THEN
                RETURN NULL;
            END IF;
        END IF;
        SELECT xmin::text::bigint = mine OR xmax::text::bigint = mine INTO is_locked
        FROM orders WHERE id = NEW.order_id;
        IF NOT coalesce(is_locked, false) THEN
            RAISE EXCEPTION '% of % without a lock of order %', TG_OP, TG_TABLE_NAME, NEW.order_id;
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER locked_first AFTER INSERT OR UPDATE ON outbox
        FOR EACH ROW EXECUTE FUNCTION require_locked_order();
    CREATE TRIGGER locked_first AFTER INSERT OR UPDATE ON attempts
        FOR EACH ROW EXECUTE FUNCTION require_locked_order();
    CREATE TRIGGER locked_first AFTER INSERT ON credits
        FOR EACH ROW EXECUTE FUNCTION require_locked_order();
    CREATE TRIGGER locked_first AFTER INSERT ON events
        FOR EACH ROW EXECUTE FUNCTION require_locked_order();";

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
        server.psql(TEMPLATE, LOCKED_FIRST).unwrap();
        server
    })
}

/// A pooler in front of the server. It has fewer connections than a store, so that transactions take turns on each.
pub(crate) fn pooler() -> &'static Pooler {
    static POOLER: OnceLock<Pooler> = OnceLock::new();
    POOLER.get_or_init(|| Pooler::start(server(), 2).expect("PgBouncer is installed"))
}

pub(crate) fn database() -> String {
    let name = new_name();
    server().create_database(&name, Some(TEMPLATE)).unwrap();
    name
}

pub(crate) fn new_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
