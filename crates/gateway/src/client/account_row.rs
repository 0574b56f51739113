//! The row in which the limits of a gateway account are kept: of a database, or in memory.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;

use super::Clock;

/// The row of one account. Its state is this crate's text; the row gives order, durability and one clock for all processes.
#[async_trait]
pub trait AccountRow: Send + Sync {
    /// Reads the row without a lock.
    ///
    /// # Errors
    /// [`AccountRowError`]
    async fn read(&self) -> Result<AccountState, AccountRowError>;

    /// Locks the row, passes its state and the time by the database's clock to `step`, and stores what that returns;
    /// `None` leaves the row as it is. Returns the version of the row afterwards.
    ///
    /// `step` may be called again when the first change was not stored. The last call counts.
    ///
    /// # Errors
    /// [`AccountRowError`]: whether the change was stored is unknown.
    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError>;
}

/// What becomes of the row, from its state and the time by the database's clock.
pub type AccountStep =
    Arc<dyn Fn(Option<&str>, Timestamp) -> Option<NewAccountState> + Send + Sync>;

/// The row as it is.
#[derive(Clone, Debug)]
pub struct AccountState {
    /// JSON; `None` before the first change.
    pub state: Option<String>,
    /// Grows with each change.
    pub version: i64,
    /// The time by the database's clock.
    pub now: Timestamp,
}

/// The row's next state.
#[derive(Clone, Debug)]
pub struct NewAccountState {
    /// JSON.
    pub state: String,
    /// `true` if a crash of the database must not lose it.
    pub is_durable: bool,
}

/// The database did not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AccountRowError(
    /// The reason, for the operator.
    pub String,
);

/// The row of an account that one process uses alone.
pub(super) struct MemoryRow {
    clock: Arc<dyn Clock>,
    row: Mutex<(String, i64)>,
}

impl MemoryRow {
    pub(super) fn new(state: String, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            row: Mutex::new((state, 0)),
        }
    }
}

#[async_trait]
impl AccountRow for MemoryRow {
    async fn read(&self) -> Result<AccountState, AccountRowError> {
        let row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(AccountState {
            state: Some(row.0.clone()),
            version: row.1,
            now: self.clock.now(),
        })
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(new) = step(Some(&row.0), self.clock.now()) {
            *row = (new.state, row.1 + 1);
        }
        Ok(row.1)
    }
}
