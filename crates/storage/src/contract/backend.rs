//! The stores under test, each in a database of its test, and their statements, read from the source.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use sqlx::{Connection as _, PgConnection};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Expr, Token};
use tempfile::TempDir;

use super::ByNumber as _;
use crate::postgres::tests::{database, pooler, server};
use crate::{LeaseClock, PostgresOptions, PostgresStorage, Result, SqliteStorage, Storage};

type Store = Arc<dyn Storage>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
    /// PostgreSQL behind a pooler in transaction mode.
    Pooled,
}

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

    pub(crate) async fn awaiting(self) -> Test {
        let test = self.test().await;
        test.awaiting(1).await;
        test
    }
}

impl Test {
    pub(crate) async fn reopen(&mut self) {
        self.storage = self.open_for("test").await.unwrap();
    }

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

    pub(crate) async fn refuses(&self, statement: &str, reason: &str) {
        let refused = self.execute(statement).await.unwrap_err().to_string();
        assert!(refused.contains(reason), "{statement}: {refused}");
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
    let (url, past) = match pooler {
        Some(port) => (server().url_at(port, database), Some(direct.as_str())),
        None => (direct.clone(), None),
    };
    let limits = PostgresOptions::DEFAULT;
    PostgresStorage::open_limited(&url, past, environment, clock, &limits).await
}

async fn connect(database: &str) -> PgConnection {
    let url = server().url(database);
    PgConnection::connect(&url).await.unwrap()
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}

struct Statements(Vec<String>);

impl<'ast> Visit<'ast> for Statements {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let text = literal.value();
        let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
        if verbs.iter().any(|verb| text.trim_start().starts_with(verb)) {
            self.0.push(text);
        }
    }

    /// The arguments of `read!` and `transaction!` are expressions.
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
        for argument in called.parse_body_with(arguments).iter().flatten() {
            self.visit_expr(argument);
        }
    }
}

/// Every statement of the store whose module has this name (`sqlite`, `postgres`), except those of some files and of its
/// tests.
pub(crate) fn statements(module: &str, except: &[&str]) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = [module, "queries"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(source.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path());
    let mut found = Statements(Vec::new());
    for file in modules.chain([source.join(format!("{module}.rs"))]) {
        let is_left_out = [&["tests.rs"], except]
            .concat()
            .iter()
            .any(|name| file.ends_with(name));
        if file.extension().is_some_and(|ending| ending == "rs") && !is_left_out {
            let text = fs::read_to_string(&file).unwrap();
            found.visit_file(&syn::parse_file(&text).unwrap());
        }
    }
    found.0
}
