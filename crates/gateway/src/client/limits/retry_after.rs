//! The pause that the gateway asks for with 429 or `Retry-After`. All calls of a client observe it.
//!
//! Source: payment-service.md, "Errors" and "Limits": 429 when the rate limit is exceeded, to be retried with
//! exponential back-off; numbers are not shown. `Retry-After` is RFC 9110, section 10.2.3: seconds or a date.

use core::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde::{Deserialize, Serialize};

use crate::CallError;

/// Without `Retry-After`: 1 s, doubled by every further 429 …
const FIRST_S: u64 = 1;
/// … up to five minutes.
const LONGEST_S: u64 = 5 * 60;
/// While one call tries whether a pause that was cut short is over, the others wait for its response.
const TRY_S: u64 = 30;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RetryAfter {
    /// Nothing is sent before this.
    until: Option<Timestamp>,
    /// Consecutive 429 responses.
    strikes: u32,
    /// A longer pause was asked for than is kept. It may be a mistake, and payments are found only by calls: so one call
    /// tries each five minutes, until the gateway answers.
    is_cut_short: bool,
    /// How many pauses were cut short so far.
    cut_short: u32,
}

/// What a response says about the pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// How long it lasts.
    pub(super) left: Duration,
    /// How long the gateway asks for, when that is longer than any pause that is kept, and was not before.
    pub(super) excessive: Option<Duration>,
}

impl RetryAfter {
    /// Refuses while the pause lasts.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), CallError> {
        let retry_after = self.left(now);
        if retry_after.is_zero() {
            Ok(())
        } else {
            Err(CallError::RateLimited { retry_after })
        }
    }

    /// Records that a call is sent. After a pause that was cut short it is the only one until its response.
    pub(super) fn pass(&mut self, now: Timestamp) {
        self.end_if_over(now);
        if self.is_cut_short {
            self.extend(now, TRY_S);
        }
    }

    /// How many pauses were cut short so far: a response to a call that was sent before one does not end it.
    pub(super) fn cut_short(&self) -> u32 {
        self.cut_short
    }

    /// Returns `true` while the gateway asks for a longer pause than is kept.
    pub(super) fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    /// Records the status of a response and its `Retry-After`, to a call that was sent after so many pauses had been cut
    /// short; returns how long the pause lasts. A 503 asks for one only with that header.
    pub(super) fn learn(
        &mut self,
        now: Timestamp,
        sent_after: u32,
        status: u16,
        retry_after: Option<&str>,
    ) -> Pause {
        self.end_if_over(now);
        let asked = retry_after.and_then(|text| read(text, now));
        let was_cut_short = self.is_cut_short;
        match (status, asked) {
            (429, asked) | (503, asked @ Some(_)) => {
                self.is_cut_short = asked.is_some_and(|seconds| seconds > LONGEST_S);
            }
            _ if was_cut_short && sent_after == self.cut_short => {
                *self = Self {
                    cut_short: self.cut_short,
                    ..Self::default()
                };
            }
            _ => {}
        }
        let is_news = self.is_cut_short && !was_cut_short;
        self.cut_short += u32::from(is_news);
        let excessive = asked.filter(|_| is_news).map(Duration::from_secs);
        let asked = asked.map(|seconds| seconds.clamp(FIRST_S, LONGEST_S));
        match status {
            429 => {
                let doubled = FIRST_S.saturating_mul(2_u64.saturating_pow(self.strikes));
                self.strikes = self.strikes.saturating_add(1);
                self.extend(now, asked.unwrap_or(doubled.min(LONGEST_S)));
            }
            503 => self.extend(now, asked.unwrap_or(0)),
            200..=299 => self.strikes = 0,
            _ => {}
        }
        Pause {
            left: self.left(now),
            excessive,
        }
    }

    fn left(&self, now: Timestamp) -> Duration {
        let left = self.until.map(|until| until.duration_since(now));
        let left = left.and_then(|left| Duration::try_from(left).ok());
        // A longer one is of a clock that was set back since: it is over.
        left.filter(|left| left.as_secs() <= LONGEST_S)
            .unwrap_or_default()
    }

    /// Forgets a pause that is over. That of a clock that was set back since has a later end, which would hide the next
    /// pause, and would count again when its time has come.
    fn end_if_over(&mut self, now: Timestamp) {
        if self.left(now).is_zero() {
            self.until = None;
        }
    }

    /// Another call's response may have asked for longer already.
    fn extend(&mut self, now: Timestamp, seconds: u64) {
        let until = now
            .saturating_add(Duration::from_secs(seconds))
            .unwrap_or(now);
        self.until = self.until.max(Some(until));
    }
}

/// Seconds from now; 0 for a date that has passed.
fn read(text: &str, now: Timestamp) -> Option<u64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(u64::try_from(date.as_second() - now.as_second()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn left(pause: &RetryAfter, now: i64) -> Option<u64> {
        match pause.check(at(now)) {
            Ok(()) => None,
            Err(CallError::RateLimited { retry_after }) => Some(retry_after.as_secs()),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn asked(status: u16, retry_after: Option<&str>) -> Option<u64> {
        let mut pause = RetryAfter::default();
        pause.learn(at(1_700_000_000), pause.cut_short(), status, retry_after);
        left(&pause, 1_700_000_000)
    }

    #[test]
    fn a_pause_lasts_as_long_as_was_asked() {
        let mut pause = RetryAfter::default();
        pause.learn(at(100), pause.cut_short(), 429, Some("30"));
        assert_eq!(
            [100, 129, 130].map(|now| left(&pause, now)),
            [Some(30), Some(1), None]
        );
    }

    #[test]
    fn a_pause_is_asked_in_seconds_or_by_a_date() {
        assert_eq!(asked(429, Some(" 17 ")), Some(17));
        assert_eq!(asked(429, Some("Tue, 14 Nov 2023 22:13:50 GMT")), Some(30));
        assert_eq!(asked(429, Some("Tue, 14 Nov 2023 22:00:00 GMT")), Some(1));
        assert_eq!(asked(429, Some("0")), Some(1));
        assert_eq!(asked(429, Some("300")), Some(300));
        assert_eq!(asked(429, Some("soon")), Some(1));
        assert_eq!(asked(503, Some("5")), Some(5));
        assert_eq!(asked(503, None), None);
        assert_eq!(asked(500, Some("5")), None);
        assert_eq!(asked(200, Some("5")), None);
    }

    #[test]
    fn without_a_time_each_pause_is_twice_as_long_up_to_five_minutes() {
        let mut pause = RetryAfter::default();
        let mut now = 0;
        let mut pauses = Vec::new();
        for _ in 0..11 {
            pause.learn(at(now), pause.cut_short(), 429, None);
            let lasts = left(&pause, now).unwrap();
            pauses.push(lasts);
            now += i64::try_from(lasts).unwrap();
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        pause.learn(at(now), pause.cut_short(), 200, None);
        pause.learn(at(now), pause.cut_short(), 429, None);
        assert_eq!(left(&pause, now), Some(1));
    }

    #[test]
    fn an_excessive_pause_is_cut_short_and_one_call_tries_at_its_end() {
        for status in [429, 503] {
            let mut pause = RetryAfter::default();
            for text in ["301", "99999999999999999999999", "86400"] {
                let learnt = pause.learn(at(0), pause.cut_short(), status, Some(text));
                assert_eq!(learnt.left.as_secs(), 300);
                assert_eq!(learnt.excessive.is_some(), text == "301", "reported once");
            }
            assert!(pause.is_cut_short());
            assert_eq!(left(&pause, 299), Some(1));
            assert_eq!(left(&pause, 300), None);
            pause.pass(at(300));
            assert_eq!(left(&pause, 300), Some(30), "the others wait for it");
            pause.learn(at(301), pause.cut_short(), status, Some("86400"));
            assert_eq!(left(&pause, 301), Some(300));
            pause.pass(at(601));
            pause.learn(at(602), pause.cut_short(), 200, None);
            assert_eq!(left(&pause, 602), None);
            assert!(!pause.is_cut_short());
        }
    }

    #[test]
    fn a_shorter_pause_does_not_shorten_a_longer_one() {
        let mut pause = RetryAfter::default();
        pause.learn(at(0), pause.cut_short(), 429, Some("60"));
        pause.learn(at(0), pause.cut_short(), 429, Some("5"));
        pause.learn(at(1), pause.cut_short(), 200, None);
        assert_eq!(left(&pause, 1), Some(59));
    }

    #[test]
    fn an_answer_to_an_earlier_call_does_not_end_a_pause_that_was_cut_short() {
        let mut pause = RetryAfter::default();
        let before = pause.cut_short();
        pause.learn(at(0), before, 429, Some("86400"));
        pause.learn(at(1), before, 200, None);
        assert!(pause.is_cut_short());
        assert_eq!(left(&pause, 1), Some(299));
        pause.learn(at(302), pause.cut_short(), 200, None);
        assert_eq!((pause.is_cut_short(), left(&pause, 302)), (false, None));
    }

    #[test]
    fn a_pause_of_a_clock_that_was_ahead_is_over_when_it_is_right() {
        let mut pause = RetryAfter::default();
        pause.learn(at(4000), pause.cut_short(), 429, Some("60"));
        assert_eq!(left(&pause, 4001), Some(59));
        assert_eq!(left(&pause, 400), None);
    }

    #[test]
    fn a_pause_of_a_clock_that_was_ahead_hides_no_later_one_and_never_counts_again() {
        let mut pause = RetryAfter::default();
        pause.learn(at(4000), pause.cut_short(), 429, Some("60"));
        pause.learn(at(400), pause.cut_short(), 429, Some("7"));
        assert_eq!(left(&pause, 401), Some(6));
        pause.learn(at(500), pause.cut_short(), 200, None);
        assert_eq!(left(&pause, 3990), None);
    }

    #[test]
    fn a_try_after_a_pause_of_a_clock_that_was_ahead_is_the_only_one() {
        let mut pause = RetryAfter::default();
        pause.learn(at(4000), pause.cut_short(), 429, Some("86400"));
        pause.pass(at(400));
        assert_eq!(left(&pause, 400), Some(30));
    }
}
