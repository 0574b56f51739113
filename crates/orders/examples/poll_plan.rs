//! Orders per day that ten requests per second carry: the poll plan beside the one before it, simulated.
//!
//! `cargo run --release --package florin-orders --features fixtures --example poll_plan`. The exit code is 1 when the plan
//! carries less than twice as many.
//!
//! Half of the attempts are never paid, half of all are watched by an open page until they end. An order costs one request
//! for its invoice, and the prices one a minute. The gateway answers each request at once; a poll waits until the budget
//! has room, watched orders first. A *fresh* poll is one of an attempt whose invoice has not ended or whose payment is under
//! way. A rate of orders is carried if every fresh poll is at most [`LATE`] late once the oldest attempts are polled no more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process::ExitCode;

use florin_orders::fixtures::{at, invoice};
use florin_orders::{Invoice, PaymentState, next_poll, watched_poll};
use jiff::{SignedDuration, Timestamp};

/// Requests per second.
const BUDGET: i64 = 10;
/// The longest delay of a fresh poll.
const LATE: i64 = 15;
/// Promised.
const TIMES: u64 = 2;
const DAY: i64 = 86_400;
/// An invoice lasts fifteen minutes.
const INVOICE: i64 = 900;
/// A payment is sent five minutes after the opening, and confirmed half an hour later.
const PAID_AFTER: i64 = 300;
const CONFIRMED_AFTER: i64 = 1800;
/// The page asks each five seconds: `gateway.poll_interval_seconds`.
const INTERVAL: SignedDuration = SignedDuration::from_secs(5);

/// When an attempt is polled next.
#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Before,
    Now,
}

/// An attempt in the simulation. All times are in seconds.
#[derive(Clone, Copy)]
struct Attempt {
    opened_at: i64,
    polled_at: i64,
    state_since: i64,
    state: PaymentState,
    is_paid: bool,
    is_watched: bool,
}

fn main() -> ExitCode {
    let [before, now] = [Plan::Before, Plan::Now].map(most_orders);
    println!(
        "polls of one attempt, on average: {} before, {} now",
        polls_of(Plan::Before),
        polls_of(Plan::Now)
    );
    println!(
        "orders per day at {BUDGET} requests/s, every fresh poll at most {LATE} s late: {before} before, {now} now; \
         {}.{} times (promised: {TIMES})",
        now / before,
        now * 10 / before % 10
    );
    for (plan, name) in [(Plan::Before, "before"), (Plan::Now, "now")] {
        let late = latest_fresh(plan, before * TIMES);
        println!(
            "  {} orders per day, {name}: a fresh poll is up to {late} s late",
            before * TIMES
        );
    }
    ExitCode::from(u8::from(now < before * TIMES))
}

/// Polls of an attempt over its life, averaged over the four kinds.
fn polls_of(plan: Plan) -> u64 {
    let all = (0..4).map(|kind| {
        let mut attempt = Attempt::opened(0, kind);
        let mut polls = 0;
        while let Some(next) = attempt.next(plan) {
            attempt.poll(next);
            polls += 1;
        }
        polls
    });
    all.sum::<u64>() / 4
}

/// The largest rate that is carried, in steps of a fortieth below what the budget allows at most.
fn most_orders(plan: Plan) -> u64 {
    let requests = u64::try_from(BUDGET * DAY).unwrap_or_default();
    let most = requests / (polls_of(plan) + 1);
    let steps = (0..40).map(|step| most - most * step / 40);
    let mut carried = steps.filter(|orders| latest_fresh(plan, *orders) <= LATE);
    carried.next().unwrap_or_default()
}

/// How late the latest fresh poll is at so many orders per day, once the attempts of the first day are polled no more.
fn latest_fresh(plan: Plan, orders_per_day: u64) -> i64 {
    let orders_per_day = i64::try_from(orders_per_day).unwrap_or(i64::MAX);
    let measured_from = match plan {
        Plan::Before => 8 * DAY,
        Plan::Now => 62 * DAY,
    };
    let ends = measured_from + DAY / 4;
    let mut attempts = Vec::new();
    // By time: what is planned. By priority and time: what is due and waits for the budget.
    let mut planned: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut due: [BinaryHeap<Reverse<(i64, usize)>>; 2] = [BinaryHeap::new(), BinaryHeap::new()];
    let mut latest = 0;
    for second in 0..ends {
        let mut budget = BUDGET - i64::from(second % 60 == 0);
        let opened = (second + 1) * orders_per_day / DAY - second * orders_per_day / DAY;
        for _ in 0..opened {
            budget -= 1;
            let attempt = Attempt::opened(second, attempts.len());
            let next = attempt.next(plan).unwrap_or(second);
            planned.push(Reverse((next, attempts.len())));
            attempts.push(attempt);
        }
        while let Some(Reverse((at, number))) = planned.peek().copied() {
            if at > second {
                break;
            }
            planned.pop();
            let is_watched = attempts[number].is_watched_at(second);
            due[usize::from(!is_watched)].push(Reverse((at, number)));
        }
        while budget > 0 {
            let Some(Reverse((at, number))) = due[0].pop().or_else(|| due[1].pop()) else {
                break;
            };
            budget -= 1;
            let attempt = &mut attempts[number];
            if second >= measured_from && attempt.is_fresh() {
                latest = latest.max(second - at);
            }
            attempt.poll(second);
            if let Some(next) = attempt.next(plan) {
                planned.push(Reverse((next.max(second + 1), number)));
            }
        }
    }
    // What still waits is late as well.
    for Reverse((at, number)) in due.into_iter().flatten() {
        if attempts[number].is_fresh() {
            latest = latest.max(ends - at);
        }
    }
    latest
}

impl Attempt {
    fn opened(at: i64, number: usize) -> Self {
        Self {
            opened_at: at,
            polled_at: at,
            state_since: at,
            state: PaymentState::Waiting,
            is_paid: number.is_multiple_of(2),
            is_watched: (number / 2).is_multiple_of(2),
        }
    }

    /// An open page, until the attempt has ended.
    fn is_watched_at(&self, now: i64) -> bool {
        let until = if self.is_paid {
            PAID_AFTER + CONFIRMED_AFTER
        } else {
            INVOICE
        };
        self.is_watched && now < self.opened_at + until
    }

    fn is_fresh(&self) -> bool {
        matches!(
            self.state,
            PaymentState::Waiting | PaymentState::Detected | PaymentState::Confirming
        )
    }

    /// The gateway's response.
    fn poll(&mut self, now: i64) {
        let age = now - self.opened_at;
        let state = if self.is_paid && age >= PAID_AFTER + CONFIRMED_AFTER {
            PaymentState::Settled
        } else if self.is_paid && age >= PAID_AFTER {
            PaymentState::Detected
        } else if age >= INVOICE {
            PaymentState::Expired
        } else {
            PaymentState::Waiting
        };
        if state != self.state {
            (self.state, self.state_since) = (state, now);
        }
        self.polled_at = now;
    }

    fn next(&self, plan: Plan) -> Option<i64> {
        match plan {
            Plan::Before => self.next_before(),
            Plan::Now => self.next_now(),
        }
    }

    /// The plan of this version: the functions that the poller calls.
    fn next_now(&self) -> Option<i64> {
        let now = at(self.polled_at);
        let mut invoice = Invoice {
            payment_state: self.state,
            opened_at: at(self.opened_at),
            expires_at: at(self.opened_at + INVOICE),
            state_since: at(self.state_since),
            observed_at: Some(now),
            ..invoice(1)
        };
        let planned = next_poll(&invoice, now);
        invoice.next_poll_at = planned;
        let watched = self.is_watched_at(self.polled_at);
        let wanted = watched_poll(&invoice, INTERVAL, now).filter(|_| watched);
        wanted.or(planned).map(Timestamp::as_second)
    }

    /// The plan of the first version: a week, by the minute, the quarter of an hour and the hour; an open page each five
    /// seconds until the payment is settled.
    fn next_before(&self) -> Option<i64> {
        let (now, age) = (self.polled_at, self.polled_at - self.opened_at);
        let over_for = age - INVOICE;
        let pause = match self.state {
            PaymentState::Settled => {
                let settled_for = now - self.state_since;
                if settled_for >= 2 * DAY {
                    return None;
                }
                settled_for.max(600)
            }
            _ if self.is_watched_at(now) => 5,
            PaymentState::Waiting if over_for >= 0 => 15,
            PaymentState::Waiting => {
                let pause = if age < 120 { 15 } else { 30 };
                pause.min((-over_for).max(1))
            }
            PaymentState::Detected if age < 3600 => 15,
            PaymentState::Detected => 60,
            _ if over_for < 3600 => 60,
            _ if over_for < DAY => 900,
            _ if over_for < 7 * DAY => 3600,
            _ => return None,
        };
        Some(now + pause)
    }
}
