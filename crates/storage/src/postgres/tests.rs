//! Tests of PostgreSQL alone. The contract of both databases is in `crate::contract`.

mod announcements;
mod copy;
mod cursor;
mod interleaving;
mod leases;
mod opening;
mod plans;
mod pooler;
mod relay;
pub(crate) mod server;

use florin_orders::fixtures::{at, exact, invoice, new_attempt, terms};
use florin_orders::{AttemptId, EventId, EventType, OrderStatus, PollPriority, Snapshot};
use jiff::SignedDuration;

use self::server::{database, server};
use super::*;
use crate::contract::{ByNumber as _, demo, hook, id, too_little, tried};
use crate::limits::LeaseClock;
use crate::{
    AttemptStorage as _, Changed, Claim, DeliveryOutcome, DeliveryStorage as _, DueAttempt,
    ExpiringStorage as _, Fingerprint, LimitKey, OrderFilter, OrderOperationError,
    PollStorage as _, RequestId, Result, SharedStorage as _, Storage as _, StorageError,
    StoredResponse,
};

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
