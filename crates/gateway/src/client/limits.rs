//! Client-side limits: rate, circuit breaker, Retry-After, retry budget. All calls of a client
//! share them.
//!
//! A call is sent only if no Retry-After pause lasts, the circuit is closed, and the budget allows
//! a call of this priority. Every outcome updates all three. The client does the waiting and
//! sending.

mod budget;
mod circuit;
mod retry;
mod retry_after;

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use self::budget::{Budget, Epoch};
use self::circuit::{Change, Circuit};
use self::retry::RetryBudget;
use self::retry_after::RetryAfter;
use super::{AmbiguousOutcome, CallError};

pub use self::budget::Priority;

/// The limits of a client.
#[derive(Debug)]
pub(super) struct Limiter(Mutex<State>);

#[derive(Debug)]
struct State {
    pause: RetryAfter,
    circuit: Circuit,
    budget: Budget,
    retry_budget: RetryBudget,
}

/// Permission to send one request. Dropped without `complete`, it records no outcome: the caller was cancelled.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    limiter: &'a Limiter,
    epoch: Epoch,
    is_probe: bool,
    is_completed: bool,
}

impl Limiter {
    fn new(budget: Budget) -> Self {
        Self(Mutex::new(State {
            pause: RetryAfter::default(),
            circuit: Circuit::default(),
            budget,
            retry_budget: RetryBudget::default(),
        }))
    }

    /// With a budget of so many requests a second.
    pub(super) fn of(requests_per_second: u32, now: Timestamp) -> Self {
        Self::new(Budget::new(requests_per_second, now))
    }

    /// For a gateway that accepts a nonce once: one request a second, the first one after a second,
    /// because a previous process may have used this second's nonce.
    pub(super) fn one_a_second(now: Timestamp) -> Self {
        Self::new(Budget::new(1, now).drained())
    }

    /// Permits one request of this priority, or returns why not and when to try again.
    pub(super) fn acquire(
        &self,
        now: Timestamp,
        priority: Priority,
    ) -> Result<Permit<'_>, CallError> {
        let mut state = self.state();
        state.pause.check(now)?;
        let resting = |retry_after| CallError::CircuitOpen { retry_after };
        state.circuit.check(now).map_err(resting)?;
        let over = |retry_after| CallError::OutOfBudget { retry_after };
        let epoch = state.budget.take(now, priority).map_err(over)?;
        state.pause.pass(now);
        Ok(Permit {
            limiter: self,
            epoch,
            is_probe: state.circuit.pass(now),
            is_completed: false,
        })
    }

    /// Records the status and `Retry-After` of a response; returns how long the pause lasts.
    pub(super) fn record_pause(
        &self,
        now: Timestamp,
        status: u16,
        asked: Option<&str>,
    ) -> Duration {
        let pause = self.state().pause.learn(now, status, asked);
        if let Some(excessive) = pause.excessive {
            tracing::error!(
                retry_after_seconds = excessive.as_secs(),
                status,
                "the gateway asks for a pause that would stop payments: one request is tried each five minutes, ask the gateway"
            );
        }
        pause.left
    }

    /// Returns `true` while the gateway asks for a longer pause than is kept: hardly any call is answered.
    pub(super) fn is_pause_excessive(&self) -> bool {
        self.state().pause.is_cut_short()
    }

    /// Returns `true` if a failed call may be retried.
    pub(super) fn may_retry(&self) -> bool {
        self.state().retry_budget.take()
    }

    /// The number of requests of a priority that would be permitted now.
    pub(super) fn available(&self, now: Timestamp, priority: Priority) -> u32 {
        let state = self.state();
        if state.pause.check(now).is_err() {
            return 0;
        }
        let tries = if state.pause.is_cut_short() {
            1
        } else {
            u32::MAX
        };
        state
            .budget
            .available(now, priority)
            .min(state.circuit.available(now))
            .min(tries)
    }

    /// Returns `true` while the circuit is open.
    pub(super) fn is_circuit_open(&self) -> bool {
        self.state().circuit.is_open()
    }

    /// The rest of the Retry-After pause.
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

impl Permit<'_> {
    /// Records the outcome of the request.
    pub(super) fn complete<T>(mut self, now: Timestamp, result: &Result<T, CallError>) {
        self.is_completed = true;
        let mut state = self.limiter.state();
        let answered = match result {
            Ok(_) => {
                state.retry_budget.answered();
                true
            }
            Err(error) => is_alive(error),
        };
        if let Err(CallError::RateLimited { .. }) = result {
            if let Some(per_minute) = state.budget.limited(now, self.epoch) {
                tracing::warn!(
                    requests_per_minute = per_minute,
                    "the gateway limits us: fewer requests are sent from now on"
                );
            }
        } else if answered {
            state.budget.answered(now);
        }
        match state.circuit.record(now, answered, self.is_probe) {
            Some(Change::Opened { rest }) => tracing::warn!(
                rest_seconds = rest.as_secs(),
                "the gateway is down: nothing is sent for a while, then one call tries it"
            ),
            Some(Change::Closed) => tracing::info!("the gateway is up again"),
            None => {}
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_probe && !self.is_completed {
            self.limiter.state().circuit.abandon();
        }
    }
}

/// Returns `true` if a failure shows that the gateway is up. An unreadable response still comes
/// from a running gateway.
fn is_alive(error: &CallError) -> bool {
    match error {
        CallError::RateLimited { .. }
        | CallError::Refused { .. }
        | CallError::Ambiguous(
            AmbiguousOutcome::InvalidJson(_)
            | AmbiguousOutcome::TooLarge
            | AmbiguousOutcome::Status(_),
        ) => true,
        CallError::NotSent(_)
        | CallError::Broken { .. }
        | CallError::Ambiguous(AmbiguousOutcome::TimedOut | AmbiguousOutcome::Truncated(_))
        | CallError::OutOfBudget { .. }
        | CallError::CircuitOpen { .. } => false,
    }
}

#[cfg(test)]
mod tests;
