//! The database that a URL names: opened, checked and copied.

use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnectOptions;

use crate::{
    LeaseClock, PostgresOptions, PostgresStorage, Result, SqliteStorage, Storage, postgres, sqlite,
};

#[derive(Clone, Debug)]
pub enum Database {
    /// One file of one process.
    Sqlite(SqliteStorage),
    /// A server that any number of processes share.
    Postgres(PostgresStorage),
}

impl Database {
    /// Opens the database that `url` names: `sqlite://…` or `postgres://…`.
    ///
    /// # Errors
    /// Those of [`SqliteStorage::open`] and [`PostgresStorage::open`].
    pub async fn open(url: &str, environment: &str) -> Result<Self> {
        Self::open_limited(url, None, environment, &PostgresOptions::DEFAULT).await
    }

    /// The same, with other limits of the connections to a server, and a direct address beside that of a pooler in
    /// transaction mode.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub async fn open_limited(
        url: &str,
        direct_url: Option<&str>,
        environment: &str,
        limits: &PostgresOptions,
    ) -> Result<Self> {
        if is_postgres(url) {
            let clock = LeaseClock::Server;
            let opened = PostgresStorage::open_limited(url, direct_url, environment, clock, limits);
            Ok(Self::Postgres(opened.await?))
        } else {
            Ok(Self::Sqlite(SqliteStorage::open(url, environment).await?))
        }
    }

    pub fn storage(&self) -> Arc<dyn Storage> {
        match self {
            Self::Sqlite(storage) => Arc::new(storage.clone()),
            Self::Postgres(storage) => Arc::new(storage.clone()),
        }
    }

    pub async fn close(&self) {
        match self {
            Self::Sqlite(storage) => storage.close().await,
            Self::Postgres(storage) => storage.close().await,
        }
    }
}

/// Returns `true` if a URL names a PostgreSQL database.
pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// Checks without opening it that a URL can name a database. Of a file: its folder exists and can be written, and the file
/// is none of another kind.
///
/// # Errors
/// The reason and the remedy, as a sentence, without a password.
pub fn check_place(url: &str) -> Result<(), String> {
    if !is_postgres(url) {
        return sqlite::check_place(url);
    }
    let form = "write postgres://user:password@host/database";
    let options = PgConnectOptions::from_str(url).map_err(|_| format!("is no address: {form}"))?;
    match options.get_database() {
        Some(name) if !name.is_empty() => Ok(()),
        _ => Err(format!("names no database: {form}")),
    }
}

/// The network file system that holds a file of SQLite, if one does: `NFS`, `SMB` … SQLite's locks and its write-ahead log do
/// not work there. Source: <https://sqlite.org/wal.html>, "All processes using a database must be on the same host computer;
/// WAL does not work over a network filesystem" (2025).
pub fn network_volume(url: &str) -> Option<&'static str> {
    if is_postgres(url) {
        return None;
    }
    sqlite::network_volume(url)
}

/// Checks without changing it that a file is a database of this version and environment. A server is not asked.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub async fn check_database(url: &str, environment: &str) -> Result<(), String> {
    if is_postgres(url) {
        return Ok(());
    }
    sqlite::check_database(url, environment).await
}

/// Copies a file of SQLite, which a proxy may serve meanwhile, into a new file, and checks the copy.
///
/// # Errors
/// The reason and the remedy, as a sentence. A PostgreSQL database is copied by the server's programs.
pub async fn backup(url: &str, environment: &str, to: &Path) -> Result<Verified, String> {
    if is_postgres(url) {
        return Err("PostgreSQL has its own programs for a backup: pg_basebackup with an archive of the log, or pg_dump. \
            Restore it into another database and check that with `florin-proxy store verify`: \
            docs/operations/postgresql.md"
            .to_owned());
    }
    sqlite::backup(url, environment, to).await
}

/// Reads a whole database and checks it: that each row points to
/// rows that exist; of a file also its structure, of a server what its rows promise each other.
///
/// # Errors
/// It cannot be read, belongs to another program or environment, or is of another version.
pub async fn verify(url: &str, environment: &str) -> Result<Verified, String> {
    if is_postgres(url) {
        postgres::verify(url, environment).await
    } else {
        sqlite::verify(url, environment).await
    }
}

/// What a check of a whole database found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of rows of each of [`Self::TABLES`].
    pub rows: Vec<(&'static str, i64)>,
    /// What is wrong, a sentence each.
    pub defects: Vec<String>,
}

impl Verified {
    pub(crate) const TABLES: [&'static str; 6] = [
        "orders",
        "attempts",
        "observations",
        "credits",
        "events",
        "deliveries",
    ];
}

pub(crate) fn count(table: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"))
}

pub(crate) fn migrator(migrations: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = migrations.iter().map(|(version, name, sql)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql, false)
    });
    Migrator {
        migrations: migrations.collect(),
        ..Migrator::DEFAULT
    }
}
