//! Tests of PostgreSQL alone: here the list of events, whose reader misses none, whatever commits late; and leases, which end by the
//! server's clock or with the process that holds them. The contract of both databases is in `crate::contract`.

mod announcements;
mod copy;
mod interleaving;
mod opening;
mod plans;
mod pooler;
mod relay;

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use florin_orders::fixtures::{at, exact, invoice, new_attempt, terms};
use florin_orders::{AttemptId, EventId, EventType, OrderStatus, PollPriority, Snapshot};
use florin_servers::{Durability, Pooler, PostgresServer};
use jiff::SignedDuration;
use sqlx::Connection as _;

use super::*;
use crate::contract::{ByNumber as _, demo, hook, id, too_little, tried};
use crate::limits::LeaseClock;
use crate::{
    AttemptStorage as _, Changed, Claim, DeliveryOutcome, DeliveryStorage as _, DueAttempt,
    ExpiringStorage as _, Fingerprint, LimitKey, OrderFilter, OrderOperationError,
    PollStorage as _, RequestId, Result, SharedStorage as _, Storage as _, StorageError,
    StoredResponse,
};

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

async fn store() -> (PostgresStorage, String) {
    let database = database();
    (another(&database).await, database)
}

/// Another process on the same database. It waits longer for a connection and for locks, on a machine with other work to do.
async fn another(database: &str) -> PostgresStorage {
    let (url, clock) = (server().url(database), LeaseClock::Caller);
    let limits = PostgresOptions {
        acquire_timeout: std::time::Duration::from_secs(20),
        lock_timeout: std::time::Duration::from_secs(20),
        statement_timeout: std::time::Duration::from_secs(30),
        ..PostgresOptions::DEFAULT
    };
    let opened = PostgresStorage::open_limited(&url, None, "test", clock, &limits);
    opened.await.unwrap()
}

/// A process in production: leases end by the server's clock.
async fn replica(database: &str) -> PostgresStorage {
    let url = server().url(database);
    PostgresStorage::open(&url, "test").await.unwrap()
}

async fn number(storage: &PostgresStorage, query: &str) -> i64 {
    let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned()));
    query.fetch_one(&storage.reader).await.unwrap()
}

async fn read_on(storage: &PostgresStorage, seen: &mut Vec<EventId>) {
    loop {
        let page = storage.events(&demo(), seen.last(), 7).await;
        let page = page.unwrap().expect("the last event that was read");
        if page.is_empty() {
            return;
        }
        seen.extend(page.into_iter().map(|event| event.id));
    }
}

#[tokio::test]
async fn an_event_that_commits_late_is_not_skipped() {
    let (storage, database) = store().await;
    storage.order(1).await;
    // A transaction that has written its event and not ended.
    let slow = sqlx::PgConnection::connect(&server().url(&database));
    let mut slow = slow.await.unwrap();
    let mut tx = slow.begin().await.unwrap();
    for statement in [
        "INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title, lines, metadata, assets, flow,
             tolerance, expires_at, created_at, status)
         SELECT 'ord_' || md5('late'), store_id, 'r2', amount, currency, price_source, title, lines, metadata, assets, flow,
             tolerance, expires_at, created_at, status FROM orders",
        "INSERT INTO events (order_id, sequence, id, store_id, type, created_at, payload)
         SELECT 'ord_' || md5('late'), 1, 'evt_' || md5('late') || '_1_0123456789abcdef', store_id, type, created_at, payload FROM events",
    ] {
        sqlx::query(statement).execute(&mut *tx).await.unwrap();
    }
    storage.order(3).await;
    let mut seen = Vec::new();
    read_on(&storage, &mut seen).await;
    let before = seen.len();
    tx.commit().await.unwrap();
    read_on(&storage, &mut seen).await;
    assert_eq!((before, seen.len()), (1, 3), "{seen:?}");
}

/// A dump that is restored elsewhere has numbers of transactions that the new server has not reached.
#[tokio::test]
async fn a_restored_database_is_refused_until_it_is_migrated() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    let mut expected = Vec::new();
    read_on(&storage, &mut expected).await;
    let ahead = "UPDATE events SET tx = (tx::text::bigint + 1000000000)::text::xid8";
    sqlx::query(ahead).execute(&storage.reader).await.unwrap();
    let url = server().url(&database);
    let refused = PostgresStorage::open(&url, "test").await.unwrap_err();
    assert!(
        matches!(refused, StorageError::Restored { .. }),
        "{refused}"
    );
    crate::migrate_postgres(&url, "test").await.unwrap();
    let again = replica(&database).await;
    again.order(2).await;
    let mut seen = Vec::new();
    read_on(&again, &mut seen).await;
    assert_eq!(seen[..expected.len()], expected);
    assert_eq!(seen.len(), 3);
}

/// The list shows the events of an order in their order, also when a transaction took its number before it locked the
/// order.
#[tokio::test]
async fn the_list_has_an_orders_events_in_their_order() {
    let (one, database) = store().await;
    one.order(1).await;
    let early = sqlx::PgConnection::connect(&server().url(&database));
    let mut early = early.await.unwrap();
    let mut tx = early.begin().await.unwrap();
    // It takes its number here.
    let begun = sqlx::query("SELECT pg_current_xact_id()");
    begun.execute(&mut *tx).await.unwrap();
    one.add_attempt(1, 1).await;
    let late = "INSERT INTO events (order_id, sequence, id, store_id, type, created_at, payload)
         SELECT order_id, 3, id || '3', store_id, type, created_at, payload FROM events WHERE sequence = 1";
    let refused = sqlx::query(late).execute(&mut *tx).await.unwrap_err();
    let error = refused.as_database_error().unwrap();
    assert_eq!(error.code().as_deref(), Some("40001"));
}

#[tokio::test]
async fn a_process_with_a_clock_ahead_takes_no_lease_of_another() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    let (ours, ahead) = (replica(&database).await, replica(&database).await);
    assert_eq!(ours.polls(PollPriority::Unwatched, 20).await.len(), 1);
    assert_eq!(ahead.polls(PollPriority::Unwatched, 60).await, []);
    assert_eq!(ours.due(20).await.len(), 1);
    assert_eq!(ahead.due(60).await, []);
    let (request, asked) = (RequestId([1; 32]), Fingerprint([2; 32]));
    let claim = ours.claim_request(request, asked, at(20), at(50)).await;
    assert_eq!(claim.unwrap(), Claim::Acquired);
    let claim = ahead.claim_request(request, asked, at(60), at(90)).await;
    assert_eq!(claim.unwrap(), Claim::Running);
    storage.order(2).await;
    ours.begin(2, 2, 20).await.unwrap();
    let abandoned = ahead.abandon_stale_attempts(at(60), at(80)).await;
    assert_eq!(abandoned.unwrap(), 0);
    assert_eq!(ahead.delete_expired_requests(at(60)).await.unwrap(), 0);
}

/// A clock that was set back too far still finds what it planned while it was ahead, and leaves what others have planned.
#[tokio::test]
async fn a_process_whose_clock_is_behind_plans_anew_by_that_of_the_server() {
    let (storage, database) = store().await;
    storage.order(1).await;
    let ours = replica(&database).await;
    let now = ours.server_state().await.unwrap().unwrap().now;
    let minute = SignedDuration::from_mins(1);
    let event = ours.listed().await.remove(0);
    for (planned_at, replanned) in [(now, 0), (now + 60 * minute, 1)] {
        let planned = ours.redeliver(&demo(), &event.id, None, planned_at).await;
        assert!(planned.unwrap());
        let searched = ours.replan_future(now - minute).await.unwrap();
        assert_eq!(searched, replanned, "{planned_at}");
    }
}

#[tokio::test]
async fn a_process_that_starts_ends_no_lease_and_one_that_closes_ends_its_leases() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    storage.awaiting(2).await;
    let (one, two) = (replica(&database).await, replica(&database).await);
    for process in [&one, &two] {
        let due = process
            .due_attempts(PollPriority::Unwatched, at(20), at(50), 1)
            .await;
        assert_eq!(due.unwrap().len(), 1);
    }
    let third = replica(&database).await;
    assert_eq!(third.polls(PollPriority::Unwatched, 60).await, []);
    one.close().await;
    assert_eq!(third.polls(PollPriority::Unwatched, 60).await.len(), 1);
    assert_eq!(third.polls(PollPriority::Unwatched, 60).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_receives_three_deliveries_without_money_at_once_from_all_processes() {
    let (storage, database) = store().await;
    for n in 1..=30 {
        storage.order(n).await;
    }
    let mut processes = Vec::new();
    for _ in 0..3 {
        processes.push(another(&database).await);
    }
    let mut sent = HashSet::new();
    while sent.len() < 30 {
        let leased = processes.iter().map(|process| {
            let process = process.clone();
            tokio::spawn(async move {
                let due = process.due_deliveries(&hook(), at(1), at(31), 4).await;
                (process, due.unwrap())
            })
        });
        let mut in_progress = Vec::new();
        for leased in leased.collect::<Vec<_>>() {
            let (process, due) = leased.await.unwrap();
            in_progress.extend(due.into_iter().map(|due| (process.clone(), due)));
        }
        let count = in_progress.len();
        assert!((1..=3).contains(&count), "{count}");
        for (process, due) in in_progress {
            assert!(
                sent.insert(due.event.id.as_str().to_owned()),
                "each event once"
            );
            process.deliver(&due, 1, DeliveryOutcome::Delivered).await;
        }
    }
    assert_eq!(sent.len(), 30);
}
