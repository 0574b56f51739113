//! Opening a database file: the checks of its content, its schema and its environment.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};

use super::file::DatabaseFile;
use super::writer::Writer;
use super::{SqliteStorage, deliveries, polls};
use crate::database::migrator;
use crate::limits::{LeaseClock, LeaseHolder};
use crate::{FileFault, Outage, Result, StorageError};

/// How long a statement waits for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Readers never wait for the writer in WAL mode; four serve two cores.
const READERS: u32 = 4;
/// A reader that gets no connection by then fails: its customer does not wait longer.
const READER_WAIT: Duration = Duration::from_secs(5);
/// A larger file is checked while the proxy serves already: reading it takes seconds.
const CHECKED_AT_START: u64 = 64 * 1024 * 1024;

pub(super) const MIGRATIONS: [(i64, &str, &str); 1] = [(
    1,
    "schema",
    include_str!("../../migrations/sqlite/0001_schema.sql"),
)];

impl SqliteStorage {
    /// Opens or makes the file that `url` names (`sqlite://florin.db`), and brings its schema up to
    /// date. Leases of a previous process end: its polls are due at once. Waits up to 15 seconds for a previous process.
    ///
    /// # Errors
    /// [`StorageError::Open`] when the file cannot be read and written; [`StorageError::InUse`] when another process uses
    /// it; [`StorageError::OtherEnvironment`] when it was made for another environment than `environment` (`test` or
    /// `production`); [`StorageError::Newer`]; [`StorageError::Migrate`]; [`StorageError::File`] when it is damaged.
    pub async fn open(url: &str, environment: &str) -> Result<Self> {
        let failed = |error: sqlx::Error| StorageError::Open {
            url: url.to_owned(),
            reason: error.to_string(),
        };
        let options = SqliteConnectOptions::from_str(url)
            .map_err(failed)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // FULL, not NORMAL: a credit that was answered must survive a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let file = DatabaseFile::claim(url, options.get_filename()).await?;
        let file = Arc::new(file);
        let connection = options.connect().await;
        let mut connection = connection.map_err(|error| opening(&file, error, failed))?;
        let prepared = prepare(url, &file, &mut connection).await;
        let closed = connection.close().await;
        prepared?;
        closed?;
        let named = file.clone();
        let many = SqlitePoolOptions::new()
            .max_connections(READERS)
            // All are opened at the start and stay open: they read the file although its name is lost.
            .min_connections(READERS)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(READER_WAIT)
            // Skip the liveness check: a connection that only reads has no transaction that could stay open.
            .test_before_acquire(false)
            // A connection that is opened later must not read another file of the same name.
            .after_connect(move |_, _| {
                let verified = named.verify();
                Box::pin(async move {
                    verified.map_err(|fault| sqlx::Error::Configuration(fault.into()))
                })
            });
        let storage = Self {
            writer: Writer::new(options.clone(), file.clone()),
            reader: many.connect_lazy_with(options.read_only(true)),
            file,
            // A file belongs to one process.
            holder: LeaseHolder {
                name: "file".into(),
                clock: LeaseClock::Caller,
            },
        };
        storage.identify(url, environment).await?;
        let mut tx = storage.begin().await?;
        // These are the leases of a process that has ended.
        polls::end_leases(&mut tx, &storage.holder.name).await?;
        deliveries::end_leases(&mut tx, &storage.holder.name).await?;
        tx.commit().await?;
        storage.check_later();
        Ok(storage)
    }

    fn check_later(&self) {
        if self.file.length() <= CHECKED_AT_START {
            return;
        }
        let storage = self.clone();
        tokio::spawn(async move {
            if let Ok(mut connection) = storage.connection().await
                && let Err(StorageError::File(FileFault::Damaged { found, .. })) =
                    check(&storage.file, &mut connection).await
            {
                storage.file.record_damage(found);
            }
        });
    }

    /// Checks a file anew that is known to be damaged, while the proxy answers: it may have been repaired.
    pub(super) fn recheck(&self) {
        if !self.file.begin_recheck() {
            return;
        }
        let storage = self.clone();
        tokio::spawn(async move {
            let found = storage.check_anew().await;
            if found.is_none() {
                storage.reconnect().await;
            }
            storage.file.end_recheck(found);
        });
    }

    /// What is wrong with the content now. By a new connection: the others have cached pages.
    async fn check_anew(&self) -> Option<String> {
        let options = self.reader.connect_options();
        let mut connection = match options.connect().await {
            Ok(connection) => connection,
            Err(error) => return Some(error.to_string()),
        };
        let checked = check(&self.file, &mut connection).await;
        let _ = connection.close().await;
        match checked {
            Ok(()) => None,
            Err(StorageError::File(FileFault::Damaged { found, .. })) => Some(found),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Closes the idle connections, whose caches may hold damaged pages.
    async fn reconnect(&self) {
        while let Some(connection) = self.reader.try_acquire() {
            let _ = connection.close().await;
        }
        self.writer.reconnect().await;
    }

    /// Gives a new file its environment. Refuses the file of another one, and one that was copied: what was written here
    /// would be lost.
    async fn identify(&self, url: &str, environment: &str) -> Result<()> {
        let mut tx = self.begin().await?;
        sqlx::query("INSERT INTO identity (id, environment) VALUES (1, $1) ON CONFLICT DO NOTHING")
            .bind(environment)
            .execute(&mut *tx)
            .await?;
        let (found, moved): (String, Option<String>) =
            sqlx::query_as("SELECT environment, moved_to FROM identity WHERE id = 1")
                .fetch_one(&mut *tx)
                .await?;
        tx.commit().await?;
        let url = url.to_owned();
        match moved {
            _ if found != environment => Err(StorageError::OtherEnvironment {
                found,
                wanted: environment.to_owned(),
            }),
            Some(to) => Err(StorageError::Moved { url, to }),
            None => Ok(()),
        }
    }
}

/// Why a connection was not opened. Damage is a separate error.
fn opening(
    file: &DatabaseFile,
    error: sqlx::Error,
    failed: impl Fn(sqlx::Error) -> StorageError,
) -> StorageError {
    let error = StorageError::from(error);
    match (error.outage(), error) {
        (Some(Outage::Damaged), StorageError::Database(error)) => {
            damaged(file, error.to_string()).into()
        }
        (_, StorageError::Database(error)) => failed(error),
        (_, error) => error,
    }
}

fn damaged(file: &DatabaseFile, found: String) -> FileFault {
    FileFault::Damaged {
        path: file.path().display().to_string(),
        found,
    }
}

async fn prepare(url: &str, file: &DatabaseFile, connection: &mut SqliteConnection) -> Result<()> {
    if file.length() <= CHECKED_AT_START {
        check(file, connection).await?;
    }
    if !is_ours(connection).await? {
        return Err(StorageError::Open {
            url: url.to_owned(),
            reason: FOREIGN.to_owned(),
        });
    }
    // `run` takes anything that has a connection, and its future is not `Send` for all of them.
    match migrator(&MIGRATIONS)
        .run_direct(None, connection, false)
        .await
    {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => Err(StorageError::Newer {
            url: url.to_owned(),
            found,
            known: MIGRATIONS[MIGRATIONS.len() - 1].0,
        }),
        Err(error) => Err(error.into()),
    }
}

/// Reads the whole file. Source: sqlite.org, `PRAGMA quick_check`: one row `ok`, or what is wrong.
async fn check(file: &DatabaseFile, connection: &mut SqliteConnection) -> Result<()> {
    let found = sqlx::query_scalar("PRAGMA quick_check(1)");
    let found: Result<String, sqlx::Error> = found.fetch_one(connection).await;
    match found {
        Ok(word) if word == "ok" => Ok(()),
        Ok(found) => Err(damaged(file, found).into()),
        Err(error) => Err(opening(file, error, StorageError::from)),
    }
}

const FOREIGN: &str = "it is the database of another program: write the path of Florin's database, or of a file that does not exist yet";

/// Returns `true` if Florin made the database, or if it is empty.
async fn is_ours(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let (tables, ours): (i64, i64) = sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE name = '_sqlx_migrations') FROM sqlite_schema WHERE type = 'table'",
    )
    .fetch_one(&mut *connection)
    .await?;
    if ours == 0 {
        return Ok(tables == 0);
    }
    let first =
        "SELECT count(*) FROM _sqlx_migrations WHERE version = 1 AND description <> 'schema'";
    let other: i64 = sqlx::query_scalar(first).fetch_one(connection).await?;
    Ok(other == 0)
}

/// Checks without changing anything that an existing database can be served: it is Florin's, of a schema that this version
/// knows, and of this environment. What only its journal holds is not read; the start checks that.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub(crate) async fn check_database(url: &str, environment: &str) -> Result<(), String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    // Immutable: not even a journal is created, which a check by another user would leave behind.
    let options = options
        .create_if_missing(false)
        .read_only(true)
        .immutable(true);
    if std::fs::metadata(options.get_filename()).map_or(0, |file| file.len()) == 0 {
        return Ok(());
    }
    // What else is wrong is reported by the start, which waits for a process that writes at this moment.
    let Ok(mut connection) = options.connect().await else {
        return Ok(());
    };
    let found = refusal(url, environment, &mut connection).await;
    let _ = connection.close().await;
    found.unwrap_or_default().map_or(Ok(()), Err)
}

pub(super) async fn refusal(
    url: &str,
    environment: &str,
    connection: &mut SqliteConnection,
) -> Result<Option<String>, sqlx::Error> {
    if !is_ours(connection).await? {
        return Ok(Some(FOREIGN.to_owned()));
    }
    let known = MIGRATIONS[MIGRATIONS.len() - 1].0;
    let latest: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut *connection)
        .await?;
    if let Some(found) = latest.filter(|found| *found > known) {
        let url = url.to_owned();
        return Ok(Some(StorageError::Newer { url, found, known }.to_string()));
    }
    let found: Option<String> = sqlx::query_scalar("SELECT environment FROM identity WHERE id = 1")
        .fetch_optional(connection)
        .await?;
    Ok(found.filter(|found| found != environment).map(|found| {
        let wanted = environment.to_owned();
        StorageError::OtherEnvironment { found, wanted }.to_string()
    }))
}
