//! The budget in numbers, on a clock that is moved by hand.

use super::*;

fn at_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn at(second: i64) -> Timestamp {
    at_ms(second * 1000)
}

fn ten() -> Budget {
    Budget::new(10, at(0))
}

fn taken(budget: &mut Budget, now: Timestamp, priority: Priority) -> usize {
    let room = budget.available(now, &[], priority);
    let count = (0..1000)
        .take_while(|_| budget.take(now, priority).is_ok())
        .count();
    assert_eq!(room as usize, count, "the room that was promised");
    count
}

/// Two seconds' worth may go at once, and then the rate holds; a fifth is for creates, a fifth for
/// polls; a clock that is set back gives nothing and takes nothing.
#[test]
fn each_priority_takes_its_share_and_leaves_room_for_those_above() {
    use Priority::{Callback, Create, Unwatched, Watched};
    let full_again = [
        (0, Create, 16),
        (1, Create, 10),
        (1000, Create, 16),
        (1000, Callback, 2),
        (1000, Unwatched, 1),
        (1000, Watched, 1),
    ];
    let polls_first = [
        (0, Unwatched, 10),
        (0, Watched, 4),
        (0, Callback, 2),
        (0, Create, 4),
    ];
    let set_back = [(1000, Create, 16), (10, Create, 0), (11, Create, 10)];
    for steps in [
        &full_again[..],
        &polls_first,
        &set_back,
        &[(0, Callback, 10)],
        &[(0, Watched, 10)],
    ] {
        let mut budget = ten();
        for (second, priority, count) in steps.iter().copied() {
            let taken = taken(&mut budget, at(second), priority);
            assert_eq!(taken, count, "{second} {priority:?} of {steps:?}");
        }
    }
    let mut budget = ten();
    taken(&mut budget, at(0), Create);
    let next = budget.take(at(0), Create);
    assert_eq!(next, Err(Duration::from_millis(100)));
}

#[test]
fn polls_of_watched_orders_leave_one_for_the_others_at_every_rate() {
    for halvings in 0..9 {
        let mut budget = ten();
        for _ in 0..halvings {
            budget.limited(at(0), budget.epoch);
        }
        let filled = at(1000);
        let watched = budget.available(filled, &[], Priority::Watched);
        let begun = vec![Priority::Watched; watched as usize];
        let left = budget.available(filled, &begun, Priority::Unwatched);
        assert!(watched >= 1 && left >= 1, "after {halvings} halvings");
    }
}

/// How many of each are let go in ten minutes in which all of them always ask.
fn in_a_flood(requests_per_second: u32, priorities: &[Priority]) -> Vec<usize> {
    let mut budget = Budget::new(requests_per_second, at(0)).drained();
    let mut taken = vec![0; priorities.len()];
    for n in 1..=60_000 {
        for (count, priority) in taken.iter_mut().zip(priorities) {
            while budget.take(at_ms(n * 10), *priority).is_ok() {
                *count += 1;
            }
        }
    }
    taken
}

/// Who always asks, and the least that each gets, in percent of the rate. A few calls are what the reserve takes until it is
/// full.
#[test]
fn in_a_flood_each_priority_gets_its_share_and_callbacks_half_at_most() {
    use Priority::{Callback, Create, Unwatched, Watched};
    let floods: [(&[Priority], &[usize]); 8] = [
        (&[Create], &[99]),
        (&[Callback], &[50]),
        (&[Watched], &[99]),
        (&[Watched, Unwatched], &[75, 20]),
        (&[Create, Callback], &[80, 10]),
        (&[Create, Watched], &[80, 20]),
        (&[Create, Unwatched], &[80, 20]),
        (&[Create, Callback, Watched, Unwatched], &[80, 10, 5, 4]),
    ];
    let rates = [1, 10, 50].into_iter();
    for (rate, (priorities, shares)) in rates.flat_map(|rate| floods.map(|flood| (rate, flood))) {
        let all = rate as usize * 600;
        let taken = in_a_flood(rate, priorities);
        assert!(taken.iter().sum::<usize>() <= all, "{rate}: {taken:?}");
        for ((priority, taken), share) in priorities.iter().zip(taken).zip(shares) {
            let least = all * share / 100;
            assert!(
                taken + 3 >= least,
                "{rate}: {taken} of {all}, {priority:?} of {priorities:?}"
            );
            let is_enough = *priority != Callback || taken <= all / 2 + 3;
            assert!(is_enough, "{rate}: {taken} of {all}");
        }
    }
}

#[test]
fn a_429_halves_the_rate_once_for_all_that_was_under_way() {
    let mut budget = ten();
    let together: Vec<_> = (0..8)
        .map(|_| budget.take(at(0), Priority::Create).unwrap())
        .collect();
    let lowered = |requests_per_minute| LimitEvent::RateLowered {
        requests_per_minute,
    };
    let events: Vec<_> = together
        .iter()
        .filter_map(|epoch| budget.limited(at(1), *epoch))
        .collect();
    assert_eq!(events, [lowered(300)]);
    let later = budget.take(at(1), Priority::Create).unwrap();
    assert_eq!(budget.limited(at(1), later), Some(lowered(150)));
}

#[test]
fn the_rate_never_falls_below_one_request_in_thirty_seconds() {
    let mut budget = ten();
    for _ in 0..40 {
        let epoch = budget.epoch;
        budget.limited(at(0), epoch);
    }
    assert_eq!(budget.requests_per_minute(), 1);
    assert_eq!(taken(&mut budget, at(0), Priority::Create), 1);
    assert_eq!(
        budget
            .take(at(0), Priority::Create)
            .map_err(|d| d.as_secs()),
        Err(30)
    );
    assert_eq!(taken(&mut budget, at(31), Priority::Create), 1);
    assert_eq!(taken(&mut budget, at(500), Priority::Unwatched), 1);
}

#[test]
fn every_minute_of_responses_restores_a_tenth_of_the_rate() {
    let mut budget = ten();
    let epoch = budget.epoch;
    budget.limited(at(0), epoch);
    let rates: Vec<_> = (1..=6)
        .map(|minute| {
            budget.answered(at(minute * 60));
            budget.requests_per_minute()
        })
        .collect();
    assert_eq!(rates, [360, 420, 480, 540, 600, 600]);
    // However often answers come, and however long none came.
    let halved = || {
        let mut budget = ten();
        budget.limited(at(0), budget.epoch);
        budget
    };
    let mut often = halved();
    for n in 1..=600 {
        often.answered(at_ms(n * 100));
    }
    assert!((359..=360).contains(&often.requests_per_minute()));
    let mut silent = halved();
    silent.answered(at(24 * 3600));
    assert_eq!(silent.requests_per_minute(), 360);
}

#[test]
fn an_emptied_budget_of_one_a_second_never_gives_two_for_one_second_twice() {
    let mut budget = Budget::new(1, at(0)).drained();
    let given: Vec<_> = (0..=100)
        .filter(|tenth| budget.take(at_ms(tenth * 100), Priority::Create).is_ok())
        .collect();
    // The reserve takes its part of each second until it is full, which takes ten.
    assert_eq!(given, [13, 25, 38, 50, 63, 75, 88, 100]);
}
