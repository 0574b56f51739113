//! One change of the account's row: outcomes, then permits.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::super::CallError;
use super::super::account_row::NewAccountState;
use super::super::limits::{Grant, Limits, Outcome, Priority, Recorded, Rules};

/// A change that may be applied again: the last time counts.
pub(super) struct Change {
    pub(super) rules: Rules,
    /// It stores the configuration of this process.
    pub(super) configures: bool,
    /// Each with the time since it was known.
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
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        new
    }

    pub(super) fn take_done(&self) -> Option<Done> {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// The limits as the row keeps them.
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
