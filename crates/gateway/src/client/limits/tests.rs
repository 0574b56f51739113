//! Pause, circuit, budget and nonces together.

use super::*;
use crate::GatewayError;
use crate::client::AmbiguousOutcome;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

const RULES: Rules = Rules {
    requests_per_second: 10,
    nonces: NonceRule::MayRepeat,
    lease: Duration::from_secs(15),
    is_shared: false,
};
/// Several processes, and each nonce once only.
const SERIAL: Rules = Rules {
    nonces: NonceRule::MustIncrease,
    is_shared: true,
    ..RULES
};

fn limits() -> Limits {
    Limits::new(&RULES, at(0))
}

fn take(limits: &mut Limits, now: i64) -> Result<Grant, CallError> {
    limits.take(at(now), Priority::Create, &RULES)
}

fn complete(limits: &mut Limits, now: i64, grant: &Grant, result: &Result<(), CallError>) {
    let outcome = Outcome::of(None, result);
    limits.record(at(now), Duration::ZERO, grant, &outcome);
}

fn sent(limits: &mut Limits, now: i64, result: &Result<(), CallError>) {
    let grant = take(limits, now).unwrap();
    complete(limits, now, &grant, result);
}

fn response(status: u16, retry_after: Option<&str>, date: Option<&str>) -> Outcome {
    let response = Response {
        status,
        retry_after: retry_after.map(str::to_owned),
        date: date.map(str::to_owned),
    };
    let result = match status {
        429 => Err(CallError::RateLimited {
            retry_after: Duration::ZERO,
        }),
        _ => Ok(()),
    };
    Outcome::of(Some(response), &result)
}

fn limited(seconds: &str) -> Outcome {
    response(429, Some(seconds), None)
}

fn broken() -> Result<(), CallError> {
    Err(CallError::Broken { status: 500 })
}

#[test]
fn only_missing_responses_open_the_circuit() {
    let refused = CallError::Refused {
        status: 404,
        error: GatewayError::default(),
    };
    let invalid = AmbiguousOutcome::InvalidJson(String::new());
    let truncated = AmbiguousOutcome::Truncated(String::new());
    for (error, expected) in [
        (refused, false),
        (CallError::Ambiguous(invalid), false),
        (CallError::Ambiguous(AmbiguousOutcome::TooLarge), false),
        (CallError::NotSent(String::new()), true),
        (CallError::Broken { status: 503 }, true),
        (CallError::Ambiguous(AmbiguousOutcome::TimedOut), true),
        (CallError::Ambiguous(truncated), true),
    ] {
        let mut limits = limits();
        for _ in 0..5 {
            sent(&mut limits, 0, &Err(error.clone()));
        }
        assert_eq!(limits.circuit.is_open(), expected, "{error}");
    }
}

#[test]
fn what_is_refused_costs_no_budget() {
    let mut limits = limits();
    for _ in 0..5 {
        sent(&mut limits, 0, &broken());
    }
    let before = limits.budget.available(at(1), &[], Priority::Create);
    for _ in 0..100 {
        let refused = take(&mut limits, 1).unwrap_err();
        assert!(
            matches!(refused, CallError::CircuitOpen { .. }),
            "{refused}"
        );
    }
    let after = limits.budget.available(at(1), &[], Priority::Create);
    assert_eq!(after, before);
    assert_eq!(limits.available(at(1), &[], Priority::Create, &RULES), 0);
}

#[test]
fn a_probe_needs_budget_and_does_not_block_the_circuit_without_it() {
    let mut limits = limits();
    for _ in 0..5 {
        sent(&mut limits, 0, &broken());
    }
    limits.budget = Budget::new(1, at(5)).drained();
    let refused = take(&mut limits, 5).unwrap_err();
    assert!(
        matches!(refused, CallError::OutOfBudget { .. }),
        "{refused}"
    );
    sent(&mut limits, 7, &Ok(()));
    assert!(!limits.circuit.is_open());
}

#[test]
fn a_probe_whose_caller_goes_away_is_no_probe() {
    for outcome in [Outcome::ABANDONED, Outcome::UNSENT] {
        let mut limits = limits();
        for _ in 0..5 {
            sent(&mut limits, 0, &broken());
        }
        let probe = take(&mut limits, 5).unwrap();
        limits.record(at(5), Duration::ZERO, &probe, &outcome);
        sent(&mut limits, 5, &Ok(()));
        assert!(!limits.circuit.is_open());
    }
}

#[test]
fn a_429_pauses_halves_the_rate_and_keeps_the_circuit_closed() {
    let mut limits = limits();
    let grants = [(); 6].map(|()| take(&mut limits, 0).unwrap());
    for grant in &grants {
        let recorded = limits.record(at(0), Duration::ZERO, grant, &limited("30"));
        assert_eq!(recorded.pause, Duration::from_secs(30));
    }
    assert!(!limits.circuit.is_open());
    assert_eq!(limits.available(at(29), &[], Priority::Create, &RULES), 0);
    let pause = CallError::RateLimited {
        retry_after: Duration::from_secs(1),
    };
    assert_eq!(take(&mut limits, 29).unwrap_err(), pause);
    assert_eq!(limits.health(at(30)).requests_per_minute, 300);
    assert_eq!(limits.available(at(30), &[], Priority::Create, &RULES), 8);
}

#[test]
fn after_a_capped_pause_one_call_tries() {
    let mut limits = limits();
    let grant = take(&mut limits, 0).unwrap();
    limits.record(at(0), Duration::ZERO, &grant, &limited("86400"));
    assert!(limits.health(at(0)).is_pause_excessive);
    take(&mut limits, 299).unwrap_err();
    assert_eq!(limits.available(at(300), &[], Priority::Create, &RULES), 1);
    let probe = take(&mut limits, 300).unwrap();
    take(&mut limits, 300).unwrap_err();
    limits.record(at(301), Duration::ZERO, &probe, &response(200, None, None));
    assert!(!limits.health(at(301)).is_pause_excessive);
    assert!(limits.available(at(301), &[], Priority::Create, &RULES) > 1);
}

#[test]
fn a_date_is_compared_with_the_clock_of_its_time() {
    let mut limits = limits();
    let grant = take(&mut limits, 1_700_000_060).unwrap();
    let dated = response(200, None, Some("Tue, 14 Nov 2023 22:13:20 GMT"));
    let now = at(1_700_000_060);
    limits.record(now, Duration::from_mins(1), &grant, &dated);
    let skew = limits.health(now).skew.map(|skew| skew.as_secs());
    assert_eq!(skew, Some(0));
}

#[test]
fn where_several_processes_share_increasing_nonces_one_call_is_under_way() {
    let mut limits = Limits::new(&SERIAL, at(0));
    let take = |limits: &mut Limits, now| limits.take(at(now), Priority::Create, &SERIAL);
    let first = take(&mut limits, 9).unwrap();
    assert_eq!(limits.available(at(9), &[], Priority::Create, &SERIAL), 0);
    let refused = take(&mut limits, 9).unwrap_err();
    assert_eq!(
        refused,
        CallError::OutOfBudget {
            retry_after: CALL_TAKES
        }
    );
    complete(&mut limits, 9, &first, &Ok(()));
    let second = take(&mut limits, 12).unwrap();
    assert!(second.nonce > first.nonce);
    // A process that dies keeps the others waiting for its lease alone.
    take(&mut limits, 26).unwrap_err();
    let third = take(&mut limits, 27).unwrap();
    assert!(third.nonce > second.nonce);
    complete(&mut limits, 28, &second, &Ok(()));
    assert!(limits.in_flight_left(at(28)).is_some());
}

#[test]
fn a_call_without_an_answer_may_be_on_its_way_for_two_seconds() {
    let timed_out = Err(CallError::Ambiguous(AmbiguousOutcome::TimedOut));
    let lost = Outcome::of::<()>(None, &timed_out);
    for outcome in [lost, Outcome::ABANDONED] {
        let mut limits = Limits::new(&SERIAL, at(0));
        let grant = limits.take(at(9), Priority::Create, &SERIAL).unwrap();
        limits.record(at(10), Duration::ZERO, &grant, &outcome);
        let refused = limits.take(at(11), Priority::Create, &SERIAL);
        refused.unwrap_err();
        limits.take(at(12), Priority::Create, &SERIAL).unwrap();
    }
}

#[test]
fn limits_are_the_same_after_they_were_stored() {
    let mut limits = limits();
    for n in 0..5 {
        let stored = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&stored).unwrap(), limits);
        sent(&mut limits, n, &broken());
    }
    let probe = take(&mut limits, 20).unwrap();
    limits.record(at(20), Duration::ZERO, &probe, &limited("4000"));
    limits.record(at(21), Duration::ZERO, &probe, &Outcome::ABANDONED);
    let stored = serde_json::to_string(&limits).unwrap();
    assert_eq!(serde_json::from_str::<Limits>(&stored).unwrap(), limits);
}

#[test]
fn a_process_that_starts_changes_the_rate_unless_the_gateway_has_lowered_it() {
    let twenty = Rules {
        requests_per_second: 20,
        ..RULES
    };
    let per_minute = |limits: &Limits| limits.health(at(9)).requests_per_minute;
    let mut raised = limits();
    raised.configure(&twenty, at(9));
    assert_eq!(per_minute(&raised), 1200);
    let mut lowered = limits();
    let grant = take(&mut lowered, 0).unwrap();
    lowered.record(at(0), Duration::ZERO, &grant, &limited("1"));
    lowered.configure(&twenty, at(9));
    assert_eq!(per_minute(&lowered), 300);
    lowered.configure(&SERIAL, at(9));
    assert_eq!(per_minute(&lowered), 60);
    assert_eq!(lowered.available(at(9), &[], Priority::Create, &SERIAL), 0);
}
