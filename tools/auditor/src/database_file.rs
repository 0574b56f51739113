//! The proxy's database file, read without the proxy.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use florin_invariants::{Database, StoredFile};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

/// Reads the tables, and what SQLite finds wrong with the file.
///
/// # Errors
/// The file is no database of the proxy.
pub(crate) async fn read(path: &Path) -> anyhow::Result<Database> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut db = options
        .connect()
        .await
        .with_context(|| format!("{} cannot be opened", path.display()))?;
    let mut database = Database::read(&mut db).await?;
    database.find_damage(&mut db).await?;
    Ok(database)
}

/// Reads the bytes of the file and of its journals.
pub(crate) fn bytes(path: &Path) -> Vec<StoredFile> {
    let names = ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", path.display()));
    names
        .into_iter()
        // A journal is removed when the database is closed: its content is in the file then.
        .filter_map(|name| {
            let bytes = fs::read(PathBuf::from(&name)).ok()?;
            Some(StoredFile { name, bytes })
        })
        .collect()
}
