//! What readiness shows of a database server.

use jiff::Timestamp;

/// The schema and the clock of a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// The number of the last migration.
    pub schema: i64,
    /// The time by the server's clock.
    pub now: Timestamp,
}
