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
    let before = limiter.state().budget.available(at(1), Priority::Create);
    for _ in 0..100 {
        let refused = limiter.acquire(at(1), Priority::Create).unwrap_err();
        assert!(
            matches!(refused, CallError::CircuitOpen { .. }),
            "{refused}"
        );
    }
    assert_eq!(
        limiter.state().budget.available(at(1), Priority::Create),
        before
    );
    assert_eq!(limiter.available(at(1), Priority::Create), 0);
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
    limiter.record_pause(at(0), 429, Some("30"));
    assert_eq!(limiter.available(at(29), Priority::Create), 0);
    assert_eq!(
        limiter.acquire(at(29), Priority::Create).unwrap_err(),
        CallError::RateLimited {
            retry_after: Duration::from_secs(1)
        }
    );
    assert_eq!(limiter.available(at(30), Priority::Create), 16);
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
