//! The row in which the limits of a gateway account are kept, of a database or in memory, and its changes: outcomes, then
//! permits.

use core::time::Duration;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::Mutex;

use super::error::Outcome;
use super::limits::{Grant, Limits, Priority, Recorded, Rules};
use super::{CallError, Clock};

/// The row of one account. Its state is this crate's text; the row gives order, durability and one clock for all processes.
#[async_trait]
pub trait AccountRow: Send + Sync {
    /// Reads the row without a lock.
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

#[derive(Clone, Debug)]
pub struct AccountState {
    /// JSON; `None` before the first change.
    pub state: Option<String>,
    /// Grows with each change.
    pub version: i64,
    /// The time by the database's clock.
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct NewAccountState {
    pub state: String,
    /// `true` if a crash of the database must not lose it.
    pub is_durable: bool,
}

/// The database did not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AccountRowError(pub String);

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
        let row = self.row.lock();
        Ok(AccountState {
            state: Some(row.0.clone()),
            version: row.1,
            now: self.clock.now(),
        })
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        let mut row = self.row.lock();
        if let Some(new) = step(Some(&row.0), self.clock.now()) {
            *row = (new.state, row.1 + 1);
        }
        Ok(row.1)
    }
}

/// A change that may be applied again: the last time counts.
pub(super) struct Change {
    pub(super) rules: Rules,
    /// It stores the configuration of this process.
    pub(super) configures: bool,
    pub(super) outcomes: Vec<(Grant, Outcome, Duration)>,
    pub(super) permits: Vec<Priority>,
    pub(super) done: Mutex<Option<Done>>,
}

/// The result of a change, in the order of its requests.
pub(super) struct Done {
    pub(super) limits: Limits,
    pub(super) now: Timestamp,
    pub(super) recorded: Vec<Recorded>,
    pub(super) permits: Vec<Result<Grant, CallError>>,
}

impl Change {
    pub(super) fn apply(&self, state: Option<&str>, now: Timestamp) -> Option<NewAccountState> {
        let rules = &self.rules;
        let stored = state.and_then(parsed);
        let mut limits = match &stored {
            Some(limits) => limits.clone(),
            // What was sent before is not known.
            None if state.is_some() => Limits::new(rules, now).drained(),
            None => Limits::new(rules, now),
        };
        let before = limits.clone();
        if self.configures {
            limits.configure(rules, now);
        }
        let recorded = self.outcomes.iter();
        let recorded = recorded
            .map(|(grant, outcome, age)| limits.record(now, *age, grant, outcome))
            .collect::<Vec<_>>();
        let permits = self.permits.iter();
        let permits = permits
            .map(|priority| limits.take(now, *priority, rules))
            .collect::<Vec<_>>();
        // A refused permit moves the time up to which the bucket is filled, and nothing else.
        let is_changed = self.configures
            || stored.is_none()
            || !recorded.is_empty()
            || permits.iter().any(Result::is_ok);
        let is_durable = stored.is_none() || limits.is_durable_step(&before, rules);
        let new = is_changed.then(|| NewAccountState {
            state: to_state(&limits),
            is_durable,
        });
        let done = Done {
            limits,
            now,
            recorded,
            permits,
        };
        *self.done.lock() = Some(done);
        new
    }
}

pub(super) fn to_state(limits: &Limits) -> String {
    serde_json::to_string(limits).expect("limits are maps with text keys")
}

/// Returns `None` for limits that cannot be read.
pub(super) fn parsed(state: &str) -> Option<Limits> {
    match serde_json::from_str(state) {
        Ok(limits) => Some(limits),
        Err(error) => {
            tracing::error!(%error, "the limits of the gateway account cannot be read: they begin anew, with an empty budget");
            None
        }
    }
}
