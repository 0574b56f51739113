//! The proxy's configuration: read from a file and the environment, checked whole, then valid for good.
//!
//! Each section has its table as it is written, with the documentation and default of each key, beside the checked values and
//! the checks. All checks run, and every problem is reported at once.

pub(crate) mod catalog;
mod effective_settings;
pub(crate) mod gateway;
mod reference;
mod schema;
mod secrets;
pub(crate) mod sections;
pub(crate) mod server;
mod source;
pub(crate) mod store;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod web_address;

use std::collections::BTreeSet;
use std::fmt::Display;

pub(crate) use catalog::Donation;
pub(crate) use effective_settings::{Setting, changed_keys};
pub use gateway::Gateway;
pub use reference::{Given, reference, reference_json, template};
pub(crate) use secrets::{KeyId, SecretPair, TokenKey};
pub(crate) use sections::{Operator, Role, Tracing};
pub use server::{Config, PublicUrl};
pub use source::{admin_address, load, operator_token, parse};
pub use store::{Store, Webhook};
pub(crate) use web_address::{Origin, is_encrypted_or_loopback};

/// Everything that is wrong with a configuration, each by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, `gateway.url` or `store.demo.origins`, or the variable.
    pub key: String,
    /// What is wrong and what to write instead. Never a secret.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(key: &str, message: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            message: message.into(),
        }
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for Problem { key, message } in &self.0 {
            writeln!(f, "{key}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Collects problems: all checks run, so that every problem is reported at once.
#[derive(Default)]
pub(crate) struct Errors(Vec<Problem>);

impl Errors {
    pub(crate) fn add(&mut self, key: &str, message: impl Into<String>) {
        self.0.push(Problem::new(key, message));
    }

    pub(crate) fn record<T>(&mut self, key: &str, result: Result<T, impl ToString>) -> Option<T> {
        result
            .map_err(|error| self.add(key, error.to_string()))
            .ok()
    }

    /// Requires that the elements of the list `key` have different names, each its `member`.
    pub(crate) fn require_distinct<'n>(
        &mut self,
        key: &str,
        member: &str,
        names: impl Iterator<Item = &'n String>,
    ) {
        let mut known = BTreeSet::new();
        for name in names.filter(|name| !known.insert(*name)) {
            self.add(
                &format!("{key}.{name}"),
                format!("there are two of this {member}"),
            );
        }
    }

    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problems> {
        value.filter(|_| self.0.is_empty()).ok_or(Problems(self.0))
    }
}
