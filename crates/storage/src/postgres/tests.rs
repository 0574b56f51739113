//! Tests of PostgreSQL alone. The contract of every store is in `crate::contract`.

mod account;
mod announcements;
mod copy;
mod cursor;
mod interleaving;
mod leases;
mod losses;
mod opening;
mod plans;
mod pooler;
mod races;
mod relay;
pub(crate) mod server;

use std::sync::Arc;

use florin_orders::fixtures::{at, exact, invoice, new_attempt, terms};
use florin_orders::{
    AttemptId, EventId, EventType, Observation, OrderStatus, PollPriority, Snapshot,
};
use jiff::SignedDuration;

use self::server::{database, server};
use super::*;
use crate::contract::{ByNumber as _, Store, demo, id, retry, too_little, tried};
use crate::lease::LeaseClock;
use crate::{
    Claim, DeliveryOutcome, DueAttempt, Fingerprint, LimitKey, OrderFilter, OrderOperationError,
    RequestId, SharedStorage as _, Storage as _, StoredResponse,
};

async fn store() -> (PostgresStorage, String) {
    let database = database();
    (another(&database).await, database)
}

/// Another process on the same database.
async fn another(database: &str) -> PostgresStorage {
    let url = server().url(database);
    opened(&url).await
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

/// A process that waits longer for a connection and for locks, on a machine with other work to do.
async fn opened(url: &str) -> PostgresStorage {
    let limits = PostgresOptions {
        acquire_timeout: std::time::Duration::from_secs(20),
        lock_timeout: std::time::Duration::from_secs(20),
        statement_timeout: std::time::Duration::from_secs(30),
        ..PostgresOptions::DEFAULT
    };
    let opened =
        PostgresStorage::open_limited(url, None, "test", LeaseClock::Caller, &limits).await;
    opened.unwrap()
}

fn shared(storage: &PostgresStorage) -> Store {
    Arc::new(storage.clone())
}
