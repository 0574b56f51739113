//! Detection of dead connections: a firewall dropped their state, or the server's machine lost its power.
//!
//! sqlx 0.9.0 sets no keepalive of TCP, and waits without a limit for the response to the ping of a connection that it takes
//! back (transact-rs/sqlx#4349): each silent connection would occupy its place in the pool until the kernel closes it, after
//! a quarter of an hour. So each statement has a time limit here, a connection in use is closed instead of given back
//! when its response is missing, and the first silent connection is the reason to try all idle ones.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgPool, Postgres};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use super::options::Patience;
use crate::StorageError;

/// A living server begins a transaction by then.
pub(super) const ANSWER: Duration = Duration::from_secs(2);
/// A living server answers a ping by then.
const PING: Duration = Duration::from_secs(1);

/// A connection that reads. It is closed unless its response came: also when the caller gives up.
pub(super) struct Reading(Option<PoolConnection<Postgres>>);

impl Reading {
    /// Takes a connection. A silent one is not taken: the others are tried, and a new one is opened.
    pub(super) async fn begin(pool: &PgPool) -> Result<Self, StorageError> {
        let taken = tokio::time::timeout(PING, pool.acquire()).await;
        let taken = if let Ok(taken) = taken {
            taken
        } else {
            close_silent(pool).await;
            pool.acquire().await
        };
        Ok(Self(Some(taken?)))
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("a connection that reads is open")
    }

    /// Gives the connection back.
    pub(super) fn end(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            // Out of the pool, and closed at once.
            drop(connection.detach());
        }
    }
}

/// Waits for what a statement reads.
pub(super) async fn in_time<T>(
    patience: Patience,
    read: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let read = tokio::time::timeout(patience.read, read).await;
    read.unwrap_or_else(|_| Err(no_response()))
}

/// The server did not answer.
pub(super) fn no_response() -> StorageError {
    StorageError::Unreachable("no response in time".to_owned())
}

/// Tries all idle connections at the same time and closes those without a response.
pub(super) async fn close_silent(pool: &PgPool) {
    let mut idle = JoinSet::new();
    while let Some(connection) = pool.try_acquire() {
        let mut reading = Reading(Some(connection));
        idle.spawn(async move {
            let answered = tokio::time::timeout(PING, reading.connection().ping()).await;
            if matches!(answered, Ok(Ok(()))) {
                reading.end();
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
