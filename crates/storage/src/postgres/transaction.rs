//! Transactions: each in a separate task, repeated after a conflict or a lost connection.
//!
//! A caller that gives up cancels nothing: sqlx 0.9.0 leaves the connection of a cancelled `begin` in an open transaction
//! (launchbadge/sqlx#4385), and a browser that leaves cancels its request. A connection whose transaction did not end in
//! order is closed, so that the server ends the transaction.
//!
//! ```text
//! Idle ─BEGIN→ Open ─COMMIT, ROLLBACK→ Idle (back to the pool)
//!                Open ─failure, time limit→ closed
//! ```

use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, Postgres};
use sqlx::{Executor as _, PgConnection};

use super::PostgresStorage;
use super::dead_connections::{ANSWER, close_idle, close_silent, no_response};
use crate::{Failure, StorageError};

/// Tries of a transaction that conflicts with another one, or whose connection was lost: for about 5 seconds.
pub(super) const TRIES: u32 = 25;
const PAUSE: Duration = Duration::from_millis(200);

pub(super) type Work<'t, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 't>>;

/// Whether a transaction is repeated when its connection was lost, perhaps after its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnLoss {
    /// A repetition finds what the first try did, and returns the same.
    Repeat,
    /// A lease that was perhaps given to this process ends by itself.
    Fail,
}

pub(super) struct Transaction {
    connection: Option<PoolConnection<Postgres>>,
    is_repeat: bool,
}

impl Transaction {
    async fn begin(storage: &PostgresStorage, is_repeat: bool) -> Result<Self, sqlx::Error> {
        let (pool, pooler) = (&storage.writer, &storage.pooler);
        let connection = pool.acquire().await?;
        let mut transaction = Self {
            connection: Some(connection),
            is_repeat,
        };
        let longest = pooler.as_ref().map_or(ANSWER, |it| it.longest_begin);
        let begun = async {
            match pooler {
                Some(pooler) => pooler.begin(&mut transaction).await,
                None => (*transaction)
                    .execute(sqlx::raw_sql("BEGIN"))
                    .await
                    .map(drop),
            }
        };
        let Ok(begun) = tokio::time::timeout(longest, begun).await else {
            // The others may have died at the same time.
            close_silent(pool).await;
            let silent = std::io::ErrorKind::TimedOut;
            return Err(sqlx::Error::Io(silent.into()));
        };
        begun?;
        Ok(transaction)
    }

    /// Returns `true` if an earlier try may have been committed.
    pub(super) fn is_repeat(&self) -> bool {
        self.is_repeat
    }

    async fn end(mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        (*self).execute(sqlx::raw_sql(statement)).await?;
        drop(self.connection.take());
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Out of the pool, and closed at once.
            drop(connection.detach());
        }
    }
}

impl Deref for Transaction {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        let connection = self.connection.as_ref();
        connection.expect("an open transaction has its connection")
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut PgConnection {
        let connection = self.connection.as_mut();
        connection.expect("an open transaction has its connection")
    }
}

pub(super) async fn run<T, E, F>(storage: PostgresStorage, on_loss: OnLoss, work: F) -> Result<T, E>
where
    T: Send + 'static,
    E: Failure,
    F: for<'t> Fn(&'t mut Transaction) -> Work<'t, T, E> + Send + Sync + 'static,
{
    let done = tokio::spawn(async move { repeat(&storage, on_loss, work).await });
    let lost = |_| E::from(StorageError::Database(sqlx::Error::PoolClosed));
    done.await.map_err(lost)?
}

async fn repeat<T, E, F>(storage: &PostgresStorage, on_loss: OnLoss, work: F) -> Result<T, E>
where
    E: Failure,
    F: for<'t> Fn(&'t mut Transaction) -> Work<'t, T, E>,
{
    let mut pauses = tokio::time::interval(PAUSE);
    let mut is_repeat = false;
    let mut tries = 0;
    loop {
        let done = once(storage, is_repeat, &work);
        let outcome = tokio::time::timeout(storage.patience.transaction, done);
        let error = match outcome.await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error,
            Err(_) => {
                return Err(E::from(no_response()));
            }
        };
        tries += 1;
        let kind = error.storage_error().map_or(Kind::Other, kind);
        match kind {
            _ if tries == TRIES => return Err(storage.timeouts.counted_write(error)),
            // At once: the other transaction has ended.
            Kind::Conflict => {}
            // The transaction did nothing, and its connection was closed.
            Kind::OldSchema => close_idle(&storage.writer),
            Kind::Lost if on_loss == OnLoss::Repeat => {
                is_repeat = true;
                pauses.tick().await;
            }
            Kind::Lost | Kind::Other => return Err(storage.timeouts.counted_write(error)),
        }
    }
}

async fn once<T, E, F>(storage: &PostgresStorage, is_repeat: bool, work: &F) -> Result<T, E>
where
    E: Failure,
    F: for<'t> Fn(&'t mut Transaction) -> Work<'t, T, E>,
{
    let begun = Transaction::begin(storage, is_repeat).await;
    let mut transaction = begun.map_err(StorageError::from)?;
    match work(&mut transaction).await {
        Ok(done) => {
            let ended = transaction.end("COMMIT").await;
            ended.map_err(StorageError::from)?;
            Ok(done)
        }
        Err(error) if error.storage_error().is_some_and(is_of_old_schema) => {
            drop(transaction);
            Err(error)
        }
        Err(error) => {
            // A failure closes the connection. The error of the statement is the one of interest.
            let _ = transaction.end("ROLLBACK").await;
            Err(error)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Another transaction was first: the same transaction may succeed now.
    Conflict,
    /// The schema was changed after a statement was prepared: the connection prepares it no other time.
    OldSchema,
    /// The connection was lost: whether the transaction was committed is unknown.
    Lost,
    Other,
}

impl StorageError {
    /// This error with the server's name for an unreachable server.
    pub(super) fn for_postgres(self) -> Self {
        match (kind(&self), self) {
            (Kind::Lost, Self::Database(error))
            | (_, Self::Database(error @ sqlx::Error::PoolTimedOut)) => {
                Self::Unreachable(error.to_string())
            }
            (_, error) => error,
        }
    }
}

/// Returns `true` if a statement was prepared before a column was added to its table.
pub(super) fn is_of_old_schema(error: &StorageError) -> bool {
    kind(error) == Kind::OldSchema
}

/// Source: PostgreSQL, src/backend/utils/cache/plancache.c: "cached plan must not change result type" has the code of every
/// feature that is not supported, and names its routine.
fn is_of_cached_plan(error: Option<&PgDatabaseError>) -> bool {
    error.and_then(PgDatabaseError::routine) == Some("RevalidateCachedQuery")
}

/// Source: PostgreSQL, "Error Codes": 40001 `serialization_failure`, 40P01 `deadlock_detected`, class 08 connection
/// exceptions, 57P01 to 57P03 a server that ends or starts.
pub(super) fn kind(error: &StorageError) -> Kind {
    let StorageError::Database(error) = error else {
        return Kind::Other;
    };
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) => Kind::Lost,
        sqlx::Error::Database(error) => {
            let error = error.try_downcast_ref::<PgDatabaseError>();
            match error.map(PgDatabaseError::code) {
                Some("40001" | "40P01") => Kind::Conflict,
                Some("0A000") if is_of_cached_plan(error) => Kind::OldSchema,
                Some("57P01" | "57P02" | "57P03") => Kind::Lost,
                Some(code) if code.starts_with("08") => Kind::Lost,
                _ => Kind::Other,
            }
        }
        _ => Kind::Other,
    }
}
