//! The sections that are not of the gateway or of a store: `[database]` with the database's addresses, `[rate_limit]`,
//! `[tracing]` and `[[operator]]`.

use argon2::password_hash::phc::PasswordHash;
use florin_money::Amount;
use florin_storage::PostgresOptions;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use crate::config::secrets::{MIN_GUESSABLE_CHARS, OneOrMore, SecretPair, secret, secret_pair};
use crate::config::{Errors, Problem};

/// The connections of one process to PostgreSQL. A file of SQLite needs none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseTable {
    /// Connections of this process to PostgreSQL, 2 to 500: one half writes, the other reads. One more listens. Three
    /// processes with the default fit into the 100 of a default server.
    #[schemars(range(min = 2, max = 500), extend("x-default" = PostgresOptions::DEFAULT.connections))]
    pub(crate) connections: Option<u32>,
}

/// Checks the section. `is_server` if the database is PostgreSQL.
pub(crate) fn database(
    warnings: &mut Vec<Problem>,
    table: &DatabaseTable,
    is_server: bool,
) -> PostgresOptions {
    if !is_server && table.connections.is_some() {
        let message =
            "has no effect: it is for PostgreSQL, and database_url names a file of SQLite";
        warnings.push(Problem::new("database", message));
    }
    let default = PostgresOptions::DEFAULT;
    PostgresOptions {
        connections: table.connections.unwrap_or(default.connections),
        ..default
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
        warnings.push(Problem::new("database_url", message));
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

/// What one client address may do, and the pages of one order.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RateLimit {
    /// Choices of an asset that one address may make in a minute, 1 to 10000: each opens an order with its attempt. Private
    /// addresses that are not among the `trusted_proxies` are not counted: every customer may come from there.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) orders_per_minute_per_ip: u32,
    /// Event streams that one order may have at once, 1 to 10000: each open page has one.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) streams_per_order: usize,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            // A customer chooses once or twice; an office behind one address chooses some more.
            orders_per_minute_per_ip: 30,
            // A customer has a handful of pages.
            streams_per_order: 16,
        }
    }
}

// `[tracing]`: where traces are sent, and how many.

/// One request in a hundred: enough to see where time goes, and no load for a collector.
const SAMPLE_RATIO: &str = "0.01";
/// Source: OpenTelemetry Protocol, "OTLP/HTTP Request".
const TRACES_PATH: &str = "/v1/traces";
const MILLION: u32 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tracing {
    /// Where the collector takes spans: its address and `/v1/traces`.
    pub(crate) traces_url: Url,
    /// Recorded requests of a million.
    pub(crate) sampled_per_million: u32,
}

/// Traces for a collector of OpenTelemetry. Without `otlp_endpoint` nothing is recorded.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TracingTable {
    /// The collector's address for OTLP over HTTP, like `http://127.0.0.1:4318`; `/v1/traces` is added. Spans have no secrets and
    /// no data of customers.
    pub(crate) otlp_endpoint: Option<String>,
    /// The share of requests that are recorded, as a string: "0" to "1" with six decimals at most. Orders whose store sends a
    /// sampled `traceparent` are always recorded.
    #[schemars(extend("x-default" = SAMPLE_RATIO))]
    pub(crate) sample_ratio: Option<String>,
}

pub(crate) fn tracing(errors: &mut Errors, table: &TracingTable) -> Option<Tracing> {
    let ratio = table.sample_ratio.as_deref().unwrap_or(SAMPLE_RATIO);
    let sampled_per_million = per_million(ratio);
    if sampled_per_million.is_none() {
        errors.add(
            "tracing.sample_ratio",
            format!("{ratio:?} is no share: write a number from \"0\" to \"1\", like \"0.01\""),
        );
    }
    let Some(endpoint) = &table.otlp_endpoint else {
        if table.sample_ratio.is_some() {
            errors.add(
                "tracing.sample_ratio",
                "has no effect without tracing.otlp_endpoint: write both, or none",
            );
        }
        return None;
    };
    Some(Tracing {
        traces_url: errors.record("tracing.otlp_endpoint", traces_url(endpoint))?,
        sampled_per_million: sampled_per_million?,
    })
}

fn traces_url(text: &str) -> Result<Url, String> {
    // Without the text, which may hold a password.
    let refused = |reason: &str| format!("{reason}: write like http://127.0.0.1:4318");
    let mut url = Url::parse(text).map_err(|error| refused(&format!("is no address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refused("is no web address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must carry no user name and no password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("has a query or a fragment"));
    }
    let path = url.path().trim_end_matches('/');
    if !path.ends_with(TRACES_PATH) {
        let path = format!("{path}{TRACES_PATH}");
        url.set_path(&path);
    }
    Ok(url)
}

/// `0.01` → 10000.
fn per_million(text: &str) -> Option<u32> {
    let share = Amount::parse(text).ok()?.checked_mul(MILLION).ok()?;
    // Without a fraction: a share has six decimals at most.
    let share: u32 = share.with_min_decimals(0).to_string().parse().ok()?;
    (share <= MILLION).then_some(share)
}

// `[[operator]]`: the people who may use the operator's pages and the API of the admin listener.

const MAX_NAME: usize = 64;

/// A person who may use the admin listener.
#[derive(Debug)]
pub(crate) struct Operator {
    /// Unique; the audit log names it.
    pub(crate) name: String,
    /// Argon2id, as a PHC string; absent if the operator does not sign in on the pages.
    pub(crate) password_hash: Option<SecretString>,
    /// The bearer token of the API; absent if the operator does not use it.
    pub(crate) token: Option<SecretPair>,
    pub(crate) role: Role,
}

/// What an operator may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// See everything, change nothing.
    #[default]
    Read,
    /// See and decide.
    Write,
}

/// Who may use the operator's pages and API on `admin_listen`. Without this section, the pages say how to write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorTable {
    /// The name with which the operator signs in, 1 to 64 characters. The audit log keeps it.
    pub(crate) name: String,
    /// What `florin-proxy secrets hash` prints for the operator's password. Without it, the operator cannot sign in on the
    /// pages.
    pub(crate) password_hash: Option<String>,
    pub(crate) password_hash_file: Option<String>,
    /// 32 or more random characters: the bearer token of the API, which the command line uses. Or a list of two while one
    /// replaces the other: both are accepted.
    pub(crate) token: Option<OneOrMore>,
    pub(crate) token_file: Option<OneOrMore>,
    /// `read` sees everything; `write` decides about orders and sends events again.
    #[schemars(extend("x-default" = "read"))]
    #[serde(default)]
    pub(crate) role: Role,
}

pub(crate) fn operators(errors: &mut Errors, tables: Vec<OperatorTable>) -> Vec<Operator> {
    let names = tables.iter().map(|operator| &operator.name);
    errors.require_distinct("operator", "name", names);
    let tables = tables.into_iter();
    tables.map(|table| operator(errors, table)).collect()
}

fn operator(errors: &mut Errors, table: OperatorTable) -> Operator {
    let name = table.name;
    let key = &format!("operator.{name}");
    let is_name = (1..=MAX_NAME).contains(&name.chars().count())
        && name.trim() == name
        && !name.chars().any(char::is_control);
    if !is_name {
        errors.add(key, "name: write 1 to 64 characters");
    }
    let has_password = table.password_hash.is_some() || table.password_hash_file.is_some();
    let has_token = table.token.is_some() || table.token_file.is_some();
    if !has_password && !has_token {
        let message = "has neither password_hash nor token, and could do nothing: run `florin-proxy secrets hash`, and \
             write what it prints as password_hash";
        errors.add(key, message);
    }
    let password_hash = has_password.then(|| {
        let hash = secret(table.password_hash, table.password_hash_file, 1).and_then(is_argon2id);
        errors.record(&format!("{key}.password_hash"), hash)
    });
    let token = has_token.then(|| {
        let token = secret_pair(table.token, table.token_file, MIN_GUESSABLE_CHARS);
        errors.record(&format!("{key}.token"), token)
    });
    Operator {
        name,
        password_hash: password_hash.flatten(),
        token: token.flatten(),
        role: table.role,
    }
}

fn is_argon2id(text: SecretString) -> Result<SecretString, String> {
    let parsed = PasswordHash::new(text.expose_secret());
    let fits =
        parsed.is_ok_and(|hash| hash.algorithm.as_str() == "argon2id" && hash.hash.is_some());
    if fits {
        return Ok(text);
    }
    Err(
        "is no hash of Argon2id: run `florin-proxy secrets hash`, and write what it prints, like \
         $argon2id$v=19$m=19456,t=2,p=1$…"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_exactly() {
        for (text, share) in [
            ("0", 0),
            ("1", 1_000_000),
            ("1.0", 1_000_000),
            ("0.01", 10_000),
            ("0.000001", 1),
        ] {
            assert_eq!(per_million(text), Some(share), "{text}");
        }
        for text in " .5 0. -0 2 1.000001 0.0000001 1e-2 01".split(' ') {
            assert_eq!(per_million(text), None, "{text}");
        }
    }

    #[test]
    fn the_path_of_traces_is_added_once() {
        for (text, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.example/", "https://otel.example/v1/traces"),
            (
                "https://otel.example/tenant",
                "https://otel.example/tenant/v1/traces",
            ),
            ("http://otel:4318/v1/traces", "http://otel:4318/v1/traces"),
        ] {
            assert_eq!(traces_url(text).unwrap().as_str(), url);
        }
        for text in [
            "grpc://otel:4317",
            "http://me:secret@otel:4318",
            "grpc://me:secret@otel:4317",
            "http://me:secret@otel:port",
        ] {
            let error = traces_url(text).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
