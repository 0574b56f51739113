//! The proxy's configuration: read from a file and the environment, checked whole, then valid for good.
//!
//! Each section is one file: its table as it is written, with the documentation and default of each key, the checked values,
//! and the checks. All checks run, and every problem is reported at once.

pub(crate) mod catalog;
pub(crate) mod database;
mod effective_settings;
mod environment;
mod file_permissions;
pub(crate) mod gateway;
pub(crate) mod network;
pub(crate) mod operator;
mod problems;
pub(crate) mod rate_limit;
mod reference;
mod schema;
mod secrets;
pub(crate) mod server;
mod source;
pub(crate) mod store;
mod theme;
pub(crate) mod tracing;
pub(crate) mod web_address;
pub(crate) mod webhook;

pub use self::tracing::Tracing;
pub use catalog::{Donation, Product};
pub(crate) use effective_settings::changed_keys;
pub use effective_settings::{Setting, Shown};
pub use gateway::Gateway;
pub use operator::{Operator, Role};
pub use problems::{Problem, Problems};
pub use rate_limit::RateLimit;
pub use reference::{Given, reference, reference_json, template};
pub use secrets::{KeyId, SecretPair, TokenKey};
pub use server::{Config, PublicUrl};
pub use source::{admin_address, load, operator_token, parse};
pub use store::Store;
pub use web_address::Origin;
pub(crate) use web_address::is_encrypted_or_loopback;
pub use webhook::Webhook;

#[cfg(test)]
pub(crate) mod tests;
