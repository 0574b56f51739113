//! The latest finding of the storage monitor: can orders be stored?

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct StorageHealth(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    outage: Option<Outage>,
    written_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Outage {
    since: Timestamp,
    reason: String,
}

/// Logs an error of the storage, with its fields and message, unless it is an outage: the storage monitor reports that, once.
macro_rules! error_unless_outage {
    ($error:expr, $($fields_and_message:tt)+) => {
        if $error.outage().is_none() {
            tracing::error!(error = %$error, $($fields_and_message)+);
        }
    };
}
pub(crate) use error_unless_outage;

impl StorageHealth {
    /// Why nothing can be stored, for the operator; `None` if orders can be stored.
    pub(crate) fn reason(&self) -> Option<String> {
        let state = self.0.lock();
        state.outage.as_ref().map(|outage| outage.reason.clone())
    }

    /// Returns `true` if a write succeeded less than `fresh` ago, and no check failed since.
    pub(crate) fn is_fresh(&self, now: Timestamp, fresh: SignedDuration) -> bool {
        let state = self.0.lock();
        let age = state.written_at.map(|at| now.duration_since(at));
        // A clock that was set back makes nothing fresh for longer.
        state.outage.is_none()
            && age.is_some_and(|age| (SignedDuration::ZERO..fresh).contains(&age))
    }

    /// Records a write that succeeded. Returns the length of the outage that it ends.
    pub(crate) fn record_success(&self, now: Timestamp) -> Option<SignedDuration> {
        let mut state = self.0.lock();
        state.written_at = Some(now);
        let ended = state.outage.take();
        ended.map(|outage| now.duration_since(outage.since))
    }

    /// Records a check that failed. Returns `true` if it begins an outage.
    pub(crate) fn record_failure(&self, now: Timestamp, reason: &str) -> bool {
        let mut state = self.0.lock();
        let is_news = state.outage.is_none();
        let since = state.outage.as_ref().map_or(now, |outage| outage.since);
        let reason = reason.to_owned();
        state.outage = Some(Outage { since, reason });
        is_news
    }
}
