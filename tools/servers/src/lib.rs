//! Servers for tests and the demo: PostgreSQL and PgBouncer of the distribution's packages, and with the feature `chains`
//! nodes of chains that this machine alone has. Each is on a port of loopback, and is stopped when its value is dropped.
//!
//! Every error is a sentence: what is not installed, a log, or what the server or its client says.
#![expect(
    clippy::missing_errors_doc,
    reason = "all errors are of one kind, which the crate's documentation states"
)]

#[cfg(feature = "chains")]
mod anvil;
pub mod installed;
#[cfg(feature = "chains")]
mod json_rpc;
#[cfg(feature = "chains")]
pub mod merchant;
mod pooler;
mod ports;
mod postgres;
#[cfg(feature = "chains")]
mod regtest;
#[cfg(feature = "chains")]
pub mod test_token;

#[cfg(feature = "chains")]
pub use self::anvil::{ACCOUNT, Anvil};
pub use self::installed::on_path;
pub use self::pooler::Pooler;
pub use self::ports::free_port;
pub use self::postgres::{Durability, PostgresServer};
#[cfg(feature = "chains")]
pub use self::regtest::RegtestNode;
