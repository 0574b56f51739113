//! The check of a whole database, and a backup of it.

use std::path::Path;

use crate::{is_postgres, postgres, sqlite};

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
