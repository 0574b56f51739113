//! Retries: after which failures, how soon, and their budget.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::http::Call;
use crate::client::{CallError, Random};

/// The first one included: with the deadlines' defaults a call ends within about half a minute at the worst.
const TRIES: u32 = 3;
/// Bound of the first wait, doubled for the second.
const FIRST_DELAY_MS: u64 = 200;

/// How long to wait before the next try after `tries` failed ones; `None` when there is to be none.
///
/// The wait is a random time up to its bound, so that many clients which failed together do not come back together.
pub(in crate::client) fn delay(
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
    if !may_pass || !call.is_repeatable() || tries >= TRIES {
        return None;
    }
    let bound = FIRST_DELAY_MS << tries.saturating_sub(1);
    Some(Duration::from_millis(random.below(bound + 1)))
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
    pub(super) fn take(&mut self) -> bool {
        let left = self.0.checked_sub(REPETITION);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    pub(super) fn answered(&mut self) {
        self.0 = (self.0 + ANSWERED).min(FULL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AmbiguousOutcome, GatewayError};

    struct Largest;

    impl Random for Largest {
        fn below(&self, bound: u64) -> u64 {
            bound - 1
        }
    }

    #[test]
    fn a_read_that_may_have_failed_by_chance_is_tried_three_times_with_doubling_waits() {
        let (read, write) = ([Some(200), Some(400), None], [None; 3]);
        let failed = CallError::Broken { status: 503 };
        let refused = CallError::Refused {
            status: 404,
            error: GatewayError::default(),
        };
        let pause = CallError::RateLimited {
            retry_after: Duration::ZERO,
        };
        for (call, error, expected) in [
            (Call::Prices, &failed, read),
            (Call::Invoice, &failed, read),
            (Call::Confirm, &failed, read),
            (Call::Read, &failed, read),
            (Call::Read, &CallError::NotSent("refused".into()), read),
            (
                Call::Read,
                &CallError::Ambiguous(AmbiguousOutcome::TimedOut),
                read,
            ),
            (Call::CreateInvoice, &failed, write),
            (Call::Checkout, &failed, write),
            (Call::Write, &failed, write),
            (Call::Read, &refused, write),
            (Call::Read, &pause, write),
        ] {
            let delay = |tries| delay(call, error, tries, &Largest);
            let delays = [1, 2, 3].map(|tries| delay(tries).map(|delay| delay.as_millis()));
            assert_eq!(delays, expected, "{call:?} {error}");
        }
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
