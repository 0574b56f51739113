//! Pause, circuit and budget together.

use super::*;
use crate::ServiceError;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn manners() -> Manners {
    Manners::of(10, at(0))
}

fn sent(manners: &Manners, now: i64, result: &Result<(), CallError>) {
    let leave = manners.ask(at(now), Priority::Create).unwrap();
    leave.settle(at(now), result);
}

fn broken() -> Result<(), CallError> {
    Err(CallError::Broken { status: 500 })
}

#[test]
fn only_a_service_that_does_not_answer_is_taken_for_down() {
    let garbled = CallError::Unclear(Unclear::Garbled(String::new()));
    let refused = CallError::Refused {
        status: 404,
        error: ServiceError::default(),
    };
    for error in [garbled, refused, CallError::Unclear(Unclear::TooLarge)] {
        let manners = manners();
        for n in 0..20 {
            sent(&manners, n / 10, &Err(error.clone()));
        }
        assert!(!manners.is_circuit_open(), "{error}");
    }
    for error in [
        CallError::NotSent(String::new()),
        CallError::Broken { status: 503 },
        CallError::Unclear(Unclear::TimedOut),
        CallError::Unclear(Unclear::Cut(String::new())),
    ] {
        let manners = manners();
        for _ in 0..5 {
            sent(&manners, 0, &Err(error.clone()));
        }
        assert!(manners.is_circuit_open(), "{error}");
    }
}

#[test]
fn what_is_refused_costs_no_budget() {
    let manners = manners();
    for _ in 0..5 {
        sent(&manners, 0, &broken());
    }
    let before = manners.state().budget.room(at(1), Priority::Create);
    for _ in 0..100 {
        let refused = manners.ask(at(1), Priority::Create).unwrap_err();
        assert!(
            matches!(refused, CallError::CircuitOpen { .. }),
            "{refused}"
        );
    }
    assert_eq!(manners.state().budget.room(at(1), Priority::Create), before);
    assert_eq!(manners.room(at(1), Priority::Create), 0);
}

#[test]
fn a_probe_needs_budget_and_does_not_block_the_circuit_without_it() {
    let manners = manners();
    for _ in 0..5 {
        sent(&manners, 0, &broken());
    }
    manners.state().budget = Budget::new(1, at(5)).emptied();
    let refused = manners.ask(at(5), Priority::Create).unwrap_err();
    assert!(
        matches!(refused, CallError::OutOfBudget { .. }),
        "{refused}"
    );
    sent(&manners, 7, &Ok(()));
    assert!(!manners.is_circuit_open());
}

#[test]
fn a_probe_whose_caller_goes_away_is_no_probe() {
    let manners = manners();
    for _ in 0..5 {
        sent(&manners, 0, &broken());
    }
    drop(manners.ask(at(5), Priority::Create).unwrap());
    sent(&manners, 5, &Ok(()));
    assert!(!manners.is_circuit_open());
}

#[test]
fn nothing_is_let_go_within_a_pause() {
    let manners = manners();
    manners.learn_pause(at(0), 429, Some("30"));
    assert_eq!(manners.room(at(29), Priority::Create), 0);
    assert_eq!(
        manners.ask(at(29), Priority::Create).unwrap_err(),
        CallError::RateLimited {
            retry_after: Duration::from_secs(1)
        }
    );
    assert_eq!(manners.room(at(30), Priority::Create), 16);
}

#[test]
fn a_429_is_an_answer_that_slows_us_down() {
    let manners = manners();
    let limited = Err(CallError::RateLimited {
        retry_after: Duration::from_secs(1),
    });
    for _ in 0..20 {
        let leave = manners.ask(at(0), Priority::Create);
        if let Ok(leave) = leave {
            leave.settle::<()>(at(0), &limited);
        }
    }
    assert!(!manners.is_circuit_open());
    assert!(manners.requests_per_minute() < 300);
}
