//! The retry policy.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::http::Call;
use crate::client::{CallError, Random, RetryPolicy};

impl RetryPolicy {
    /// How long to wait before the next try after `tries` failed ones; `None` when there is to be none.
    pub(in crate::client) fn delay(
        &self,
        call: Call,
        error: &CallError,
        tries: u32,
        random: &dyn Random,
    ) -> Option<Duration> {
        let may_pass = match error {
            CallError::NotSent(_) | CallError::Ambiguous(_) | CallError::Broken { .. } => true,
            // A pause is kept, and a refusal stays one.
            CallError::RateLimited { .. }
            | CallError::Refused { .. }
            | CallError::OutOfBudget { .. }
            | CallError::CircuitOpen { .. }
            | CallError::NoLimits(_) => false,
        };
        if !may_pass || !call.is_repeatable() || tries >= self.tries {
            return None;
        }
        let doubled = 2_u32.saturating_pow(tries.saturating_sub(1));
        let bound = self
            .first_delay
            .saturating_mul(doubled)
            .min(self.longest_delay);
        let bound_ms = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX - 1);
        Some(Duration::from_millis(random.below(bound_ms + 1)))
    }
}

/// A budget for retries, so that they never double the load on a failing gateway.
///
/// Source: AWS SDKs and Tools Reference Guide, "Retry behavior" (standard mode): a bucket of 500, 5 for a repetition, 1
/// back for a call that succeeds at once. The bucket is a fifth of theirs: one proxy, not a fleet's client.
const FULL: u32 = 100;
const REPETITION: u32 = 5;
const ANSWERED: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RetryBudget(u32);

impl Default for RetryBudget {
    fn default() -> Self {
        Self(FULL)
    }
}

impl RetryBudget {
    /// Takes a repetition out of the retry budget, if there is one.
    pub(super) fn take(&mut self) -> bool {
        let left = self.0.checked_sub(REPETITION);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// A call was answered.
    pub(super) fn answered(&mut self) {
        self.0 = (self.0 + ANSWERED).min(FULL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AmbiguousOutcome, GatewayError};

    /// Always the largest.
    struct Largest;

    impl Random for Largest {
        fn below(&self, bound: u64) -> u64 {
            bound - 1
        }
    }

    fn delay(call: Call, error: &CallError, tries: u32) -> Option<u128> {
        let policy = RetryPolicy::default();
        policy
            .delay(call, error, tries, &Largest)
            .map(|delay| delay.as_millis())
    }

    fn passing() -> [CallError; 3] {
        [
            CallError::NotSent("refused".into()),
            CallError::Ambiguous(AmbiguousOutcome::TimedOut),
            CallError::Broken { status: 503 },
        ]
    }

    #[test]
    fn what_may_pass_is_tried_three_times_with_doubling_waits() {
        for call in [Call::Prices, Call::Invoice, Call::Confirm, Call::Read] {
            for error in passing() {
                assert_eq!(
                    [1, 2, 3].map(|tries| delay(call, &error, tries)),
                    [Some(200), Some(400), None]
                );
            }
        }
    }

    #[test]
    fn what_makes_something_new_is_never_repeated() {
        for call in [Call::CreateInvoice, Call::Checkout, Call::Write] {
            for error in passing() {
                assert_eq!(delay(call, &error, 1), None);
            }
        }
    }

    #[test]
    fn a_pause_and_a_refusal_are_not_argued_with() {
        let pause = CallError::RateLimited {
            retry_after: Duration::ZERO,
        };
        let refusal = CallError::Refused {
            status: 404,
            error: GatewayError::default(),
        };
        for error in [pause, refusal] {
            assert_eq!(delay(Call::Invoice, &error, 1), None);
        }
    }

    #[test]
    fn no_wait_is_longer_than_the_longest() {
        let policy = RetryPolicy {
            tries: u32::MAX,
            ..RetryPolicy::default()
        };
        let error = CallError::Broken { status: 500 };
        let delay = policy.delay(Call::Prices, &error, 4_000_000, &Largest);
        assert_eq!(delay, Some(Duration::from_secs(2)));
    }

    #[test]
    fn twenty_retries_are_free_and_then_one_per_five_responses() {
        let mut retry_budget = RetryBudget::default();
        let free = (0..1000).filter(|_| retry_budget.take()).count();
        assert_eq!(free, 20);
        let mut repeated = 0;
        for _ in 0..100 {
            retry_budget.answered();
            repeated += u32::from(retry_budget.take());
        }
        assert_eq!(repeated, 20);
        for _ in 0..1000 {
            retry_budget.answered();
        }
        assert_eq!((0..1000).filter(|_| retry_budget.take()).count(), 20);
    }
}
