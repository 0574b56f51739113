//! `florin-proxy store copy`: a file of SQLite becomes a database of PostgreSQL.
//!
//! Both sides are one transaction; the target's is committed first, with the copy's id. A crash before the file is marked
//! leaves both: the same command then finds the id, and only marks the file. Each table is written as the lines of `COPY`, in the order of its key, and read back: the
//! number of rows and the SHA-256 of the lines must be the same on both sides. Only a row at a time is in memory.

use std::collections::HashSet;
use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgCopyIn, PgTransaction};
use sqlx::{AssertSqlSafe, PgConnection, Row as _, SqliteConnection};

use crate::sqlite::WriteTransaction;
use crate::{PostgresStorage, Result, SqliteStorage, StorageError};

const PIECE: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    pub table: String,
    pub rows: u64,
    /// SHA-256 of its lines, in hexadecimal; the same on both sides.
    pub sha256: String,
}

/// How far a copy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyStep {
    /// The table that is read.
    pub table: String,
    /// Its place among all tables, from 1.
    pub number: usize,
    pub count: usize,
    /// Its rows that were read so far.
    pub rows: u64,
}

/// Takes the steps of a copy: one for each table, and one for each part of it that is copied.
pub type OnCopyStep<'a> = &'a (dyn Fn(CopyStep) + Send + Sync);

/// Why a database was not copied. The target is as before, and the source can be opened, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the target has orders already: copy into a new database")]
    NotEmpty,
    #[error("table {0} differs from the source after it was copied; nothing was kept")]
    Differs(String),
    /// The target holds the whole copy, and the source can still be opened.
    #[error(
        "everything was copied, and the file could not be marked as copied: run the same command again before any proxy starts ({0})"
    )]
    NotMarked(StorageError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<sqlx::Error> for CopyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// Copies a file into an empty, migrated PostgreSQL database of the same environment. The file is not opened by a proxy
/// again. A target that already has the copy of this very content, because a copy was interrupted, is left as it is.
///
/// # Errors
/// [`CopyError::NotEmpty`]; [`CopyError::NotMarked`]; [`CopyError::Differs`]; [`CopyError::Storage`] with the failures of both `open`.
pub async fn copy(
    from: &str,
    to: &str,
    environment: &str,
    on_step: OnCopyStep<'_>,
) -> Result<Vec<CopiedTable>, CopyError> {
    let source = SqliteStorage::open(from, environment).await?;
    let target = PostgresStorage::open(to, environment).await?;
    let copied = copy_tables(&source, &target, &crate::postgres::shown(to), on_step).await;
    source.close().await;
    target.close().await;
    copied
}

async fn copy_tables(
    source: &SqliteStorage,
    target: &PostgresStorage,
    place: &str,
    on_step: OnCopyStep<'_>,
) -> Result<Vec<CopiedTable>, CopyError> {
    let mut from = source.begin().await?;
    let mut to = target.writer.begin().await?;
    for setting in [
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL timezone = 'UTC'",
        "SET LOCAL datestyle = 'ISO'",
        "SET CONSTRAINTS ALL DEFERRED",
        "LOCK TABLE orders IN EXCLUSIVE MODE",
    ] {
        sqlx::query(setting).execute(&mut *to).await?;
    }
    let has_orders: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM orders)")
        .fetch_one(&mut *to)
        .await?;
    let tables = tables(&mut from, &mut to).await?;
    let count = tables.len();
    let mut copied = Vec::new();
    for (table, number) in tables.iter().zip(1..) {
        let on_rows = |rows| {
            on_step(CopyStep {
                table: table.name.clone(),
                number,
                count,
                rows,
            });
        };
        if has_orders {
            copied.push(lines(table, &mut from, None, &on_rows).await?);
            continue;
        }
        let sent = send(table, &mut from, &mut to, &on_rows).await?;
        if read_back(table, &mut to).await? != sent {
            return Err(CopyError::Differs(table.name.clone()));
        }
        copied.push(sent);
    }
    if has_orders {
        if !is_copied(&copied, &mut to).await? {
            return Err(CopyError::NotEmpty);
        }
        mark(from, place).await?;
        return Ok(copied);
    }
    for table in &tables {
        for column in table.columns.iter().filter(|column| column.is_numbered) {
            let (table, column) = (&table.name, &column.name);
            let next = format!(
                "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 0) + 1, false) FROM {table}"
            );
            sqlx::query(AssertSqlSafe(next)).execute(&mut *to).await?;
        }
    }
    sqlx::query("INSERT INTO file_copies (id) VALUES ($1)")
        .bind(id(&copied))
        .execute(&mut *to)
        .await?;
    to.commit().await?;
    mark(from, place).await?;
    Ok(copied)
}

/// The name of a content: a file that has changed since has another one.
fn id(copied: &[CopiedTable]) -> String {
    let mut digest = Sha256::new();
    for table in copied {
        digest.update(format!("{} {}\n", table.table, table.sha256));
    }
    hex::encode(digest.finalize())
}

async fn is_copied(copied: &[CopiedTable], to: &mut PgTransaction<'_>) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM file_copies WHERE id = $1)")
        .bind(id(copied))
        .fetch_one(&mut **to)
        .await
}

async fn mark(mut from: WriteTransaction, place: &str) -> Result<(), CopyError> {
    let marked = async {
        sqlx::query("UPDATE identity SET moved_to = ?")
            .bind(place)
            .execute(&mut *from)
            .await?;
        from.commit().await
    };
    marked.await.map_err(CopyError::NotMarked)
}

type OnRows<'a> = &'a (dyn Fn(u64) + Send + Sync);

#[derive(Default)]
struct Lines {
    rows: u64,
    digest: Sha256,
}

impl Lines {
    fn add(&mut self, lines: &[u8]) {
        // A line end within a value is escaped.
        let ends = lines.split(|byte| *byte == b'\n').count() - 1;
        self.rows += ends as u64;
        self.digest.update(lines);
    }

    fn of(self, table: &Table) -> CopiedTable {
        CopiedTable {
            table: table.name.clone(),
            rows: self.rows,
            sha256: hex::encode(self.digest.finalize()),
        }
    }
}

async fn send(
    table: &Table,
    from: &mut SqliteConnection,
    to: &mut PgTransaction<'_>,
    on_rows: OnRows<'_>,
) -> Result<CopiedTable, CopyError> {
    let into = format!("COPY {} ({}) FROM STDIN", table.name, table.columns());
    let mut into = to.copy_in_raw(&into).await?;
    let sent = lines(table, from, Some(&mut into), on_rows).await?;
    into.finish().await?;
    Ok(sent)
}

async fn lines(
    table: &Table,
    from: &mut SqliteConnection,
    mut into: Option<&mut PgCopyIn<&mut PgConnection>>,
    on_rows: OnRows<'_>,
) -> Result<CopiedTable, CopyError> {
    let mut lines = Lines::default();
    on_rows(0);
    let mut piece = String::new();
    let select = sqlx::query(AssertSqlSafe(table.select_from_file()));
    let mut rows = select.fetch(from);
    while let Some(row) = rows.try_next().await? {
        for (index, column) in table.columns.iter().enumerate() {
            if index > 0 {
                piece.push('\t');
            }
            match row.try_get::<Option<String>, _>(index)? {
                None => piece.push_str("\\N"),
                Some(value) => write_value(&mut piece, &column.kind, &value)?,
            }
        }
        piece.push('\n');
        if piece.len() >= PIECE {
            lines.add(piece.as_bytes());
            if let Some(into) = &mut into {
                into.send(piece.as_bytes()).await?;
            }
            piece.clear();
            on_rows(lines.rows);
        }
    }
    lines.add(piece.as_bytes());
    if let Some(into) = into {
        into.send(piece.as_bytes()).await?;
    }
    Ok(lines.of(table))
}

async fn read_back(table: &Table, to: &mut PgTransaction<'_>) -> Result<CopiedTable, CopyError> {
    let mut out = to.copy_out_raw(&table.copy_from_target()).await?;
    let mut lines = Lines::default();
    while let Some(piece) = out.try_next().await? {
        lines.add(&piece);
    }
    Ok(lines.of(table))
}

/// Writes a value as `COPY` writes it. Source: PostgreSQL, "COPY", "Text Format".
fn write_value(line: &mut String, kind: &str, value: &str) -> Result<()> {
    match kind {
        "text" => {
            for character in value.chars() {
                match character {
                    '\\' => line.push_str("\\\\"),
                    '\n' => line.push_str("\\n"),
                    '\r' => line.push_str("\\r"),
                    '\t' => line.push_str("\\t"),
                    '\u{8}' => line.push_str("\\b"),
                    '\u{c}' => line.push_str("\\f"),
                    '\u{b}' => line.push_str("\\v"),
                    // No text of PostgreSQL holds it.
                    '\0' => line.push('\u{fffd}'),
                    other => line.push(other),
                }
            }
        }
        "boolean" => line.push(if value == "0" { 'f' } else { 't' }),
        "bytea" => {
            line.push_str("\\\\x");
            line.push_str(&value.to_ascii_lowercase());
        }
        "timestamp with time zone" => write_time(line, value)?,
        _ => line.push_str(value),
    }
    Ok(())
}

fn write_time(line: &mut String, millis: &str) -> Result<()> {
    let time = millis.parse().ok().map(Timestamp::from_millisecond);
    let Some(Ok(time)) = time else {
        return Err(StorageError::Corrupt(format!("the time {millis:?}")));
    };
    let fraction = format!("{:03}", time.as_millisecond().rem_euclid(1000));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let written = write!(
        line,
        "{}{point}{fraction}+00",
        time.strftime("%Y-%m-%d %H:%M:%S")
    );
    written.map_err(|_| StorageError::Corrupt(format!("the time {millis:?}")))
}

/// Tables of both databases whose rows each process fills anew.
const NOT_COPIED: [&str; 7] = [
    "_sqlx_migrations",
    "identity",
    "price_lists",
    "staff_access",
    "static_files",
    "webhooks",
    "write_checks",
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    name: String,
    kind: String,
    /// Part of the primary key, by which the rows are sorted.
    is_key: bool,
    is_numbered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    name: String,
    columns: Vec<Column>,
}

impl Table {
    fn columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|it| it.name.as_str()).collect();
        names.join(", ")
    }

    fn select_from_file(&self) -> String {
        let values = self.columns.iter().map(|column| {
            let name = &column.name;
            if column.kind == "bytea" {
                format!("CASE WHEN {name} IS NOT NULL THEN hex({name}) END")
            } else {
                format!("CAST({name} AS TEXT)")
            }
        });
        let values = values.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {values} FROM {} ORDER BY {}",
            self.name,
            self.key("")
        )
    }

    fn copy_from_target(&self) -> String {
        let (columns, name) = (self.columns(), &self.name);
        let key = self.key(" COLLATE \"C\"");
        format!("COPY (SELECT {columns} FROM {name} ORDER BY {key}) TO STDOUT")
    }

    /// The columns of the key. SQLite compares texts by their bytes.
    fn key(&self, of_texts: &str) -> String {
        let key = self.columns.iter().filter(|column| column.is_key);
        let key = key.map(|column| {
            let order = if column.kind == "text" { of_texts } else { "" };
            format!("{}{order}", column.name)
        });
        key.collect::<Vec<_>>().join(", ")
    }
}

/// The tables that both databases have, each behind those that it refers to: the schema makes them in this order.
async fn tables(from: &mut SqliteConnection, to: &mut PgConnection) -> sqlx::Result<Vec<Table>> {
    let of_file: Vec<(String, String)> = sqlx::query_as(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table'",
    )
    .fetch_all(from)
    .await?;
    let of_file: HashSet<(String, String)> = of_file.into_iter().collect();
    let of_target: Vec<(String, String, String, bool, bool)> = sqlx::query_as(
        "SELECT relname::text, attname::text, format_type(atttypid, NULL), attnum = ANY (indkey), attidentity <> ''
         FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
             JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
         WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
         ORDER BY pg_class.oid, attnum",
    )
    .fetch_all(to)
    .await?;
    let mut tables: Vec<Table> = Vec::new();
    for (table, name, kind, is_key, is_numbered) in of_target {
        if NOT_COPIED.contains(&table.as_str()) || !of_file.contains(&(table.clone(), name.clone()))
        {
            continue;
        }
        let column = Column {
            name,
            kind,
            is_key,
            is_numbered,
        };
        match tables.last_mut() {
            Some(last) if last.name == table => last.columns.push(column),
            _ => tables.push(Table {
                name: table,
                columns: vec![column],
            }),
        }
    }
    Ok(tables)
}
