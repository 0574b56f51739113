//! How late polls are when an installation opens as many orders as the gateway's limit permits, simulated.
//!
//! `cargo run --release --package florin-orders --features fixtures --example poll_plan`. The exit code is 1 when a fresh poll is
//! later than promised.
//!
//! Half of the attempts are never paid, half of all are watched by an open page until they end. An order costs one request
//! for its invoice, and the prices one a minute. The gateway answers each request at once; a poll waits until the budget
//! has room, watched orders first. A *fresh* poll is one of an attempt whose invoice has not ended or whose payment is under
//! way. It is measured once the oldest attempts are polled no more.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::process::ExitCode;

use florin_orders::fixtures::{at, invoice};
use florin_orders::{Invoice, PaymentState, Stretch, eager_pause, next_poll, watched_pause};
use jiff::{SignedDuration, Timestamp};

/// Requests per second.
const BUDGET: i64 = 10;
const ORDERS_PER_DAY: i64 = 5_000;
/// Promised: the longest delay of a fresh poll, in seconds.
const PROMISED: i64 = 15;
const DAY: i64 = 86_400;
/// The oldest attempts are polled no more.
const MEASURED_FROM: i64 = 62 * DAY;
const ENDS: i64 = MEASURED_FROM + DAY / 4;
/// An invoice lasts fifteen minutes.
const INVOICE: i64 = 900;
/// A payment is sent five minutes after the opening, and confirmed half an hour later.
const PAID_AFTER: i64 = 300;
const CONFIRMED_AFTER: i64 = 1800;
/// `gateway.poll_interval_seconds`.
const INTERVAL: SignedDuration = SignedDuration::from_secs(5);

/// As the poller adjusts the pauses of watched attempts: each ten seconds, to half of the budget.
const MEASURED_EACH: i64 = 10;
const WATCHED_PERCENT: u64 = 50;

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
    let late = latest_fresh();
    println!(
        "  {ORDERS_PER_DAY} orders per day at {BUDGET} requests/s: a fresh poll is up to {late} s late (promised: {PROMISED} s)"
    );
    ExitCode::from(u8::from(late > PROMISED))
}

fn latest_fresh() -> i64 {
    let mut attempts: Vec<Attempt> = Vec::new();
    // By time: what is planned. By priority and time: what is due and waits for the budget.
    let mut planned: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut due: [BinaryHeap<Reverse<(i64, usize)>>; 2] = [BinaryHeap::new(), BinaryHeap::new()];
    let mut latest = 0;
    // What may be watched, and when it is polled next.
    let mut young: VecDeque<(usize, i64)> = VecDeque::new();
    let mut stretch = Stretch::NONE;
    for second in 0..ENDS {
        if second % MEASURED_EACH == 0 {
            young.retain(|(number, _)| attempts[*number].is_watched_at(second));
            stretch = measured(stretch, &young, second);
        }
        let mut budget = BUDGET - i64::from(second % 60 == 0);
        let opened = (second + 1) * ORDERS_PER_DAY / DAY - second * ORDERS_PER_DAY / DAY;
        for _ in 0..opened {
            budget -= 1;
            let attempt = Attempt::opened(second, attempts.len());
            let next = attempt.next(stretch).unwrap_or(second);
            young.push_back((attempts.len(), next));
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
            if second >= MEASURED_FROM && attempt.is_fresh() {
                latest = latest.max(second - at);
            }
            attempt.poll(second);
            if let Some(next) = attempt.next(stretch) {
                let next = next.max(second + 1);
                planned.push(Reverse((next, number)));
                if let Some(known) = young.iter_mut().find(|(known, _)| *known == number) {
                    known.1 = next;
                }
            }
        }
    }
    // What still waits is late as well.
    for Reverse((at, number)) in due.into_iter().flatten() {
        if attempts[number].is_fresh() {
            latest = latest.max(ENDS - at);
        }
    }
    latest
}

/// The factor of the pauses of watched attempts, by those that are due in the shortest pause.
fn measured(stretch: Stretch, young: &VecDeque<(usize, i64)>, second: i64) -> Stretch {
    let shortest = eager_pause(INTERVAL).as_millis();
    let is_due = |next: i64| i128::from(next - second) * 1000 <= shortest;
    let due = young.iter().filter(|(_, next)| is_due(*next)).count();
    let allowed = i128::from(BUDGET) * shortest * i128::from(WATCHED_PERCENT) / 100;
    let allowed = u64::try_from(allowed).unwrap_or(u64::MAX);
    stretch.next(due as u64 * 1000, allowed)
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

    /// When it is polled next: the functions that the poller calls.
    fn next(&self, stretch: Stretch) -> Option<i64> {
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
        let pause =
            watched_pause(&invoice, stretch.scale_interval(INTERVAL), now).filter(|_| watched);
        let wanted = pause.map(|pause| now + pause);
        wanted.or(planned).map(Timestamp::as_second)
    }
}
