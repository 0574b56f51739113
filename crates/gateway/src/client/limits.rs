//! How we behave towards the service: one budget for all calls of a client.
//!
//! A call is sent only when no pause is asked for, the service is not known to be down, and the budget has room for a
//! call of this priority. What comes back teaches all three. Nothing here waits or sends: the client does.

mod budget;
mod circuit;
mod retry;
mod retry_after;

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use self::budget::{Budget, Epoch};
use self::circuit::{Change, Circuit};
use self::retry::Quota;
use self::retry_after::Pause;
use super::{CallError, Unclear};

pub use self::retry::RetryPolicy;

/// What a call is worth, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// A customer waits for it to go on: prices, POST /invoice, POST /checkout. A fifth of the budget is kept for these,
    /// and another one is kept from them: whoever opens orders, however many, stops no look.
    Create,
    /// A look at an invoice that a callback asked for. Anybody can send callbacks who has learnt their path, so these get
    /// at most half of the budget.
    Callback,
    /// About an order that somebody watches.
    Watched,
    /// About an order that nobody watches. A fifth of the budget is theirs whatever the watched ones need: who paid and
    /// closed the page is found too.
    Unwatched,
}

/// All that is known of how the service wants to be asked.
#[derive(Debug)]
pub(super) struct Manners(Mutex<State>);

#[derive(Debug)]
struct State {
    pause: Pause,
    circuit: Circuit,
    budget: Budget,
    quota: Quota,
}

/// The leave to send one request. Given back unsettled, it taught nothing: the caller went away.
#[derive(Debug)]
pub(super) struct Leave<'a> {
    manners: &'a Manners,
    epoch: Epoch,
    is_probe: bool,
    is_settled: bool,
}

impl Manners {
    fn new(budget: Budget) -> Self {
        Self(Mutex::new(State {
            pause: Pause::default(),
            circuit: Circuit::default(),
            budget,
            quota: Quota::default(),
        }))
    }

    /// With a budget of so many requests a second.
    pub(super) fn of(requests_per_second: u32, now: Timestamp) -> Self {
        Self::new(Budget::new(requests_per_second, now))
    }

    /// For a service that takes a nonce once: one request a second, and the first one only after a second, since the
    /// process that ended just now may have used this second's.
    pub(super) fn one_a_second(now: Timestamp) -> Self {
        Self::new(Budget::new(1, now).emptied())
    }

    /// Lets one request of this priority go, or says why not and when to ask again.
    pub(super) fn ask(&self, now: Timestamp, priority: Priority) -> Result<Leave<'_>, CallError> {
        let mut state = self.state();
        state.pause.check(now)?;
        let resting = |retry_after| CallError::CircuitOpen { retry_after };
        state.circuit.check(now).map_err(resting)?;
        let over = |retry_after| CallError::OutOfBudget { retry_after };
        let epoch = state.budget.take(now, priority).map_err(over)?;
        Ok(Leave {
            manners: self,
            epoch,
            is_probe: state.circuit.pass(now),
            is_settled: false,
        })
    }

    /// Takes in what the service asked for with an answer, and says how long its pause lasts.
    pub(super) fn learn_pause(&self, now: Timestamp, status: u16, asked: Option<&str>) -> Duration {
        self.state().pause.learn(now, status, asked)
    }

    /// Whether a failed call may be made again.
    pub(super) fn may_repeat(&self) -> bool {
        self.state().quota.take()
    }

    /// How many requests of a priority would be let go now.
    pub(super) fn room(&self, now: Timestamp, priority: Priority) -> u32 {
        let state = self.state();
        if state.pause.check(now).is_err() {
            return 0;
        }
        state
            .budget
            .room(now, priority)
            .min(state.circuit.room(now))
    }

    /// Whether the service is known to be down.
    pub(super) fn is_circuit_open(&self) -> bool {
        self.state().circuit.is_open()
    }

    /// What is left of the pause that the service asked for.
    pub(super) fn pause_left(&self, now: Timestamp) -> Duration {
        match self.state().pause.check(now) {
            Err(CallError::RateLimited { retry_after }) => retry_after,
            _ => Duration::ZERO,
        }
    }

    /// How many requests a minute are sent at most at present.
    pub(super) fn requests_per_minute(&self) -> u64 {
        self.state().budget.requests_per_minute()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is a whole one, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leave<'_> {
    /// What became of the request.
    pub(super) fn settle<T>(mut self, now: Timestamp, result: &Result<T, CallError>) {
        self.is_settled = true;
        let mut state = self.manners.state();
        let answered = match result {
            Ok(_) => {
                state.quota.answered();
                true
            }
            Err(error) => is_alive(error),
        };
        if let Err(CallError::RateLimited { .. }) = result {
            if let Some(per_minute) = state.budget.limited(now, self.epoch) {
                tracing::warn!(
                    requests_per_minute = per_minute,
                    "the payment service limits us: fewer requests are sent from now on"
                );
            }
        } else if answered {
            state.budget.answered(now);
        }
        match state.circuit.record(now, answered, self.is_probe) {
            Some(Change::Opened { rest }) => tracing::warn!(
                rest_seconds = rest.as_secs(),
                "the payment service is down: nothing is sent for a while, then one call tries it"
            ),
            Some(Change::Closed) => tracing::info!("the payment service is up again"),
            None => {}
        }
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if self.is_probe && !self.is_settled {
            self.manners.state().circuit.abandon();
        }
    }
}

/// Whether a failure shows that the service is up. An answer of an odd shape comes from a service that is.
fn is_alive(error: &CallError) -> bool {
    match error {
        CallError::RateLimited { .. }
        | CallError::Refused { .. }
        | CallError::Unclear(Unclear::Garbled(_) | Unclear::TooLarge | Unclear::Status(_)) => true,
        CallError::NotSent(_)
        | CallError::Broken { .. }
        | CallError::Unclear(Unclear::TimedOut | Unclear::Cut(_))
        | CallError::OutOfBudget { .. }
        | CallError::CircuitOpen { .. } => false,
    }
}

#[cfg(test)]
mod tests;
