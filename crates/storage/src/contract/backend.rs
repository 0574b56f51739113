//! The stores under test, each in a database of its test.

use std::sync::Arc;

use florin_orders::{Attempt, AttemptId};
use tempfile::TempDir;

use super::Store;
use crate::{SqliteStorage, StorageError};

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
}

/// A store and its database.
pub(crate) struct Test {
    pub(crate) storage: Store,
    database: Database,
}

enum Database {
    Sqlite(SqliteStorage, TempDir),
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
        }
    }

    /// Executes a statement as another program would.
    pub(crate) async fn execute(&self, statement: &str) -> Result<(), sqlx::Error> {
        let statement = sqlx::query(sqlx::AssertSqlSafe(statement.to_owned()));
        match &self.database {
            Database::Sqlite(storage, _) => {
                let mut tx = storage.begin().await.unwrap();
                statement.execute(&mut *tx).await?;
                tx.commit().await.unwrap();
                Ok(())
            }
        }
    }

    /// An attempt as the database has it.
    pub(crate) async fn attempt(&self, id: &AttemptId) -> Attempt {
        match &self.database {
            Database::Sqlite(storage, _) => storage.attempt(id).await.unwrap(),
        }
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}
