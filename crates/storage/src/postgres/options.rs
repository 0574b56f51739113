//! Limits of the connections of one process, how often they were reached, and a pooler between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};

use crate::{Failure, PoolState, StorageError};

/// A connection through a firewall that forgets it ends before that.
const MAX_LIFETIME: Duration = Duration::from_mins(10);
/// A transaction that waits for its client is ended by the server after this time.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(10);
/// A response is awaited for so much longer than the server works on it.
const ANSWER: Duration = Duration::from_secs(1);
const STATEMENTS: u32 = 2;

/// Limits of the connections of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Connections, 2 at least: one half writes, the other reads. One more listens.
    pub connections: u32,
    /// How long a request waits for a free connection.
    pub acquire_timeout: Duration,
    /// How long the server works on a statement; whole milliseconds.
    pub statement_timeout: Duration,
    /// How long a statement waits for a lock; whole milliseconds.
    pub lock_timeout: Duration,
}

impl PostgresOptions {
    /// Three processes fit into the 100 connections of a default server.
    pub const DEFAULT: Self = Self {
        connections: 16,
        acquire_timeout: Duration::from_secs(3),
        statement_timeout: Duration::from_secs(5),
        lock_timeout: Duration::from_secs(2),
    };

    pub(super) fn writers(&self) -> u32 {
        (self.connections / 2).max(1)
    }

    pub(super) fn readers(&self) -> u32 {
        self.connections.saturating_sub(self.writers()).max(1)
    }

    pub(super) fn pool(&self, most: u32) -> PgPoolOptions {
        PgPoolOptions::new()
            .max_connections(most)
            .acquire_timeout(self.acquire_timeout)
            .max_lifetime(MAX_LIFETIME)
    }

    pub(super) fn limit(&self, connect: PgConnectOptions) -> PgConnectOptions {
        connect.options(self.settings())
    }

    pub(super) fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("statement_timeout", self.statement_timeout),
            ("lock_timeout", self.lock_timeout),
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION),
        ]
        .map(|(setting, limit)| (setting, format!("{}ms", limit.as_millis())))
    }

    pub(super) fn patience(&self) -> Patience {
        Patience {
            read: self.statement_timeout + ANSWER,
            transaction: self.statement_timeout * STATEMENTS,
            tries: self.connections + 1,
        }
    }
}

/// How long a response is awaited: longer than the server's `statement_timeout`. A server that does not answer by then is
/// not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) read: Duration,
    pub(super) transaction: Duration,
    /// Tries of a read on connections that were opened before the schema was changed.
    pub(super) tries: u32,
}

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

    /// Counts a failed transaction that got no connection. Returns the error for the caller.
    pub(super) fn counted_write<E: Failure>(&self, error: E) -> E {
        match error.into_storage_error() {
            Ok(error) => {
                count(&self.writes, &error);
                E::from(error.for_postgres())
            }
            Err(refused) => refused,
        }
    }

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

/// A pooler in transaction mode between: it gives each transaction any of its connections to the server.
///
/// What a connection remembers is of another process by then. So a pooled connection
/// - runs each statement in a transaction, reads as well: sqlx 0.9.0 prepares a statement and runs it by two messages;
/// - sets its limits in each transaction, and not when it connects: PgBouncer refuses `options`, and `extra_float_digits`,
///   which no statement here needs;
/// - keeps no prepared statement. sqlx 0.9.0 names each one also without a cache, and closes none: the statements that
///   another process left on the server's connection are closed first, or their names would collide.
///
/// No version of PgBouncer has to know prepared statements for that. Source: PgBouncer, "Feature matrix for pooling modes",
/// and its changes of 1.21.0 (2023-10-16), since which it can follow them (`max_prepared_statements`), and 1.22.0
/// (2024-01-31), since which it follows `DEALLOCATE ALL`.
#[derive(Clone, Debug)]
pub(super) struct Pooler {
    begin: Arc<str>,
    /// How long a transaction waits for one of the pooler's connections to the server.
    pub(super) longest_begin: Duration,
}

impl Pooler {
    pub(super) fn new(settings: &[(&str, String)], longest_begin: Duration) -> Self {
        let settings = settings
            .iter()
            .map(|(setting, value)| format!("SET LOCAL {setting} = '{value}'"));
        let statements = ["BEGIN", "DEALLOCATE ALL"].map(str::to_owned);
        let statements: Vec<String> = statements.into_iter().chain(settings).collect();
        Self {
            begin: statements.join("; ").into(),
            longest_begin,
        }
    }

    pub(super) fn options(connect: PgConnectOptions) -> PgConnectOptions {
        connect.extra_float_digits(None).statement_cache_capacity(0)
    }

    pub(super) async fn begin(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let begin = sqlx::raw_sql(AssertSqlSafe(self.begin.clone()));
        connection.execute(begin).await.map(drop)
    }
}
