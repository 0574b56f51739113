//! `[database]`: limits of the connections to PostgreSQL.

use std::time::Duration;

use florin_storage::PostgresOptions;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::problems::{Findings, Problem};

/// The connections of one process to PostgreSQL. A file of SQLite needs none of these keys.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseTable {
    /// Connections of this process to PostgreSQL, 2 to 500: one half writes, the other reads. One more listens. Three
    /// processes with the default fit into the 100 of a default server.
    #[schemars(extend("x-default" = PostgresOptions::DEFAULT.connections))]
    pub(crate) connections: Option<u32>,
    /// Seconds that a request waits for a free connection, 1 to 30.
    #[schemars(extend("x-default" = PostgresOptions::DEFAULT.acquire_timeout.as_secs()))]
    pub(crate) acquire_timeout_seconds: Option<u32>,
    /// Seconds that the server works on a statement, 1 to 60. The proxy waits a second longer for its response.
    #[schemars(extend("x-default" = PostgresOptions::DEFAULT.statement_timeout.as_secs()))]
    pub(crate) statement_timeout_seconds: Option<u32>,
    /// Seconds that a statement waits for a lock, 1 to `statement_timeout_seconds`.
    #[schemars(extend("x-default" = PostgresOptions::DEFAULT.lock_timeout.as_secs()))]
    pub(crate) lock_timeout_seconds: Option<u32>,
}

/// Checks the section. `is_server` if the database is PostgreSQL.
pub(crate) fn database(
    findings: &mut Findings,
    warnings: &mut Vec<Problem>,
    table: &DatabaseTable,
    is_server: bool,
) -> PostgresOptions {
    let default = PostgresOptions::DEFAULT;
    if !is_server && *table != DatabaseTable::default() {
        warnings.push(Problem {
            key: "database".to_owned(),
            message: "has no effect: it is for PostgreSQL, and database_url names a file of SQLite"
                .to_owned(),
        });
    }
    let connections = table.connections.unwrap_or(default.connections);
    if !(2..=500).contains(&connections) {
        findings.add("database.connections", "write 2 to 500 connections");
    }
    let mut seconds = |key: &str, given: Option<u32>, default: Duration, most: u64| {
        let limit = given.map_or(default, |given| Duration::from_secs(given.into()));
        if !(1..=most).contains(&limit.as_secs()) {
            findings.add(
                &format!("database.{key}"),
                format!("write 1 to {most} seconds"),
            );
        }
        limit
    };
    let acquire_timeout = seconds(
        "acquire_timeout_seconds",
        table.acquire_timeout_seconds,
        default.acquire_timeout,
        30,
    );
    let statement_timeout = seconds(
        "statement_timeout_seconds",
        table.statement_timeout_seconds,
        default.statement_timeout,
        60,
    );
    // A shorter limit of statements shortens that of locks.
    let lock_timeout = seconds(
        "lock_timeout_seconds",
        table.lock_timeout_seconds,
        default.lock_timeout.min(statement_timeout),
        statement_timeout.as_secs().max(1),
    );
    PostgresOptions {
        connections,
        acquire_timeout,
        statement_timeout,
        lock_timeout,
    }
}
