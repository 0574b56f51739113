//! Detection of dead connections: a firewall dropped their state, or the server's machine lost its power.
//!
//! sqlx 0.9.0 sets no keepalive of TCP, and waits without a limit for the response to the ping of a connection that it takes
//! back (transact-rs/sqlx#4349): each silent connection would occupy its place in the pool until the kernel closes it, after
//! a quarter of an hour. So each statement has a time limit here, a connection in use is closed instead of given back
//! when its response is missing, and the first silent connection is the reason to try all idle ones.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgPool, Postgres};
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::task::JoinSet;

use super::options::{Patience, Pooler};
use crate::{Result, StorageError};

/// A living server begins a transaction by then.
pub(super) const ANSWER: Duration = Duration::from_secs(2);
/// A living server answers a ping by then.
const PING: Duration = Duration::from_secs(1);

/// A connection that reads. It is closed unless its response came: also when the caller gives up.
pub(super) struct Reading {
    connection: Option<PoolConnection<Postgres>>,
    is_in_transaction: bool,
}

impl Reading {
    /// Takes a connection. A silent one is not taken: the others are tried, and a new one is opened.
    pub(super) async fn begin(pool: &PgPool, pooler: Option<&Pooler>) -> Result<Self> {
        match pooler {
            None => Self::begin_direct(pool).await,
            Some(pooler) => Self::begin_pooled(pool, pooler).await,
        }
    }

    /// A ping would wait for a connection of the pooler like a transaction, so the transaction itself is the test.
    async fn begin_pooled(pool: &PgPool, pooler: &Pooler) -> Result<Self> {
        let mut is_first = true;
        loop {
            let mut reading = Self {
                connection: Some(pool.acquire().await?),
                is_in_transaction: true,
            };
            let begun = pooler.begin(reading.connection());
            match tokio::time::timeout(pooler.longest_begin, begun).await {
                Ok(Ok(())) => return Ok(reading),
                Ok(Err(_)) if is_first => {
                    // The others were lost at the same time.
                    drop(reading);
                    close_idle(pool);
                    is_first = false;
                }
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => return Err(no_response()),
            }
        }
    }

    async fn begin_direct(pool: &PgPool) -> Result<Self> {
        let taken = tokio::time::timeout(PING, pool.acquire()).await;
        let taken = if let Ok(taken) = taken {
            taken
        } else {
            close_silent(pool).await;
            pool.acquire().await
        };
        Ok(Self::of(taken?))
    }

    fn of(connection: PoolConnection<Postgres>) -> Self {
        Self {
            connection: Some(connection),
            is_in_transaction: false,
        }
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        let connection = self.connection.as_mut();
        connection.expect("a connection that reads is open")
    }

    pub(super) async fn end(mut self) {
        if self.is_in_transaction {
            let ended = self.connection().execute(sqlx::raw_sql("COMMIT"));
            if !matches!(tokio::time::timeout(PING, ended).await, Ok(Ok(_))) {
                return;
            }
        }
        drop(self.connection.take());
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Out of the pool, and closed at once.
            drop(connection.detach());
        }
    }
}

pub(super) async fn in_time<T>(
    patience: Patience,
    read: impl Future<Output = Result<T>>,
) -> Result<T> {
    let read = tokio::time::timeout(patience.read, read).await;
    read.unwrap_or_else(|_| Err(no_response()))
}

pub(super) fn no_response() -> StorageError {
    StorageError::Unreachable("no response in time".to_owned())
}

/// Tries all idle connections at the same time and closes those without a response.
pub(super) async fn close_silent(pool: &PgPool) {
    let mut idle = JoinSet::new();
    while let Some(connection) = pool.try_acquire() {
        let mut reading = Reading::of(connection);
        idle.spawn(async move {
            let answered = tokio::time::timeout(PING, reading.connection().ping()).await;
            if matches!(answered, Ok(Ok(()))) {
                reading.end().await;
            }
        });
    }
    idle.join_all().await;
}

/// Closes all idle connections: their prepared statements are of an older schema.
pub(super) fn close_idle(pool: &PgPool) {
    while let Some(connection) = pool.try_acquire() {
        drop(connection.detach());
    }
}
