//! Replanning: polls and deliveries whose times were computed while the clock was ahead are made due once the clock is right.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::state::{AppState, error_unless_outage};

/// A clock that goes back by more was set back.
const SET_BACK: SignedDuration = SignedDuration::from_secs(5);
/// The longest poll or delivery. One that was in progress as the clock was set back may store a plan by the wrong time until
/// then.
const LONGEST: SignedDuration = SignedDuration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) async fn run(app: Arc<AppState>) {
    let mut replanning = Replanning::new(app.clone());
    while !app.shutdown.is_cancelled() {
        replanning.step().await;
        app.pause(INTERVAL).await;
    }
}

/// Compares this machine's clock with the latest reading: also with one of a clock that was ahead for a moment between two steps.
#[derive(Debug)]
pub struct Replanning {
    app: Arc<AppState>,
    readings: Readings,
}

impl Replanning {
    pub(crate) fn new(app: Arc<AppState>) -> Self {
        let readings = Readings::AT_START;
        Self { app, readings }
    }

    /// Reads the clock, and makes due what was planned before it was set back. Returns when the next step has to be made at
    /// the latest; `None` if nothing requires one. A failure of the storage leaves the work to the next step.
    pub async fn step(&mut self) -> Option<Timestamp> {
        self.readings.note(self.app.take_latest_reading());
        let now = self.app.now();
        if !self.readings.require_replanning(now) {
            self.readings.latest = now;
        } else if replan_future(&self.app, now).await {
            self.readings.replanned(now);
        }
        self.readings.again_at
    }
}

#[derive(Debug)]
struct Readings {
    latest: Timestamp,
    again_at: Option<Timestamp>,
}

impl Readings {
    /// A start counts as a set-back: the clock may have been set while no process ran.
    const AT_START: Self = Self {
        latest: Timestamp::MAX,
        again_at: None,
    };

    fn note(&mut self, read: Option<Timestamp>) {
        self.latest = self.latest.max(read.unwrap_or(self.latest));
    }

    fn require_replanning(&self, now: Timestamp) -> bool {
        self.is_set_back(now) || self.again_at.is_some_and(|at| now >= at)
    }

    fn replanned(&mut self, now: Timestamp) {
        self.again_at = self.is_set_back(now).then(|| now + LONGEST);
        self.latest = now;
    }

    fn is_set_back(&self, now: Timestamp) -> bool {
        now < self.latest - SET_BACK
    }
}

async fn replan_future(app: &AppState, now: Timestamp) -> bool {
    match app.storage.replan_future(now).await {
        Ok(0) => true,
        Ok(planned) => {
            tracing::warn!(
                planned,
                "this machine's clock was set back: what was planned by it is done now"
            );
            app.poller_wakeup.notify_one();
            app.wake_dispatcher();
            true
        }
        Err(error) => {
            error_unless_outage!(error, "failed to plan anew after the clock was set back");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// The seconds at which plans are searched, of those in which the clock is read.
    fn replanned_at(readings: &mut Readings, seconds: &[i64]) -> Vec<i64> {
        let mut replanned = Vec::new();
        for &second in seconds {
            if readings.require_replanning(at(second)) {
                readings.replanned(at(second));
                replanned.push(second);
            } else {
                readings.latest = at(second);
            }
        }
        replanned
    }

    #[test]
    fn plans_are_searched_at_a_start_after_a_clock_was_set_back_and_a_minute_later() {
        let running = || Readings {
            latest: at(1000),
            again_at: None,
        };
        let set_back: &[i64] = &[1001, 996, 990, 600, 601, 659, 660, 661, 800];
        let cases: [(_, &[i64], &[i64]); 3] = [
            (
                Readings::AT_START,
                &[100, 101, 159, 160, 161, 300],
                &[100, 160],
            ),
            (running(), set_back, &[990, 600, 660]),
            // A clock that jumps ahead plans nothing anew.
            (running(), &[9000, 9001], &[]),
        ];
        for (mut readings, read, searched) in cases {
            assert_eq!(replanned_at(&mut readings, read), searched);
        }
    }

    #[test]
    fn a_clock_that_was_ahead_between_two_steps_is_noticed() {
        let mut readings = Readings {
            latest: at(1000),
            again_at: None,
        };
        readings.note(None);
        assert!(!readings.require_replanning(at(1001)));
        readings.note(Some(at(4600)));
        assert!(readings.require_replanning(at(1001)));
    }
}
