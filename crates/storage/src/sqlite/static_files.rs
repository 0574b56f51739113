//! The files of the checkout, of this version and of those before it.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use sqlx::{Row as _, SqliteConnection};

use crate::rows::Time;
use crate::{Result, StaticFile, StorageError};

/// How long files are kept after their version was last in use. `postgres/shared.rs` has the same time in its statement.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A file that was kept this recently is not written again.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The names of the files that were kept recently.
pub(super) async fn recent(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<HashSet<String>> {
    let names = sqlx::query_scalar("SELECT name FROM static_files WHERE used_at > $1")
        .bind(Time(now - RECENT))
        .fetch_all(connection)
        .await?;
    Ok(names.into_iter().collect())
}

/// Keeps files of a version, and deletes those that no process has kept for [`KEPT`].
pub(super) async fn keep(
    tx: &mut SqliteConnection,
    files: &[StaticFile],
    now: Timestamp,
) -> Result<()> {
    for file in files {
        sqlx::query(
            "INSERT INTO static_files (name, used_at, whole, brotli) VALUES ($1, $2, $3, $4)
             ON CONFLICT (name) DO UPDATE SET used_at = excluded.used_at",
        )
        .bind(&file.name)
        .bind(Time(now))
        .bind(&file.whole)
        .bind(&file.brotli)
        .execute(&mut *tx)
        .await?;
    }
    sqlx::query("DELETE FROM static_files WHERE used_at < $1")
        .bind(Time(now - KEPT))
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn find(
    connection: &mut SqliteConnection,
    name: &str,
) -> Result<Option<StaticFile>> {
    let found = sqlx::query("SELECT name, whole, brotli FROM static_files WHERE name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    let file = found.map(|row| {
        Ok::<_, StorageError>(StaticFile {
            name: row.try_get("name")?,
            whole: row.try_get("whole")?,
            brotli: row.try_get("brotli")?,
        })
    });
    file.transpose()
}
