//! The stores under test, each in a database of its test.

use std::sync::Arc;

use florin_orders::{Attempt, AttemptId};
use tempfile::TempDir;

use crate::postgres::tests::server::{database, server};
use crate::{LeaseClock, PostgresStorage, SqliteStorage, Storage, StorageError};

/// The store under test.
pub(crate) type Store = Arc<dyn Storage>;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// A store and its database.
pub(crate) struct Test {
    pub(crate) storage: Store,
    database: Database,
}

enum Database {
    Sqlite(SqliteStorage, TempDir),
    Postgres(PostgresStorage, String),
}

impl Backend {
    /// A store with an empty database.
    pub(crate) async fn test(self) -> Test {
        match self {
            Self::Sqlite => {
                let mut folder = tempfile::Builder::new();
                let folder = folder.prefix("florin-storage-").tempdir().unwrap();
                let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
                Test {
                    storage: Arc::new(storage.clone()),
                    database: Database::Sqlite(storage, folder),
                }
            }
            Self::Postgres => {
                let database = database();
                let storage = open(&database, "test").await.unwrap();
                Test {
                    storage: Arc::new(storage.clone()),
                    database: Database::Postgres(storage, database),
                }
            }
        }
    }
}

impl Test {
    /// Closes the store and opens its database anew.
    pub(crate) async fn reopen(&mut self) {
        self.storage = self.open_for("test").await.unwrap();
    }

    /// Closes the store and opens its database for an environment.
    pub(crate) async fn open_for(&self, environment: &str) -> Result<Store, StorageError> {
        match &self.database {
            Database::Sqlite(storage, folder) => {
                storage.close().await;
                let again = SqliteStorage::open(&url(folder), environment).await?;
                Ok(Arc::new(again))
            }
            Database::Postgres(storage, database) => {
                storage.close().await;
                Ok(Arc::new(open(database, environment).await?))
            }
        }
    }

    /// The number that a query returns.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        let query = sqlx::AssertSqlSafe(query.to_owned());
        match &self.database {
            Database::Sqlite(storage, _) => {
                let number = sqlx::query_scalar(query);
                number.fetch_one(&storage.reader).await.unwrap()
            }
            Database::Postgres(storage, _) => {
                let number = sqlx::query_scalar(query);
                number.fetch_one(&storage.reader).await.unwrap()
            }
        }
    }

    /// Executes a statement as another program would.
    pub(crate) async fn execute(&self, statement: &str) -> Result<(), sqlx::Error> {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        match &self.database {
            Database::Sqlite(storage, _) => {
                let mut tx = storage.begin().await.unwrap();
                sqlx::query(statement).execute(&mut *tx).await?;
                tx.commit().await.unwrap();
                Ok(())
            }
            Database::Postgres(storage, _) => {
                let statement = sqlx::query(statement);
                statement.execute(&storage.reader).await.map(drop)
            }
        }
    }

    /// An attempt as the database has it.
    pub(crate) async fn attempt(&self, id: &AttemptId) -> Attempt {
        match &self.database {
            Database::Sqlite(storage, _) => storage.attempt(id).await.unwrap(),
            Database::Postgres(storage, _) => storage.attempt(id).await.unwrap(),
        }
    }
}

/// The tests' clock ends leases as well.
async fn open(database: &str, environment: &str) -> Result<PostgresStorage, StorageError> {
    let url = server().url(database);
    PostgresStorage::open_with(&url, environment, LeaseClock::Caller).await
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}
