//! The record of a clock that was wrong.

/// Milliseconds: since 1970, or since a simulation began.
pub type Millis = i64;

/// How far the proxy's clock was ahead of the gateway's, from one moment to the next.
#[derive(Clone, Debug, Default)]
pub struct ClockRecord {
    /// Every change, oldest first.
    pub changes: Vec<ClockChange>,
    /// The end of the record, by the right clock.
    pub until: Millis,
}

/// A change of the proxy's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// When, by the right clock.
    pub at: Millis,
    /// How far the proxy's clock is ahead since then; negative when it is behind.
    pub ahead: Millis,
}

impl ClockRecord {
    /// The right time when the proxy's clock showed `shown`: the latest one, if it showed that more than once.
    pub fn right_time(&self, shown: Millis) -> Millis {
        self.right_times(shown).into_iter().max().unwrap_or(shown)
    }

    /// Every right time when the proxy's clock showed `shown`: several after it was set back; `shown` if no record has it.
    pub fn right_times(&self, shown: Millis) -> Vec<Millis> {
        let always_right = ClockChange {
            at: Millis::MIN,
            ahead: 0,
        };
        let changes: Vec<_> = std::iter::once(always_right)
            .chain(self.changes.iter().copied())
            .collect();
        let ends = changes.iter().skip(1).map(|change| change.at);
        let spans = changes.iter().zip(ends.chain([self.until]));
        let times = spans.filter_map(|(change, end)| {
            let time = shown - change.ahead;
            (change.at..end).contains(&time).then_some(time)
        });
        let times: Vec<_> = times.collect();
        if times.is_empty() { vec![shown] } else { times }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(changes: &[(Millis, Millis)]) -> ClockRecord {
        let changes = changes.iter().map(|(at, ahead)| ClockChange {
            at: *at,
            ahead: *ahead,
        });
        ClockRecord {
            changes: changes.collect(),
            until: 5000,
        }
    }

    #[test]
    fn a_time_of_a_wrong_clock_is_made_right_and_one_that_it_showed_twice_is_both() {
        const HOUR: Millis = 3_600_000;
        let wrong = clock(&[(1000, HOUR), (2000, 0), (3000, -HOUR), (4000, 0)]);
        for right in [500, 2500, 4500] {
            assert_eq!(wrong.right_time(right), right);
        }
        assert_eq!(wrong.right_time(1500 + HOUR), 1500);
        assert_eq!(wrong.right_time(3500 - HOUR), 3500);
        assert_eq!(ClockRecord::default().right_time(7), 7);
        let twice = clock(&[(1000, 300), (1200, 0)]);
        assert_eq!(twice.right_times(1400), [1100, 1400]);
        assert_eq!(twice.right_time(1400), 1400);
        assert_eq!(twice.right_times(1600), [1600]);
    }
}
