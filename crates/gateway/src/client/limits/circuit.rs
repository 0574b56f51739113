//! The circuit breaker: after repeated failures nothing is sent except one probe at a time.

use core::time::Duration;
use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LimitEvent, after, left};

/// Failures in a row that open the circuit.
const STRAIGHT_FAILURES: u32 = 5;
/// Latest calls of which more than half must have failed to open the circuit.
const WINDOW: usize = 20;
/// The first rest. Every probe that fails doubles it.
const FIRST_REST: Duration = Duration::from_secs(5);
/// The longest rest: recovery is noticed soon.
const LONGEST_REST: Duration = Duration::from_mins(1);
const PROBE_TAKES: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Circuit {
    pub(super) phase: Phase,
    probes: u32,
    straight: u32,
    /// `true` for each of the last calls that failed, the newest last.
    recent: VecDeque<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub(super) enum Phase {
    #[default]
    Closed,
    /// Nothing is sent before `until`; the next call after that is the probe.
    Open { until: Timestamp, rest: Duration },
    /// The probe is under way: a lease until its caller must have ended.
    Probing {
        until: Timestamp,
        lease: Duration,
        rest: Duration,
    },
}

impl Circuit {
    /// Refuses while the circuit is open; the error is the time until the next probe.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), Duration> {
        let left = match self.phase {
            Phase::Closed => Duration::ZERO,
            Phase::Open { until, rest } => left(until, rest, now),
            // Over when the process that sent the probe has ended.
            Phase::Probing { until, lease, .. } => left(until, lease, now).min(PROBE_TAKES),
        };
        if left.is_zero() { Ok(()) } else { Err(left) }
    }

    /// Records that a call is sent. Returns the number of the probe if it is one: its caller ends within `lease`.
    pub(super) fn pass(&mut self, now: Timestamp, lease: Duration) -> Option<u32> {
        self.check(now).ok()?;
        let (Phase::Open { rest, .. } | Phase::Probing { rest, .. }) = self.phase else {
            return None;
        };
        self.probes = self.probes.wrapping_add(1);
        self.phase = Phase::Probing {
            until: after(now, lease),
            lease,
            rest,
        };
        Some(self.probes)
    }

    pub(super) fn available(&self, now: Timestamp) -> u32 {
        match self.phase {
            Phase::Closed => u32::MAX,
            _ => u32::from(self.check(now).is_ok()),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Closed)
    }

    /// Records whether a call was answered. Calls sent before the circuit opened are ignored.
    pub(super) fn record(
        &mut self,
        now: Timestamp,
        answered: bool,
        probe: Option<u32>,
    ) -> Option<LimitEvent> {
        match self.phase {
            Phase::Closed => {
                self.count(!answered);
                if !self.is_down() {
                    return None;
                }
                Some(self.open(now, FIRST_REST))
            }
            Phase::Probing { rest, .. } if probe == Some(self.probes) => {
                if answered {
                    *self = Self {
                        probes: self.probes,
                        ..Self::default()
                    };
                    return Some(LimitEvent::CircuitClosed);
                }
                Some(self.open(now, (rest * 2).min(LONGEST_REST)))
            }
            Phase::Open { .. } | Phase::Probing { .. } => None,
        }
    }

    /// The probe's caller went away: the next call is the probe.
    pub(super) fn abandon(&mut self, probe: u32) {
        if let Phase::Probing { rest, .. } = self.phase
            && probe == self.probes
        {
            self.phase = Phase::Open {
                until: Timestamp::MIN,
                rest,
            };
        }
    }

    fn count(&mut self, failed: bool) {
        self.straight = if failed { self.straight + 1 } else { 0 };
        self.recent.push_back(failed);
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
    }

    fn is_down(&self) -> bool {
        let failed = self.recent.iter().filter(|failed| **failed).count();
        self.straight >= STRAIGHT_FAILURES || failed > WINDOW / 2
    }

    fn open(&mut self, now: Timestamp, rest: Duration) -> LimitEvent {
        self.phase = Phase::Open {
            until: after(now, rest),
            rest,
        };
        LimitEvent::CircuitOpened { rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    const LEASE: Duration = Duration::from_secs(15);

    fn opened(rest: u64) -> LimitEvent {
        let rest = Duration::from_secs(rest);
        LimitEvent::CircuitOpened { rest }
    }

    fn down() -> Circuit {
        let mut circuit = Circuit::default();
        for n in 1..=5 {
            let change = circuit.record(at(0), false, None);
            assert_eq!(change, (n == 5).then(|| opened(5)), "{n}");
        }
        circuit
    }

    #[test]
    fn more_than_half_of_twenty_failures_open_it_too() {
        let failed = |every: u32| {
            let mut circuit = Circuit::default();
            (1..1000).find(|call| {
                circuit.record(at(0), call % every == 0, None);
                circuit.is_open()
            })
        };
        // Eleven of sixteen, never five in a row; half is not more than half.
        assert_eq!((failed(3), failed(2)), (Some(16), None));
    }

    #[test]
    fn one_probe_at_a_time_is_let_through_and_its_failure_doubles_the_rest_up_to_a_minute() {
        let mut circuit = down();
        assert_eq!(circuit.check(at(4)), Err(Duration::from_secs(1)));
        assert_eq!((circuit.available(at(4)), circuit.available(at(5))), (0, 1));
        let mut now = 5;
        for rest in [10, 20, 40, 60, 60] {
            let probe = circuit.pass(at(now), LEASE);
            assert!(probe.is_some());
            assert_eq!(circuit.check(at(now)), Err(PROBE_TAKES), "one at a time");
            assert_eq!(circuit.record(at(now), true, None), None, "an earlier call");
            assert_eq!(circuit.record(at(now), false, probe), Some(opened(rest)));
            now += i64::try_from(rest).unwrap();
        }
        let probe = circuit.pass(at(now), LEASE);
        assert_eq!(
            circuit.record(at(now), true, probe),
            Some(LimitEvent::CircuitClosed)
        );
        for _ in 0..4 {
            assert_eq!(circuit.record(at(now), false, None), None);
        }
        assert_eq!(circuit.record(at(now), false, None), Some(opened(5)));
    }

    #[test]
    fn a_probe_of_a_process_that_died_ends_with_its_lease_and_decides_nothing_later() {
        let mut circuit = down();
        let dead = circuit.pass(at(5), LEASE);
        assert_eq!(circuit.check(at(19)), Err(PROBE_TAKES));
        assert_eq!(circuit.pass(at(19), LEASE), None);
        let next = circuit.pass(at(20), LEASE);
        assert!(next.is_some() && next != dead);
        assert_eq!(circuit.record(at(21), false, dead), None);
        circuit.abandon(dead.unwrap());
        assert_eq!(circuit.check(at(21)), Err(PROBE_TAKES), "one at a time");
        assert_eq!(
            circuit.record(at(22), true, next),
            Some(LimitEvent::CircuitClosed)
        );
    }
}
