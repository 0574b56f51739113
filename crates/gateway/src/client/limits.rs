//! The limits of a gateway account: rate, circuit breaker, Retry-After, retry budget and nonces.
//!
//! A call is sent only if no Retry-After pause lasts, the circuit is closed, and the budget allows
//! a call of this priority. Every outcome updates all of them. Everything here
//! is pure: [`super::limiter`] keeps the limits in the row of the account.

mod budget;
mod circuit;
mod retry;
mod retry_after;

use core::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use self::budget::Priority;
use self::budget::{Budget, Epoch};
use self::circuit::Circuit;
use self::retry::RetryBudget;
pub(super) use self::retry::delay as retry_delay;
use self::retry_after::RetryAfter;
pub use self::retry_after::retry_after;
use super::error::{Outcome, OutcomeKind, Response};
use super::nonces::Nonces;
use super::{CallError, NonceRule};
use crate::Nonce;

/// When to ask again while the only call that may be sent is under way.
const CALL_TAKES: Duration = Duration::from_millis(100);
/// Time after which a call without a response can no longer reach the gateway.
const UNANSWERED_GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// `true` while the circuit is open: only probes are sent.
    pub is_circuit_open: bool,
    /// The rest of the Retry-After pause.
    pub pause: Duration,
    /// `true` while the gateway asks for a pause of more than five minutes. One call tries each five minutes.
    pub is_pause_excessive: bool,
    /// The present rate limit, in calls per minute.
    pub requests_per_minute: u64,
    /// How far its clock is ahead of ours, in whole seconds; `None` before its first response.
    pub skew: Option<SignedDuration>,
    /// `true` if the gateway rejected the last call whose key it checked (401).
    pub is_key_rejected: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) requests_per_second: u32,
    pub(super) nonces: NonceRule,
    /// A call has ended by then, or its process has.
    pub(super) lease: Duration,
    pub(super) is_shared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limits {
    pause: RetryAfter,
    circuit: Circuit,
    budget: Budget,
    retry_budget: RetryBudget,
    nonces: Nonces,
    grants: u64,
    /// The only call that may be sent, where nonces must increase in the order in which the gateway receives them.
    in_flight: Option<InFlight>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InFlight {
    number: u64,
    until: Timestamp,
    lease: Duration,
}

#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) nonce: Nonce,
    number: u64,
    epoch: Epoch,
    probe: Option<u32>,
    /// Number of capped pauses when it was given.
    capped: u32,
}

/// The effect of an outcome on its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) pause: Duration,
    /// The nonce was refused because our clock is off; the next one is by the gateway's clock.
    pub(super) clock_was_off: bool,
    /// The retry budget has room for the retry that the caller wants.
    pub(super) may_retry: bool,
    pub(super) events: Vec<LimitEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitEvent {
    ExcessivePause { asked: Duration, status: u16 },
    RateLowered { requests_per_minute: u64 },
    CircuitOpened { rest: Duration },
    CircuitClosed,
    ClockOff { seconds: i64 },
}

impl Limits {
    pub(super) fn new(rules: &Rules, now: Timestamp) -> Self {
        Self {
            pause: RetryAfter::default(),
            circuit: Circuit::default(),
            budget: budget(rules, now),
            retry_budget: RetryBudget::default(),
            nonces: Nonces::new(rules.nonces),
            grants: 0,
            in_flight: None,
        }
    }

    /// With an empty budget: the requests before are not known.
    pub(super) fn drained(mut self) -> Self {
        self.budget = self.budget.drained();
        self
    }

    pub(super) fn configure(&mut self, rules: &Rules, now: Timestamp) {
        if self.nonces.rule != rules.nonces {
            self.nonces.rule = rules.nonces;
            self.budget = budget(rules, now);
        } else if rules.nonces == NonceRule::MayRepeat {
            self.budget.set_full(now, rules.requests_per_second);
        }
    }

    pub(super) fn take(
        &mut self,
        now: Timestamp,
        priority: Priority,
        rules: &Rules,
    ) -> Result<Grant, CallError> {
        let retry_after = self.pause.left(now);
        if !retry_after.is_zero() {
            return Err(CallError::RateLimited { retry_after });
        }
        let resting = |retry_after| CallError::CircuitOpen { retry_after };
        self.circuit.check(now).map_err(resting)?;
        let over = |retry_after| CallError::OutOfBudget { retry_after };
        if let Some(left) = self.in_flight_left(now) {
            return Err(over(left.min(CALL_TAKES)));
        }
        let epoch = self.budget.take(now, priority).map_err(over)?;
        self.pause.pass(now);
        self.grants += 1;
        if self.is_serial(rules) {
            self.in_flight = Some(InFlight {
                number: self.grants,
                until: after(now, rules.lease),
                lease: rules.lease,
            });
        }
        Ok(Grant {
            nonce: self.nonces.next(now),
            number: self.grants,
            epoch,
            probe: self.circuit.pass(now, rules.lease),
            capped: self.pause.capped,
        })
    }

    /// Records the outcome of a permitted request, which was known `age` ago.
    pub(super) fn record(
        &mut self,
        now: Timestamp,
        age: Duration,
        grant: &Grant,
        outcome: &Outcome,
    ) -> Recorded {
        self.release(now, grant, outcome);
        let mut recorded = Recorded::default();
        if matches!(outcome.kind, OutcomeKind::Unsent | OutcomeKind::Abandoned) {
            if let Some(probe) = grant.probe {
                self.circuit.abandon(probe);
            }
            return recorded;
        }
        if let Some(response) = &outcome.response {
            self.on_response(now, age, grant, response, &mut recorded);
        }
        let answered = match outcome.kind {
            OutcomeKind::Success => {
                self.retry_budget.answered();
                true
            }
            OutcomeKind::Alive | OutcomeKind::RateLimited => true,
            _ => false,
        };
        if outcome.kind == OutcomeKind::RateLimited {
            recorded
                .events
                .extend(self.budget.limited(now, grant.epoch));
        } else if answered {
            self.budget.answered(now);
        }
        let change = self.circuit.record(now, answered, grant.probe);
        recorded.events.extend(change);
        recorded.may_retry = outcome.wants_retry && self.retry_budget.take();
        recorded
    }

    /// Takes in the headers of a response. A pause lasts from now on, which is longer than asked for if
    /// the database was away.
    fn on_response(
        &mut self,
        now: Timestamp,
        age: Duration,
        grant: &Grant,
        response: &Response,
        recorded: &mut Recorded,
    ) {
        let (status, asked) = (response.status, response.retry_after.as_deref());
        let excessive = self.pause.on_response(now, grant.capped, status, asked);
        recorded.pause = self.pause.left(now);
        let excessive = excessive.map(|asked| LimitEvent::ExcessivePause { asked, status });
        recorded.events.extend(excessive);
        let then = now.saturating_sub(age).unwrap_or(now);
        let date = response.date.as_deref();
        let clock = self.nonces.on_response(then, grant.nonce, status, date);
        recorded.clock_was_off = clock.was_off;
        let off = clock.correction_s;
        let off = off.map(|seconds| LimitEvent::ClockOff { seconds });
        recorded.events.extend(off);
    }

    /// The next call may be sent once this one is answered, or cannot reach the gateway any more.
    fn release(&mut self, now: Timestamp, grant: &Grant, outcome: &Outcome) {
        let Some(in_flight) = &mut self.in_flight else {
            return;
        };
        if in_flight.number != grant.number {
            return;
        }
        if outcome.may_be_on_its_way() {
            in_flight.until = in_flight.until.min(after(now, UNANSWERED_GRACE));
        } else {
            self.in_flight = None;
        }
    }

    pub(super) fn available(
        &self,
        now: Timestamp,
        begun: &[Priority],
        priority: Priority,
        rules: &Rules,
    ) -> u32 {
        if !self.pause.left(now).is_zero() || self.in_flight_left(now).is_some() {
            return 0;
        }
        let tries = if self.pause.is_capped || self.is_serial(rules) {
            1
        } else {
            u32::MAX
        };
        let sent = u32::try_from(begun.len()).unwrap_or(u32::MAX);
        let others = self.circuit.available(now).min(tries);
        self.budget
            .available(now, begun, priority)
            .min(others.saturating_sub(sent))
    }

    pub(super) fn health(&self, now: Timestamp) -> Health {
        Health {
            is_circuit_open: self.circuit.is_open(),
            pause: self.pause.left(now),
            is_pause_excessive: self.pause.is_capped,
            requests_per_minute: self.budget.requests_per_minute(),
            skew: self.nonces.skew(),
            is_key_rejected: false,
        }
    }

    /// Returns `true` if a crash of the database must not lose the step from `before`: a pause, a circuit, a nonce.
    pub(super) fn is_durable_step(&self, before: &Self, rules: &Rules) -> bool {
        self.is_serial(rules)
            || self.pause != before.pause
            || self.circuit.phase != before.circuit.phase
            || self.nonces.rule != before.nonces.rule
    }

    /// Returns `true` if the outcome of a call is needed at once by the calls that follow.
    pub(super) fn is_waiting_for_outcomes(&self) -> bool {
        self.in_flight.is_some() || self.pause.is_capped || self.circuit.is_open()
    }

    fn is_serial(&self, rules: &Rules) -> bool {
        rules.is_shared && self.nonces.rule == NonceRule::MustIncrease
    }

    /// How long the only call that may be sent still holds back others.
    fn in_flight_left(&self, now: Timestamp) -> Option<Duration> {
        let InFlight { until, lease, .. } = self.in_flight?;
        Some(left(until, lease, now)).filter(|left| !left.is_zero())
    }
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    now.saturating_add(time).unwrap_or(Timestamp::MAX)
}

/// The rest of a pause or a lease. If it exceeds the longest one, the clock was set back: treat it
/// as over.
fn left(until: Timestamp, longest: Duration, now: Timestamp) -> Duration {
    let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    if left > longest { Duration::ZERO } else { left }
}

/// For a gateway that accepts a nonce once: one request a second, the first one after a second, because a process that keeps
/// its limits for itself may have used this second's nonce.
fn budget(rules: &Rules, now: Timestamp) -> Budget {
    match rules.nonces {
        NonceRule::MayRepeat => Budget::new(rules.requests_per_second, now),
        NonceRule::MustIncrease => Budget::new(1, now).drained(),
    }
}

impl LimitEvent {
    pub(super) fn log(self) {
        match self {
            Self::ExcessivePause { asked, status } => tracing::error!(
                retry_after_seconds = asked.as_secs(),
                status,
                "the gateway asks for a pause that would stop payments: one request is tried each five minutes, ask the gateway"
            ),
            Self::RateLowered {
                requests_per_minute,
            } => tracing::warn!(
                requests_per_minute,
                "the gateway limits us: fewer requests are sent from now on"
            ),
            Self::CircuitOpened { rest } => tracing::warn!(
                rest_seconds = rest.as_secs(),
                "the gateway is down: nothing is sent for a while, then one call tries it"
            ),
            Self::CircuitClosed => tracing::info!("the gateway is up again"),
            Self::ClockOff { seconds } => tracing::warn!(
                skew_seconds = seconds,
                "this machine's clock is not the gateway's: nonces follow the gateway's"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
