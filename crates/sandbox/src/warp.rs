//! Time that can be moved: jumped forward, stopped, or run faster than the clock.

use jiff::{SignedDuration, Timestamp};

/// How the sandbox's time follows the clock. The service's own clock, which nonces are compared with, is not moved by
/// it: whoever lets an invoice run out still signs with the time of day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warp {
    /// The clock's time at the last change.
    clock_at: Timestamp,
    /// The sandbox's time at the last change.
    here_at: Timestamp,
    /// Seconds here for one of the clock: 0 stands still.
    speed: u32,
}

/// A jump of ten years is a slip of the finger.
pub(crate) const MAX_JUMP_SECONDS: u32 = 366 * 24 * 60 * 60;
/// A week in a second would be none either.
pub(crate) const MAX_SPEED: u32 = 3_600;

impl Warp {
    /// Time as the clock has it.
    pub(crate) fn none(clock: Timestamp) -> Self {
        Self {
            clock_at: clock,
            here_at: clock,
            speed: 1,
        }
    }

    /// What time it is here when the clock says so.
    pub(crate) fn here(&self, clock: Timestamp) -> Timestamp {
        let passed = clock.duration_since(self.clock_at);
        let speed = i32::try_from(self.speed).expect("speeds are below 3600");
        let passed = passed.checked_mul(speed).unwrap_or(SignedDuration::MAX);
        self.here_at.saturating_add(passed).unwrap_or(self.here_at)
    }

    pub(crate) fn jump(&mut self, seconds: u32, clock: Timestamp) {
        let here = self.here(clock);
        let jump = SignedDuration::from_secs(i64::from(seconds));
        self.clock_at = clock;
        self.here_at = here.saturating_add(jump).unwrap_or(here);
    }

    pub(crate) fn set_speed(&mut self, speed: u32, clock: Timestamp) {
        self.here_at = self.here(clock);
        self.clock_at = clock;
        self.speed = speed.min(MAX_SPEED);
    }

    pub(crate) fn speed(&self) -> u32 {
        self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn time_follows_the_clock_until_it_is_moved() {
        let mut warp = Warp::none(at(100));
        assert_eq!(warp.here(at(160)), at(160));
        warp.jump(900, at(160));
        assert_eq!(warp.here(at(161)), at(1_061));
    }

    #[test]
    fn a_changed_speed_counts_from_then_on() {
        let mut warp = Warp::none(at(100));
        warp.set_speed(60, at(110));
        assert_eq!(warp.here(at(111)), at(170));
        warp.set_speed(0, at(111));
        assert_eq!(warp.here(at(500)), at(170));
        warp.set_speed(1, at(500));
        assert_eq!(warp.here(at(501)), at(171));
    }
}
