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

pub use self::budget::Priority;
use self::budget::{Budget, Epoch};
use self::circuit::{Change, Circuit};
use self::retry::RetryBudget;
use self::retry_after::RetryAfter;
use super::{AmbiguousOutcome, CallError};

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
    /// How many pauses had been cut short when it was given.
    cut_short: u32,
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
            cut_short: state.pause.cut_short(),
        })
    }

    /// Returns `true` while the gateway asks for a longer pause than is kept: hardly any call is answered.
    pub(super) fn is_pause_excessive(&self) -> bool {
        self.state().pause.is_cut_short()
    }

    /// Returns `true` if a failed call may be retried.
    pub(super) fn may_retry(&self) -> bool {
        self.state().retry_budget.take()
    }

    /// The number of requests of a priority that would be permitted now, once the `begun` ones are sent.
    pub(super) fn available(&self, now: Timestamp, begun: &[Priority], priority: Priority) -> u32 {
        let state = self.state();
        if state.pause.check(now).is_err() {
            return 0;
        }
        let tries = if state.pause.is_cut_short() {
            1
        } else {
            u32::MAX
        };
        let sent = u32::try_from(begun.len()).unwrap_or(u32::MAX);
        let others = state.circuit.available(now).min(tries);
        state
            .budget
            .available(now, begun, priority)
            .min(others.saturating_sub(sent))
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
    /// Records the status and `Retry-After` of the response; returns how long the pause lasts.
    pub(super) fn record_pause(
        &self,
        now: Timestamp,
        status: u16,
        asked: Option<&str>,
    ) -> Duration {
        let mut state = self.limiter.state();
        let pause = state.pause.learn(now, self.cut_short, status, asked);
        drop(state);
        if let Some(excessive) = pause.excessive {
            tracing::error!(
                retry_after_seconds = excessive.as_secs(),
                status,
                "the gateway asks for a pause that would stop payments: one request is tried each five minutes, ask the gateway"
            );
        }
        pause.left
    }

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
mod tests {
    //! Pause, circuit and budget together.

    use super::*;
    use crate::GatewayError;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn limiter() -> Limiter {
        Limiter::of(10, at(0))
    }

    fn sent(limiter: &Limiter, now: i64, result: &Result<(), CallError>) {
        let permit = limiter.acquire(at(now), Priority::Create).unwrap();
        permit.complete(at(now), result);
    }

    fn broken() -> Result<(), CallError> {
        Err(CallError::Broken { status: 500 })
    }

    #[test]
    fn only_missing_responses_open_the_circuit() {
        let garbled = CallError::Ambiguous(AmbiguousOutcome::InvalidJson(String::new()));
        let refused = CallError::Refused {
            status: 404,
            error: GatewayError::default(),
        };
        for error in [
            garbled,
            refused,
            CallError::Ambiguous(AmbiguousOutcome::TooLarge),
        ] {
            let limiter = limiter();
            for n in 0..20 {
                sent(&limiter, n / 10, &Err(error.clone()));
            }
            assert!(!limiter.is_circuit_open(), "{error}");
        }
        for error in [
            CallError::NotSent(String::new()),
            CallError::Broken { status: 503 },
            CallError::Ambiguous(AmbiguousOutcome::TimedOut),
            CallError::Ambiguous(AmbiguousOutcome::Truncated(String::new())),
        ] {
            let limiter = limiter();
            for _ in 0..5 {
                sent(&limiter, 0, &Err(error.clone()));
            }
            assert!(limiter.is_circuit_open(), "{error}");
        }
    }

    #[test]
    fn what_is_refused_costs_no_budget() {
        let limiter = limiter();
        for _ in 0..5 {
            sent(&limiter, 0, &broken());
        }
        let before = limiter
            .state()
            .budget
            .available(at(1), &[], Priority::Create);
        for _ in 0..100 {
            let refused = limiter.acquire(at(1), Priority::Create).unwrap_err();
            assert!(
                matches!(refused, CallError::CircuitOpen { .. }),
                "{refused}"
            );
        }
        assert_eq!(
            limiter
                .state()
                .budget
                .available(at(1), &[], Priority::Create),
            before
        );
        assert_eq!(limiter.available(at(1), &[], Priority::Create), 0);
    }

    #[test]
    fn a_probe_needs_budget_and_does_not_block_the_circuit_without_it() {
        let limiter = limiter();
        for _ in 0..5 {
            sent(&limiter, 0, &broken());
        }
        limiter.state().budget = Budget::new(1, at(5)).drained();
        let refused = limiter.acquire(at(5), Priority::Create).unwrap_err();
        assert!(
            matches!(refused, CallError::OutOfBudget { .. }),
            "{refused}"
        );
        sent(&limiter, 7, &Ok(()));
        assert!(!limiter.is_circuit_open());
    }

    #[test]
    fn a_probe_whose_caller_goes_away_is_no_probe() {
        let limiter = limiter();
        for _ in 0..5 {
            sent(&limiter, 0, &broken());
        }
        drop(limiter.acquire(at(5), Priority::Create).unwrap());
        sent(&limiter, 5, &Ok(()));
        assert!(!limiter.is_circuit_open());
    }

    #[test]
    fn nothing_is_let_go_within_a_pause() {
        let limiter = limiter();
        let permit = limiter.acquire(at(0), Priority::Create).unwrap();
        permit.record_pause(at(0), 429, Some("30"));
        drop(permit);
        assert_eq!(limiter.available(at(29), &[], Priority::Create), 0);
        assert_eq!(
            limiter.acquire(at(29), Priority::Create).unwrap_err(),
            CallError::RateLimited {
                retry_after: Duration::from_secs(1)
            }
        );
        assert_eq!(limiter.available(at(30), &[], Priority::Create), 16);
    }

    #[test]
    fn a_429_lowers_the_rate_and_keeps_the_circuit_closed() {
        let limiter = limiter();
        let refusal = Err(CallError::RateLimited {
            retry_after: Duration::from_secs(1),
        });
        for _ in 0..20 {
            let permit = limiter.acquire(at(0), Priority::Create);
            if let Ok(permit) = permit {
                permit.complete::<()>(at(0), &refusal);
            }
        }
        assert!(!limiter.is_circuit_open());
        assert!(limiter.requests_per_minute() < 300);
    }
}
