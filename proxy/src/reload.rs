//! Reloading the configuration: all of it, or nothing.
//!
//! A request or a delivery in progress ends with the configuration it began with. What sockets, the database and the
//! gateway's client were built from needs a restart, except the gateway's key and secret.

use std::sync::Arc;

use crate::config::{Config, Problem, Problems, changed_keys};
use crate::state::AppState;

/// Keys of a log line. A reload that adds a catalogue changes hundreds.
const MAX_KEYS: usize = 50;

impl AppState {
    /// Puts a checked configuration in force, unless it changes what needs a restart. The operator's page shows a refusal
    /// until a later reload is not refused.
    pub(crate) fn reload(&self, loaded: Result<Config, Problems>) {
        let refused = match loaded {
            Ok(next) => self.exchange(next).err(),
            Err(problems) => {
                let keys: Vec<&str> = problems.0.iter().map(|it| it.key.as_str()).collect();
                let problems = problems.to_string().trim_end().to_owned();
                tracing::error!(
                    keys = keys.join(", "),
                    problems,
                    "the configuration was not reloaded: it cannot be used. The one in force stays"
                );
                Some(problems)
            }
        };
        *self.refused_reload.lock() = refused;
    }

    /// Puts a configuration in force, or returns why not.
    fn exchange(&self, mut next: Config) -> Result<(), String> {
        let current = self.config();
        let fixed = fixed_changes(&current, &next).join(", ");
        if !fixed.is_empty() {
            tracing::error!(
                keys = fixed,
                "the configuration was not reloaded: these keys need a restart. The one in force stays"
            );
            return Err(format!("These keys need a restart: {fixed}."));
        }
        let mut keys = changed_keys(&current.settings, &next.settings);
        if current.log != next.log
            && let Err(error) = crate::log::set(&next.log)
        {
            return Err(not_set("log", &error));
        }
        let credentials = &next.gateway.client.credentials;
        if let Err(error) = self.gateway.set_credentials(credentials) {
            return Err(not_set("gateway.api_key", &error.to_string()));
        }
        next.generation = current.generation + 1;
        self.choice_limit
            .set_per_minute(next.rate_limit.orders_per_minute_per_ip);
        self.prices.set_lifetime(next.gateway.quote_ttl);
        self.metrics.add_stores(&next.stores);
        for Problem { key, message } in &next.warnings {
            tracing::warn!(key, "{message}");
        }
        self.apply_config(Arc::new(next));
        let count = keys.len();
        keys.truncate(MAX_KEYS);
        tracing::info!(count, keys = keys.join(", "), "configuration reloaded");
        Ok(())
    }
}

fn not_set(key: &'static str, error: &str) -> String {
    tracing::error!(
        keys = key,
        error,
        "the configuration was not reloaded. The one in force stays"
    );
    format!("{key}: {error}")
}

/// The keys that differ and need a restart: by their values in force, so that a default that is written out is no change.
fn fixed_changes(current: &Config, next: &Config) -> Vec<&'static str> {
    let (gateway, next_gateway) = (&current.gateway.client, &next.gateway.client);
    [
        ("listen", current.listen == next.listen),
        ("admin_listen", current.admin_listen == next.admin_listen),
        ("public_url", current.public_url == next.public_url),
        ("database_url", current.database_url == next.database_url),
        (
            "database_url_direct",
            current.database_url_direct == next.database_url_direct,
        ),
        ("database", current.database == next.database),
        ("environment", current.environment == next.environment),
        ("tracing", current.tracing == next.tracing),
        ("gateway.url", gateway.base_url == next_gateway.base_url),
        (
            "gateway.requests_per_second",
            gateway.requests_per_second == next_gateway.requests_per_second,
        ),
        ("gateway.nonces", gateway.nonces == next_gateway.nonces),
        (
            "gateway.sign_put_body",
            gateway.sign_put_body == next_gateway.sign_put_body,
        ),
    ]
    .into_iter()
    .filter_map(|(key, is_same)| (!is_same).then_some(key))
    .collect()
}
