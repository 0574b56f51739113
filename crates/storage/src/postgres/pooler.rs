//! A pooler in transaction mode between: it gives each transaction any of its connections to the server.
//!
//! What a connection remembers is of another process by then. So a pooled connection
//! - runs each statement in a transaction, reads as well: sqlx 0.9.0 prepares a statement and runs it by two messages;
//! - sets its limits in each transaction, and not when it connects: PgBouncer refuses `options`, and `extra_float_digits`,
//!   which no statement here needs;
//! - keeps no prepared statement. sqlx 0.9.0 names each one also without a cache, and closes none: the statements that
//!   another process left on the server's connection are closed first, or their names would collide.
//!
//! No version of PgBouncer has to know prepared statements for that. Source: PgBouncer, "Feature matrix for pooling modes",
//! and its changes of 1.21.0 (2023-10-16), since which it can follow them (`max_prepared_statements`), and 1.22.0
//! (2024-01-31), since which it follows `DEALLOCATE ALL`.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};

/// How transactions begin through a pooler.
#[derive(Clone, Debug)]
pub(super) struct Pooler {
    begin: Arc<str>,
    /// How long a transaction waits for one of the pooler's connections to the server.
    pub(super) longest_begin: Duration,
}

impl Pooler {
    /// Each transaction has these settings.
    pub(super) fn new(settings: &[(&str, String)], longest_begin: Duration) -> Self {
        let settings = settings
            .iter()
            .map(|(setting, value)| format!("SET LOCAL {setting} = '{value}'"));
        let statements = ["BEGIN", "DEALLOCATE ALL"].map(str::to_owned);
        let statements: Vec<String> = statements.into_iter().chain(settings).collect();
        Self {
            begin: statements.join("; ").into(),
            longest_begin,
        }
    }

    pub(super) fn options(connect: PgConnectOptions) -> PgConnectOptions {
        connect.extra_float_digits(None).statement_cache_capacity(0)
    }

    /// Begins a transaction, by one message.
    pub(super) async fn begin(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let begin = sqlx::raw_sql(AssertSqlSafe(self.begin.clone()));
        connection.execute(begin).await.map(drop)
    }
}
