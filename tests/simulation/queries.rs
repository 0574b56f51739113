//! Plain SQL on the proxy's database: queries of the invariants, and triggers that make a write fail.

use std::error::Error as _;
use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;

use florin_invariants::ReadError;
use parking_lot::Mutex;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqlSafeStr as _};
use tokio::runtime::Handle;

/// Blocks until a database operation is done. The database uses other threads, and a world that continued meanwhile
/// would depend on their timing.
#[derive(Clone, Debug)]
pub(crate) struct Database(pub(crate) Handle);

impl Database {
    pub(crate) fn run<F: Future>(&self, work: F) -> F::Output {
        let _inside = self.0.enter();
        futures_executor::block_on(tokio::task::unconstrained(work))
    }
}

#[derive(Debug)]
pub(crate) struct Queries {
    database: Database,
    connection: Mutex<SqliteConnection>,
}

impl Queries {
    pub(crate) fn open(database: &Database, file: &Path) -> Self {
        Self {
            database: database.clone(),
            connection: Mutex::new(connect(database, file)),
        }
    }

    pub(crate) fn switch_to(&self, file: &Path) {
        let connection = connect(&self.database, file);
        let mut before = self.connection.lock();
        let before = std::mem::replace(&mut *before, connection);
        let closed = self.database.run(before.close());
        closed.expect("a sound database");
    }

    pub(crate) fn rows(&self, sql: &str) -> Vec<SqliteRow> {
        self.rows_after(sql, 0)
    }

    pub(crate) fn rows_after(&self, sql: &str, number: i64) -> Vec<SqliteRow> {
        let mut connection = self.connection.lock();
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql.to_owned()));
        if sql.contains('?') {
            query = query.bind(number);
        }
        let rows = query.fetch_all(&mut *connection);
        self.database
            .run(rows)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Reads every table for the rules, and asks SQLite for defects of the file if wanted.
    pub(crate) fn read_tables(&self, with_damage: bool) -> florin_invariants::Database {
        let mut connection = self.connection.lock();
        let read = self.database.run(async {
            let mut tables = florin_invariants::Database::read(&mut connection).await?;
            if with_damage {
                tables.find_damage(&mut connection).await?;
            }
            Ok::<_, ReadError>(tables)
        });
        read.unwrap_or_else(|error| panic!("{error}: {:?}", error.source()))
    }

    pub(crate) fn execute(&self, sql: &str) {
        let mut connection = self.connection.lock();
        let script = sqlx::AssertSqlSafe(sql.to_owned()).into_sql_str();
        let done = self.database.run(connection.execute(sqlx::raw_sql(script)));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Creates a trigger on every table: armed, it makes the statement of the n-th written row fail.
    pub(crate) fn set_traps(&self) {
        use sqlx::Row as _;
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'
                      AND name NOT LIKE 'sqlite%'";
        let mut script = "CREATE TABLE trap (rows_left INTEGER NOT NULL);
                          INSERT INTO trap VALUES (0);"
            .to_owned();
        for row in self.rows(tables) {
            let table: String = row.get(0);
            for event in ["INSERT", "UPDATE"] {
                let _ = write!(
                    script,
                    "CREATE TRIGGER trap_{table}_{event} BEFORE {event} ON {table}
                     WHEN (SELECT rows_left FROM trap) > 0
                     BEGIN
                         UPDATE trap SET rows_left = rows_left - 1;
                         SELECT RAISE(ABORT, 'injected: disk I/O error')
                             WHERE (SELECT rows_left FROM trap) = 0;
                     END;"
                );
            }
        }
        self.execute(&script);
    }

    pub(crate) fn arm(&self, rows: i64) {
        self.execute(&format!("UPDATE trap SET rows_left = {rows}"));
    }
}

fn connect(database: &Database, file: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .disable_statement_logging();
    let connection = database.run(async { options.connect().await });
    connection.expect("the storage has created the file")
}
