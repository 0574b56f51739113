//! Requests that found no connection in their pool, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::postgres::PgPool;

use super::failure::Failure;
use crate::{PoolState, StorageError};

/// How often a pool had no connection for a request in time.
#[derive(Debug, Default)]
pub(super) struct Timeouts {
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Timeouts {
    /// Counts a failed read that got no connection. Returns the error for the caller.
    pub(super) fn counted(&self, error: StorageError) -> StorageError {
        count(&self.reads, &error);
        error.for_postgres()
    }

    /// The same of a transaction.
    pub(super) fn counted_write<E: Failure>(&self, error: E) -> E {
        if let Some(error) = error.storage() {
            count(&self.writes, error);
        }
        error.for_postgres()
    }

    /// The state of both pools.
    pub(super) fn of(&self, reader: &PgPool, writer: &PgPool) -> Vec<PoolState> {
        let state = |name, pool: &PgPool, timeouts: &AtomicU64| PoolState {
            name,
            in_use: u64::from(pool.size()).saturating_sub(pool.num_idle() as u64),
            limit: u64::from(pool.options().get_max_connections()),
            timeouts: timeouts.load(Ordering::Relaxed),
        };
        vec![
            state("read", reader, &self.reads),
            state("write", writer, &self.writes),
        ]
    }
}

fn count(timeouts: &AtomicU64, error: &StorageError) {
    if matches!(error, StorageError::Database(sqlx::Error::PoolTimedOut)) {
        timeouts.fetch_add(1, Ordering::Relaxed);
    }
}
