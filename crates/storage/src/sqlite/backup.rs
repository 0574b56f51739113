//! A copy of the file, and its check. A proxy may serve the file meanwhile.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::file::{PRIVATE, check_content};
use super::open::refusal;
use crate::database::{Verified, count};

/// Copies the database that `url` names into a new file, by one statement that sees one state, and checks the copy. The
/// proxy may serve the file meanwhile: readers do not block its writer.
///
/// # Errors
/// The reason and the remedy, as a sentence. A copy that is not sound is removed.
pub(crate) async fn backup(url: &str, environment: &str, to: &Path) -> Result<Verified, String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    let from = options.get_filename().to_path_buf();
    if !from.exists() {
        return Err(format!("there is no database {}", from.display()));
    }
    if to.exists() {
        return Err(format!(
            "{} exists already, and a backup overwrites nothing: name another file",
            to.display()
        ));
    }
    // Beside its place, so that a file of this name is always whole.
    let part = PathBuf::from(format!("{}.part", to.display()));
    let failed = |reason: String| format!("{}: {reason}", part.display());
    let created = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(PRIVATE)
        .open(&part);
    created.map_err(|error| failed(error.to_string()))?;
    let copied = copy(&options.create_if_missing(false), &part).await;
    let checked = match copied {
        // No journal belongs to it, and none is made.
        Ok(()) => verify_file(&part, environment, true).await,
        Err(error) => Err(error.to_string()),
    };
    let placed = checked.and_then(|verified| {
        if let Some(defect) = verified.defects.first() {
            return Err(format!("the database is damaged: {defect}"));
        }
        let synced = std::fs::File::open(&part).and_then(|file| file.sync_all());
        let placed = synced.and_then(|()| std::fs::hard_link(&part, to));
        placed.map_err(|error| error.to_string())?;
        Ok(verified)
    });
    let removed = std::fs::remove_file(&part);
    let verified = placed.map_err(failed)?;
    removed.map_err(|error| failed(error.to_string()))?;
    Ok(verified)
}

/// Source: sqlite.org, "VACUUM INTO": the target must not exist, or be empty.
async fn copy(options: &SqliteConnectOptions, to: &Path) -> sqlx::Result<()> {
    let mut connection = options.connect().await?;
    let copied = sqlx::query("VACUUM INTO ?")
        .bind(to.display().to_string())
        .execute(&mut connection)
        .await;
    connection.close().await?;
    copied?;
    // The umask of SQLite is that of the process.
    std::fs::set_permissions(to, Permissions::from_mode(PRIVATE)).map_err(sqlx::Error::Io)
}

/// Checks a file, which a proxy may serve meanwhile.
///
/// # Errors
/// What is wrong, as a sentence.
pub(crate) async fn verify(url: &str, environment: &str) -> Result<Verified, String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    verify_file(options.get_filename(), environment, false).await
}

async fn verify_file(path: &Path, environment: &str, is_new: bool) -> Result<Verified, String> {
    if !path.exists() {
        return Err(format!("there is no database {}", path.display()));
    }
    check_content(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(true)
        .immutable(is_new);
    let failed = |error: sqlx::Error| format!("{} cannot be read: {error}", path.display());
    let mut connection = options.connect().await.map_err(failed)?;
    let url = format!("sqlite://{}", path.display());
    let refused = refusal(&url, environment, &mut connection).await;
    if let Some(refused) = refused.map_err(failed)? {
        return Err(refused);
    }
    let mut verified = Verified::default();
    for check in ["PRAGMA integrity_check(20)", "PRAGMA foreign_key_check"] {
        let found = defects(&mut connection, check).await.map_err(failed)?;
        verified.defects.extend(found);
    }
    for table in Verified::TABLES {
        let rows = sqlx::query_scalar(count(table)).fetch_one(&mut connection);
        verified.rows.push((table, rows.await.map_err(failed)?));
    }
    let _ = connection.close().await;
    Ok(verified)
}

/// Source: sqlite.org, `PRAGMA integrity_check`: one row `ok`; `foreign_key_check` has a row for each defect, whose first
/// column is the table.
async fn defects(
    connection: &mut SqliteConnection,
    check: &'static str,
) -> sqlx::Result<Vec<String>> {
    let found: Vec<String> = sqlx::query_scalar(check).fetch_all(connection).await?;
    let is_defect = |found: &String| found != "ok";
    let named = |found: String| {
        if check.contains("foreign_key") {
            format!("a row of {found} points to no row")
        } else {
            found
        }
    };
    Ok(found.into_iter().filter(is_defect).map(named).collect())
}
