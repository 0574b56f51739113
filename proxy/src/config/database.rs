//! The database's addresses, and `[database]`: limits of the connections to PostgreSQL.

use std::time::Duration;

use florin_storage::PostgresOptions;
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Deserialize;

use crate::config::problems::{Errors, Problem};
use crate::config::secrets::secret;

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
    errors: &mut Errors,
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
        errors.add("database.connections", "write 2 to 500 connections");
    }
    let mut seconds = |key: &str, given: Option<u32>, default: Duration, most: u64| {
        let limit = given.map_or(default, |given| Duration::from_secs(given.into()));
        if !(1..=most).contains(&limit.as_secs()) {
            errors.add(
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

pub(crate) fn database_url(
    errors: &mut Errors,
    value: Option<String>,
    file: Option<String>,
) -> Option<String> {
    match (value, file) {
        (None, None) => Some("sqlite://florin.db".to_owned()),
        (Some(value), None) => Some(value),
        (value, file) => {
            let url = secret(value, file, 1);
            errors
                .record("database_url", url)
                .map(|url| url.expose_secret().to_owned())
        }
    }
}

/// Refuses an address of no database, and warns of a file on another machine.
pub(crate) fn check_database_url(
    errors: &mut Errors,
    warnings: &mut Vec<Problem>,
    url: Option<&str>,
) {
    let Some(url) = url else {
        return;
    };
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let is_known = url.starts_with("sqlite://") || florin_storage::is_postgres(url);
    if !is_known || in_memory {
        let message = "write sqlite://path/to/florin.db for a file, or postgres://user:password@host/database";
        errors.add("database_url", message);
    } else if let Err(reason) = florin_storage::check_place(url) {
        errors.add("database_url", reason);
    } else if let Some(kind) = florin_storage::network_volume(url) {
        let message = format!(
            "is on a network file system ({kind}), where SQLite can lose or damage the database: write a path on a disk of this \
             machine, or use PostgreSQL"
        );
        warnings.push(Problem {
            key: "database_url".to_owned(),
            message,
        });
    }
}

/// `database_url_direct`: of a server, and beside the address of one.
pub(crate) fn database_url_direct(
    errors: &mut Errors,
    value: Option<String>,
    file: Option<String>,
    is_server: bool,
) -> Option<String> {
    const KEY: &str = "database_url_direct";
    if value.is_none() && file.is_none() {
        return None;
    }
    let url = errors.record(KEY, secret(value, file, 1))?;
    let url = url.expose_secret();
    if !is_server {
        errors.add(
            KEY,
            "is for a pooler of PostgreSQL, and database_url names a file of SQLite",
        );
    } else if !florin_storage::is_postgres(url) {
        errors.add(KEY, "write postgres://user:password@host/database");
    } else if let Err(reason) = florin_storage::check_place(url) {
        errors.add(KEY, reason);
    }
    Some(url.to_owned())
}
