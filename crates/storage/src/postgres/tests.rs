//! Tests of PostgreSQL alone. The contract of every store is in `crate::contract`.

mod account;
mod announcements;
mod compatibility;
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
mod shared;

use std::sync::Arc;

use florin_orders::fixtures::{at, exact, invoice, new_attempt, observed, terms};
use florin_orders::{
    AttemptId, EventId, EventType, Observation, OrderStatus, PollPriority, Snapshot,
};
use jiff::{SignedDuration, Timestamp};

use self::server::{database, server};
use super::*;
use crate::contract::{Store, awaiting, demo, id, order, status, token};
use crate::lease::LeaseClock;
use crate::{
    Claim, Delivery, DeliveryOutcome, DueAttempt, OrderFilter, OrderOperationError,
    SharedStorage as _, Storage as _, StoredResponse,
};

/// A store in a new database.
async fn store() -> (PostgresStorage, String) {
    let database = database();
    (another(&database).await, database)
}

/// Another process on the same database.
async fn another(database: &str) -> PostgresStorage {
    let url = server().url(database);
    opened(&url).await
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
