//! Counts the calls of a minute, for a service that takes only so many.

use jiff::Timestamp;

const WINDOW_SECONDS: i64 = 60;

/// The window that is open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Throttle {
    since: i64,
    calls: u32,
}

impl Throttle {
    /// Counts a call; when it is one too many, says how many seconds are left until calls are taken again.
    ///
    /// `Assumed:` a window begins with a call and lasts a minute; refused calls are not counted.
    pub(crate) fn count(&mut self, now: Timestamp, limit: u32) -> Result<(), u32> {
        let now = now.as_second();
        if !(self.since..self.since.saturating_add(WINDOW_SECONDS)).contains(&now) {
            *self = Self {
                since: now,
                calls: 0,
            };
        }
        if self.calls >= limit {
            let left = self.since.saturating_add(WINDOW_SECONDS) - now;
            return Err(u32::try_from(left).expect("a minute at most"));
        }
        self.calls += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_takes_so_many_calls_and_the_next_as_many() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut throttle = Throttle::default();
        assert_eq!(throttle.count(at(1_000), 2), Ok(()));
        assert_eq!(throttle.count(at(1_020), 2), Ok(()));
        assert_eq!(throttle.count(at(1_020), 2), Err(40));
        assert_eq!(throttle.count(at(1_059), 2), Err(1));
        assert_eq!(throttle.count(at(1_060), 2), Ok(()));
    }
}
