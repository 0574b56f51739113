//! The limit of requests per second.

use jiff::Timestamp;
use parking_lot::Mutex;

/// Counts requests in the current second.
#[derive(Debug)]
pub(crate) struct RateLimit {
    /// 0: no limit.
    per_second: u32,
    /// The second, and the requests in it.
    counted: Mutex<(i64, u32)>,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32) -> Self {
        let counted = Mutex::new((0, 0));
        Self {
            per_second,
            counted,
        }
    }

    /// Returns `true` if one more request is within the limit.
    pub(crate) fn admits(&self, now: Timestamp) -> bool {
        let mut counted = self.counted.lock();
        let second = now.as_second();
        if counted.0 != second {
            *counted = (second, 0);
        }
        counted.1 = counted.1.saturating_add(1);
        self.per_second == 0 || counted.1 <= self.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_anew_each_second() {
        let limit = RateLimit::new(2);
        let at = |second| Timestamp::from_second(second).unwrap();
        let admitted = [1, 1, 1, 2, 2, 2].map(|second| limit.admits(at(second)));
        assert_eq!(admitted, [true, true, false, true, true, false]);
        assert!((0..9).all(|_| RateLimit::new(0).admits(at(1))));
    }
}
