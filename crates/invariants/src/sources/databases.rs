//! The proxy's database, read without the proxy.

use std::fs;

use anyhow::Context as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::evidence::{Database, StoredFile};

/// Returns `true` for the address of a server.
pub(super) fn is_address(database: &str) -> bool {
    database.starts_with("postgres://") || database.starts_with("postgresql://")
}

/// Reads the tables of a database: the path of a file, or the address of one on a server.
///
/// # Errors
/// It cannot be read, or is not the proxy's.
pub async fn read_tables(database: &str) -> anyhow::Result<Database> {
    if is_address(database) {
        let mut db = connect(database).await?;
        let tables = Database::read_postgres(&mut db).await?;
        let _ = db.close().await;
        return Ok(tables);
    }
    let mut db = open(database).await?;
    let tables = Database::read(&mut db).await?;
    // An open reader would block the checkpoint of the journal.
    db.close().await?;
    Ok(tables)
}

/// [`read_tables`] with what is wrong with the database, and all that is stored: the bytes of a file and its journals, or the
/// text of each table of a server.
pub(super) async fn read_whole(database: &str) -> anyhow::Result<(Database, Vec<StoredFile>)> {
    if is_address(database) {
        let mut db = connect(database).await?;
        let mut tables = Database::read_postgres(&mut db).await?;
        tables.find_damage_postgres(&mut db).await?;
        let texts = texts(&mut db).await?;
        let _ = db.close().await;
        return Ok((tables, texts));
    }
    let mut db = open(database).await?;
    let mut tables = Database::read(&mut db).await?;
    tables.find_damage(&mut db).await?;
    db.close().await?;
    let names = ["", "-wal", "-shm"].map(|suffix| format!("{database}{suffix}"));
    // A journal is removed when the database is closed: its content is in the file then.
    let files = names.into_iter().filter_map(|name| {
        let bytes = fs::read(&name).ok()?;
        Some(StoredFile { name, bytes })
    });
    Ok((tables, files.collect()))
}

async fn open(file: &str) -> anyhow::Result<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let db = options.connect().await;
    db.with_context(|| format!("{file} cannot be opened"))
}

/// One snapshot of the server's database.
async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    let options: PgConnectOptions = url.parse().context("--database is no address")?;
    // An error of sqlx names no password.
    let connection = options.application_name("florin-auditor").connect().await;
    let mut db = connection.context("the database server cannot be reached")?;
    let begin = sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    begin.execute(&mut db).await?;
    Ok(db)
}

/// Every row as text, but for the widget's files, which are public and millions of digits long. The server's files also hold
/// what was overwritten; no statement returns that.
async fn texts(db: &mut PgConnection) -> anyhow::Result<Vec<StoredFile>> {
    let tables = "SELECT format('%I', tablename) FROM pg_tables
         WHERE schemaname = current_schema() AND tablename <> 'static_files' ORDER BY 1";
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
