//! Storage in SQLite: one file, one writer, every commit synchronised to disk.

/// Runs a transaction with clones of the named values. Nothing is repeated: the file has one writer, which loses no
/// connection.
macro_rules! transaction {
    ($storage:ident, $on_loss:ident, [$($value:ident),*], |$tx:ident| $work:expr) => {{
        $(let $value = $value.clone();)*
        $crate::sqlite::writer::run(&$storage.writer, move |$tx| Box::pin(async move { $work.await })).await
    }};
}

macro_rules! read {
    ($storage:ident, |$reader:ident| $work:expr) => {{
        let read = async {
            let mut connection = $storage.connection().await?;
            let $reader = &mut *connection;
            $work.await
        };
        $storage.checked(read.await)
    }};
}

mod backup;
mod dialect;
mod file;
mod open;
#[cfg(test)]
mod tests;
mod writer;

// The same text for both databases, compiled for each with the names of its `dialect`.
#[path = "queries/attempts.rs"]
mod attempts;
#[path = "queries/deliveries.rs"]
mod deliveries;
#[path = "queries/expiring.rs"]
mod expiring;
#[path = "queries/observe.rs"]
mod observe;
#[path = "queries/operator.rs"]
mod operator;
#[path = "queries/orders.rs"]
mod orders;
#[path = "queries/outbox.rs"]
mod outbox;
#[path = "queries/polls.rs"]
mod polls;

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

pub(crate) use self::backup::{backup, verify};
use self::file::DatabaseFile;
pub(crate) use self::file::network_volume;
pub(crate) use self::open::check_database;
pub(crate) use self::writer::WriteTransaction;
use self::writer::Writer;
use crate::limits::LeaseHolder;
use crate::{Outage, Result, SharedStorage, StorageError, Totals};

/// Storage in one SQLite file.
#[derive(Clone, Debug)]
pub struct SqliteStorage {
    writer: Writer,
    pub(crate) reader: SqlitePool,
    file: Arc<DatabaseFile>,
    holder: LeaseHolder,
}

impl SqliteStorage {
    /// Waits for open transactions and closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
        self.file.release();
    }

    async fn connection(&self) -> Result<PoolConnection<Sqlite>> {
        if let Some(idle) = self.reader.try_acquire() {
            return Ok(idle);
        }
        // The pool would retry to open a connection to a file that is lost, until its wait is over.
        self.file.verify()?;
        self.checked(self.reader.acquire().await.map_err(StorageError::from))
    }

    /// Records damage that a reader met: an order that cannot be read shows that the next one cannot be stored safely.
    fn checked<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && error.outage() == Some(Outage::Damaged)
        {
            self.file.record_damage(error.to_string());
            // Its sentence names the file.
            self.file.verify()?;
        }
        result
    }

    /// A transaction that holds the write lock from its start, so that what it reads stays true until it commits.
    pub(crate) async fn begin(&self) -> Result<WriteTransaction> {
        self.writer.begin().await
    }
}

/// Checks without opening it that the file of a URL can be a database: its folder exists and can be written, and the file
/// is none of another kind.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub(crate) fn check_place(url: &str) -> Result<(), String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    let path = options.get_filename();
    file::check_place(path).and_then(|()| file::check_content(path))
}

#[async_trait]
impl SharedStorage for SqliteStorage {
    /// The lock beside the file refuses a second process.
    fn has_other_writers(&self) -> bool {
        false
    }

    async fn totals(&self) -> Result<Totals> {
        Ok(Totals {
            needing_review: read!(self, |reader| operator::needing_review(reader))?,
            outboxes: read!(self, |reader| operator::outboxes(reader))?,
            commits: self.writer.commits(),
            free_bytes: self.file.free_bytes(),
            wal_bytes: self.file.wal_bytes(),
        })
    }

    async fn check_database(&self) -> Result<()> {
        self.recheck();
        self.file.verify()?;
        match self.writer.failure() {
            Some(failure) if failure.outage().is_some() => Err(StorageError::Shared(failure)),
            _ => Ok(()),
        }
    }

    async fn check_writing(&self, now: Timestamp) -> Result<()> {
        let now = now.as_millisecond();
        let mut tx = self.begin().await?;
        let written = sqlx::query_scalar::<_, i64>(
            "INSERT INTO write_checks (id, written_at) VALUES (1, $1)
             ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at RETURNING written_at",
        )
        .bind(now)
        .fetch_one(&mut *tx)
        .await;
        let written = self.checked(written.map_err(StorageError::from))?;
        // Others would fail it with a reason that they alone know.
        self.writer.commit_at_once(tx).await?;
        if written == now {
            return Ok(());
        }
        Err(StorageError::Corrupt(format!("{written} instead of {now}")))
    }
}
