//! The stores under test, each in a database of its test.

use std::ops::Deref;
use std::sync::Arc;

use florin_orders::{Attempt, AttemptId};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

use crate::postgres::tests::server::{database, pooler, server};
use crate::{LeaseClock, PostgresOptions, PostgresStorage, Result, SqliteStorage, Storage};

type Store = Arc<dyn Storage>;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
    /// PostgreSQL behind a pooler in transaction mode.
    Pooled,
}

/// A store and its database.
pub(crate) struct Test {
    storage: Store,
    database: Database,
}

enum Database {
    Sqlite(SqliteStorage, TempDir),
    /// With its name, and the port of the pooler.
    Postgres(PostgresStorage, String, Option<u16>),
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
            Self::Postgres | Self::Pooled => {
                let database = database();
                let pooler = (self == Self::Pooled).then(|| pooler().port());
                let storage = open(&database, pooler, "test").await.unwrap();
                Test {
                    storage: Arc::new(storage.clone()),
                    database: Database::Postgres(storage, database, pooler),
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
    pub(crate) async fn open_for(&self, environment: &str) -> Result<Store> {
        match &self.database {
            Database::Sqlite(storage, folder) => {
                storage.close().await;
                let again = SqliteStorage::open(&url(folder), environment).await?;
                Ok(Arc::new(again))
            }
            Database::Postgres(storage, database, pooler) => {
                storage.close().await;
                Ok(Arc::new(open(database, *pooler, environment).await?))
            }
        }
    }

    pub(crate) async fn number(&self, query: &str) -> i64 {
        let query = sqlx::AssertSqlSafe(query.to_owned());
        match &self.database {
            Database::Sqlite(storage, _) => {
                let number = sqlx::query_scalar(query);
                number.fetch_one(&storage.reader).await.unwrap()
            }
            Database::Postgres(_, database, _) => {
                let mut connection = connect(database).await;
                let number = sqlx::query_scalar(query);
                number.fetch_one(&mut connection).await.unwrap()
            }
        }
    }

    /// Executes a statement as another program would.
    async fn execute(&self, statement: &str) -> Result<(), sqlx::Error> {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        match &self.database {
            Database::Sqlite(storage, _) => {
                let mut tx = storage.begin().await.unwrap();
                sqlx::query(statement).execute(&mut *tx).await?;
                tx.commit().await.unwrap();
                Ok(())
            }
            Database::Postgres(_, database, _) => {
                let mut connection = connect(database).await;
                let statement = sqlx::query(statement);
                statement.execute(&mut connection).await.map(drop)
            }
        }
    }

    /// The database refuses a statement of another program.
    pub(crate) async fn refuses(&self, statement: &str, reason: &str) {
        let refused = self.execute(statement).await.unwrap_err().to_string();
        assert!(refused.contains(reason), "{statement}: {refused}");
    }

    pub(crate) async fn attempt(&self, id: &AttemptId) -> Attempt {
        match &self.database {
            Database::Sqlite(storage, _) => storage.attempt(id).await.unwrap(),
            Database::Postgres(storage, ..) => storage.attempt(id).await.unwrap(),
        }
    }
}

impl Deref for Test {
    type Target = dyn Storage;

    fn deref(&self) -> &Self::Target {
        &*self.storage
    }
}

/// The tests' clock ends leases as well.
async fn open(database: &str, pooler: Option<u16>, environment: &str) -> Result<PostgresStorage> {
    let (direct, clock) = (server().url(database), LeaseClock::Caller);
    let Some(pooler) = pooler else {
        return PostgresStorage::open_with(&direct, environment, clock).await;
    };
    let (url, limits) = (server().url_at(pooler, database), PostgresOptions::DEFAULT);
    PostgresStorage::open_limited(&url, Some(&direct), environment, clock, &limits).await
}

async fn connect(database: &str) -> PgConnection {
    let url = server().url(database);
    PgConnection::connect(&url).await.unwrap()
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}
