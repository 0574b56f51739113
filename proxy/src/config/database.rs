//! The database's addresses, and `[database]`: the connections to PostgreSQL.

use florin_storage::PostgresOptions;
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Deserialize;

use crate::config::problems::{Errors, Problem};
use crate::config::secrets::secret;

/// The connections of one process to PostgreSQL. A file of SQLite needs none.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseTable {
    /// Connections of this process to PostgreSQL, 2 to 500: one half writes, the other reads. One more listens. Three
    /// processes with the default fit into the 100 of a default server.
    #[schemars(extend("x-default" = PostgresOptions::DEFAULT.connections))]
    pub(crate) connections: Option<u32>,
}

/// Checks the section. `is_server` if the database is PostgreSQL.
pub(crate) fn database(
    errors: &mut Errors,
    warnings: &mut Vec<Problem>,
    table: &DatabaseTable,
    is_server: bool,
) -> PostgresOptions {
    if !is_server && *table != DatabaseTable::default() {
        warnings.push(Problem {
            key: "database".to_owned(),
            message: "has no effect: it is for PostgreSQL, and database_url names a file of SQLite"
                .to_owned(),
        });
    }
    let connections = errors.within(
        "database.connections",
        table.connections,
        PostgresOptions::DEFAULT.connections,
        2..=500,
        "connections",
    );
    PostgresOptions {
        connections,
        ..PostgresOptions::DEFAULT
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
