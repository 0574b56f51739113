//! The proxy's database, read without the proxy.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::evidence::{Database, StoredFile};

/// Returns `true` for the address of a server.
pub(super) fn is_address(database: &str) -> bool {
    database.starts_with("postgres://") || database.starts_with("postgresql://")
}

/// Reads the tables of a file and what SQLite finds wrong with it, and the bytes of the file and its journals.
///
/// # Errors
/// The file is no database of the proxy.
pub(super) async fn read_file(path: &Path) -> anyhow::Result<(Database, Vec<StoredFile>)> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let db = options.connect().await;
    let mut db = db.with_context(|| format!("{} cannot be opened", path.display()))?;
    let mut database = Database::read(&mut db).await?;
    database.find_damage(&mut db).await?;
    db.close().await?;
    let names = ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", path.display()));
    // A journal is removed when the database is closed: its content is in the file then.
    let files = names.into_iter().filter_map(|name| {
        let bytes = fs::read(&name).ok()?;
        Some(StoredFile { name, bytes })
    });
    Ok((database, files.collect()))
}

/// Reads the tables of a server in one snapshot, what is wrong with them, and the text of each.
///
/// # Errors
/// The server cannot be reached, or the database is not the proxy's.
pub(super) async fn read_server(url: &str) -> anyhow::Result<(Database, Vec<StoredFile>)> {
    let options: PgConnectOptions = url.parse().context("--database is no address")?;
    // An error of sqlx names no password.
    let connection = options.application_name("florin-auditor").connect().await;
    let mut db = connection.context("the database server cannot be reached")?;
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .execute(&mut db)
        .await?;
    let mut database = Database::read_postgres(&mut db).await?;
    database.find_damage_postgres(&mut db).await?;
    let texts = texts(&mut db).await?;
    let _ = db.close().await;
    Ok((database, texts))
}

/// Every row as text, but for the widget's files, which are public and millions of digits long. The server's files also hold
/// what was overwritten; no statement returns that.
async fn texts(db: &mut PgConnection) -> anyhow::Result<Vec<StoredFile>> {
    let tables = "SELECT format('%I', tablename) FROM pg_tables
         WHERE schemaname = current_schema() AND tablename <> 'assets' ORDER BY 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut *db).await?;
    let mut texts = Vec::new();
    for table in tables {
        let rows = AssertSqlSafe(format!("SELECT of_table::text FROM {table} AS of_table"));
        let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut *db).await?;
        texts.push(StoredFile {
            name: format!("the table {table}"),
            bytes: rows.join("\n").into_bytes(),
        });
    }
    Ok(texts)
}
