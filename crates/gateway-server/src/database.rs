//! The gateway's state in a database: SQLite, or PostgreSQL for several processes.
//!
//! One text of SQL serves both. A write that reads first locks what it reads: in SQLite the transaction is the only writer,
//! in PostgreSQL the row that it changes first is locked.
#![expect(
    clippy::missing_errors_doc,
    reason = "what only reads or writes fails when the database does"
)]

mod callbacks;
mod invoices;
mod looks;
mod sessions;
#[cfg(test)]
mod tests;

use florin_money::Amount;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::{Any, AnyConnection, AnyPool, Connection as _, Executor as _, Row as _, Transaction};
use thiserror::Error;

pub(crate) use self::callbacks::Callback;
pub use self::looks::{AddressRow, StatusChange};
use crate::api::request::{ApiError, ErrorCode};
use crate::chain::{Chain, Tip};

/// A database that cannot be read or written.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// As the database names it.
    #[error("the database failed: {0}")]
    Failed(#[from] sqlx::Error),
    /// A row was written by another program.
    #[error("the database holds what this version does not read: {0}")]
    Unreadable(String),
    /// Addresses of two keys must not mix.
    #[error(
        "the database has addresses of another key for {chain}: keep that key, or begin with another database"
    )]
    OtherKey {
        /// [`Chain::as_str`]
        chain: &'static str,
    },
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        tracing::error!("{error:?}");
        let message = "the gateway cannot read or write its database now; try again later";
        Self::new(ErrorCode::InternalError, message)
    }
}

pub(crate) type Result<T, E = DatabaseError> = core::result::Result<T, E>;

/// The database. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    pool: AnyPool,
    begin: &'static str,
    /// Locks the rows that a statement reads.
    is_postgres: bool,
}

/// Connections to PostgreSQL.
const MAX_CONNECTIONS: u32 = 16;
/// Connections to a file of SQLite: one writes, the others read.
const READERS: u32 = 4;

impl Database {
    /// Opens a database, and makes its tables if it is empty. `sqlite::memory:` is forgotten at the end.
    ///
    /// # Errors
    /// The URL is invalid, or the database cannot be reached or written.
    pub async fn open(url: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let is_postgres = url.starts_with("postgres");
        let connections = match url {
            "sqlite::memory:" => 1,
            _ if is_postgres => MAX_CONNECTIONS,
            _ => READERS,
        };
        // A file that is not there yet is made.
        let url = match url.strip_prefix("sqlite://") {
            Some(file) if !file.contains('?') => format!("{url}?mode=rwc"),
            _ => url.to_owned(),
        };
        let options: AnyConnectOptions = url.parse()?;
        // The pool tries again for half a minute and forgets why; one connection names the cause.
        let mut probe = AnyConnection::connect_with(&options).await?;
        probe.execute("SELECT 1").await?;
        if !is_postgres {
            probe.execute("PRAGMA journal_mode = WAL").await?;
        }
        probe.close().await?;
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            // A database in memory ends with its connection.
            .idle_timeout(None)
            .max_lifetime(None)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if !is_postgres {
                        let durable = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000";
                        connection.execute(durable).await?;
                    }
                    Ok(())
                })
            })
            .connect_with(options)
            .await?;
        let database = Self {
            pool,
            begin: if is_postgres {
                "BEGIN"
            } else {
                "BEGIN IMMEDIATE"
            },
            is_postgres,
        };
        database.make_tables().await?;
        Ok(database)
    }

    async fn make_tables(&self) -> Result<()> {
        let mut transaction = self.begin().await?;
        if self.is_postgres {
            let lock = "SELECT pg_advisory_xact_lock(7024581)";
            transaction.execute(lock).await?;
        }
        let count = if self.is_postgres {
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'counters'"
        } else {
            "SELECT COUNT(*) FROM sqlite_master WHERE name = 'counters'"
        };
        let row = sqlx::query(count).fetch_one(&mut *transaction).await?;
        if row.try_get::<i64, _>(0)? == 0 {
            transaction
                .execute(include_str!("database/schema.sql"))
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    async fn begin(&self) -> Result<Transaction<'static, Any>> {
        Ok(self.pool.begin_with(self.begin).await?)
    }

    /// Prepares a chain; the first start begins at index 0. The key may change as long as no address was issued.
    ///
    /// # Errors
    /// The database has addresses of another key.
    pub async fn add_chain(&self, chain: Chain, key_id: &str) -> Result<()> {
        let mut transaction = self.begin().await?;
        let insert = "INSERT INTO chains (name, key_id, next_index, cursor, looks, tip_height, tip_hash, tip_time, \
                      watched_since, final_height) VALUES ($1, $2, 0, '', 0, 0, '', 0, 0, 0) ON CONFLICT (name) DO \
                      UPDATE SET key_id = CASE WHEN chains.next_index = 0 THEN $2 ELSE chains.key_id END";
        let insert = sqlx::query(insert).bind(chain.as_str()).bind(key_id);
        insert.execute(&mut *transaction).await?;
        let row = sqlx::query("SELECT key_id FROM chains WHERE name = $1").bind(chain.as_str());
        let row = row.fetch_one(&mut *transaction).await?;
        if row.try_get::<String, _>(0)? != key_id {
            let chain = chain.as_str();
            return Err(DatabaseError::OtherKey { chain });
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Takes the next index of a chain's key for good: it is written before an address is shown, and never given again.
    pub(crate) async fn take_index(&self, chain: Chain) -> Result<u32> {
        let take = "UPDATE chains SET next_index = next_index + 1 WHERE name = $1 RETURNING next_index - 1";
        let row = sqlx::query(take).bind(chain.as_str());
        let index: i64 = row.fetch_one(&self.pool).await?.try_get(0)?;
        u32::try_from(index).map_err(|_| DatabaseError::Unreadable(format!("the index {index}")))
    }

    /// The first index of a chain's key that was never given.
    pub async fn next_index(&self, chain: Chain) -> Result<u32> {
        let select = sqlx::query("SELECT next_index FROM chains WHERE name = $1");
        let row = select.bind(chain.as_str()).fetch_one(&self.pool).await?;
        let index: i64 = row.try_get(0)?;
        u32::try_from(index).map_err(|_| DatabaseError::Unreadable(format!("the index {index}")))
    }

    /// Has the next look begin elsewhere; an empty cursor: as at the first start.
    pub async fn set_cursor(&self, chain: Chain, cursor: &str) -> Result<()> {
        let update =
            sqlx::query("UPDATE chains SET cursor = $2, looks = looks + 1 WHERE name = $1");
        let update = update.bind(chain.as_str()).bind(cursor);
        update.execute(&self.pool).await?;
        Ok(())
    }

    /// A text that was kept under a name.
    pub async fn fact(&self, name: &str) -> Result<Option<String>> {
        let select = sqlx::query("SELECT value FROM facts WHERE name = $1").bind(name);
        let row = select.fetch_optional(&self.pool).await?;
        row.map(|row| Ok(row.try_get(0)?)).transpose()
    }

    /// Keeps a text under a name.
    pub async fn set_fact(&self, name: &str, value: &str) -> Result<()> {
        let put = "INSERT INTO facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2";
        let put = sqlx::query(put).bind(name).bind(value);
        put.execute(&self.pool).await?;
        Ok(())
    }

    /// The tip of the last look; `None` before the first.
    pub async fn tip(&self, chain: Chain) -> Result<Option<Tip>> {
        let select =
            "SELECT tip_height, tip_hash, tip_time FROM chains WHERE name = $1 AND tip_hash <> ''";
        let row = sqlx::query(select).bind(chain.as_str());
        let row = row.fetch_optional(&self.pool).await?;
        row.map(|row| tip_of(&row)).transpose()
    }
}

fn tip_of(row: &AnyRow) -> Result<Tip> {
    Ok(Tip {
        height: height(row.try_get("tip_height")?)?,
        hash: row.try_get("tip_hash")?,
        time: time(row.try_get("tip_time")?)?,
    })
}

/// The next number of a kind of row, counted from 1.
async fn next_number(connection: &mut AnyConnection, name: &str) -> Result<i64> {
    let count = "INSERT INTO counters (name, value) VALUES ($1, 1) \
                 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value";
    let row = sqlx::query(count).bind(name).fetch_one(connection).await?;
    Ok(row.try_get(0)?)
}

fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

fn time(millis: i64) -> Result<Timestamp> {
    Timestamp::from_millisecond(millis)
        .map_err(|_| DatabaseError::Unreadable(format!("the time {millis}")))
}

fn height(stored: i64) -> Result<u64> {
    u64::try_from(stored).map_err(|_| DatabaseError::Unreadable(format!("the height {stored}")))
}

fn stored_height(height: u64) -> i64 {
    i64::try_from(height).unwrap_or(i64::MAX)
}

fn amount(stored: &str) -> Result<Amount> {
    Amount::parse(stored).map_err(|_| DatabaseError::Unreadable(format!("the amount {stored}")))
}

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("its maps have texts as keys")
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| DatabaseError::Unreadable(error.to_string()))
}
