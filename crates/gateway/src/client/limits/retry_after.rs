//! The pause that the gateway asks for with 429 or `Retry-After`. All calls of a client observe it.
//!
//! Source: payment-service.md, "Errors" and "Limits": 429 when the rate limit is exceeded, to be retried with
//! exponential back-off; numbers are not shown.

use core::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde::{Deserialize, Serialize};

use super::{after, left};

/// The pause of a first 429 without `Retry-After`; every further one doubles it.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(5);
/// How long the others wait for the one call that tries whether a capped pause is over.
const PROBE_TAKES: Duration = Duration::from_secs(30);

/// Reads the header `Retry-After`: seconds, or a date. The time from now is zero for a date that has
/// passed, and 136 years for more seconds than that.
///
/// Source: RFC 9110, section 10.2.3.
pub fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = text.parse::<u32>().unwrap_or(u32::MAX);
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RetryAfter {
    until: Option<Timestamp>,
    strikes: u32,
    /// A longer pause was asked for than is kept. It may be a mistake, and payments are found only by
    /// calls: so one call tries each five minutes, until the gateway answers.
    pub(super) is_capped: bool,
    /// Number of capped pauses so far: a response to a call from before one does not end it.
    pub(super) capped: u32,
}

impl RetryAfter {
    pub(super) fn left(&self, now: Timestamp) -> Duration {
        let left = self.until.map(|until| left(until, LONGEST, now));
        left.unwrap_or_default()
    }

    /// Records that a call is sent. After a capped pause it is the only one until its response.
    pub(super) fn pass(&mut self, now: Timestamp) {
        self.end_if_over(now);
        if self.is_capped {
            self.extend(now, PROBE_TAKES);
        }
    }

    /// Records the status of a response and its `Retry-After`. `sent_after` is the number of capped
    /// pauses when the call was sent. A 503 asks for a pause only with that header. Returns the time that the gateway asks
    /// for, once for each capped pause.
    pub(super) fn on_response(
        &mut self,
        now: Timestamp,
        sent_after: u32,
        status: u16,
        header: Option<&str>,
    ) -> Option<Duration> {
        self.end_if_over(now);
        let asked = header.and_then(|text| retry_after(text, now));
        let was_capped = self.is_capped;
        match (status, asked) {
            (429, asked) | (503, asked @ Some(_)) => {
                self.is_capped = asked.is_some_and(|asked| asked > LONGEST);
            }
            _ if was_capped && sent_after == self.capped => {
                *self = Self {
                    capped: self.capped,
                    ..Self::default()
                };
            }
            _ => {}
        }
        let is_new = self.is_capped && !was_capped;
        self.capped += u32::from(is_new);
        let excessive = asked.filter(|_| is_new);
        let asked = asked.map(|asked| asked.clamp(FIRST, LONGEST));
        match status {
            429 => {
                let doubled = FIRST.saturating_mul(2_u32.saturating_pow(self.strikes));
                self.strikes = self.strikes.saturating_add(1);
                self.extend(now, asked.unwrap_or(doubled.min(LONGEST)));
            }
            503 => self.extend(now, asked.unwrap_or_default()),
            200..=299 => self.strikes = 0,
            _ => {}
        }
        excessive
    }

    /// Forgets a pause that is over. After a clock was set back, its later end would hide the next
    /// pause, and would count again when its time has come.
    fn end_if_over(&mut self, now: Timestamp) {
        if self.left(now).is_zero() {
            self.until = None;
        }
    }

    /// Another call's response may have asked for longer already.
    fn extend(&mut self, now: Timestamp, time: Duration) {
        self.until = self.until.max(Some(after(now, time)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_700_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn left(pause: &RetryAfter, now: i64) -> u64 {
        pause.left(at(now)).as_secs()
    }

    fn respond(pause: &mut RetryAfter, now: i64, status: u16, header: Option<&str>) -> bool {
        let excessive = pause.on_response(at(now), pause.capped, status, header);
        excessive.is_some()
    }

    #[test]
    fn the_header_has_seconds_or_a_date() {
        for (text, expected) in [
            (" 17 ", Some(17)),
            ("0", Some(0)),
            ("99999999999999999999", Some(u64::from(u32::MAX))),
            ("Tue, 14 Nov 2023 22:13:50 GMT", Some(30)),
            ("Tue, 14 Nov 2023 22:00:00 GMT", Some(0)),
            ("", None),
            ("soon", None),
            ("-5", None),
            ("1.5", None),
        ] {
            let read = retry_after(text, at(SECOND)).map(|asked| asked.as_secs());
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn only_429_and_503_ask_for_a_pause() {
        for (status, header, lasts) in [
            (429, Some("17"), 17),
            (429, Some("0"), 1),
            (429, Some("300"), 300),
            (429, Some("soon"), 1),
            (429, None, 1),
            (503, Some("5"), 5),
            (503, None, 0),
            (500, Some("5"), 0),
            (200, Some("5"), 0),
        ] {
            let mut pause = RetryAfter::default();
            assert!(!respond(&mut pause, SECOND, status, header));
            assert_eq!(left(&pause, SECOND), lasts, "{status} {header:?}");
            assert_eq!(left(&pause, SECOND + 16), lasts.saturating_sub(16));
        }
    }

    #[test]
    fn without_a_time_each_pause_is_twice_as_long_up_to_five_minutes() {
        let mut pause = RetryAfter::default();
        let mut now = 0;
        for lasts in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            respond(&mut pause, now, 429, None);
            assert_eq!(left(&pause, now), lasts);
            now += i64::try_from(lasts).unwrap();
        }
        respond(&mut pause, now, 200, None);
        respond(&mut pause, now, 429, None);
        assert_eq!(left(&pause, now), 1);
        respond(&mut pause, now, 429, Some("60"));
        respond(&mut pause, now, 429, Some("5"));
        assert_eq!(left(&pause, now), 60, "a shorter one shortens nothing");
    }

    #[test]
    fn an_excessive_pause_is_capped_and_one_call_tries_at_its_end() {
        for status in [429, 503] {
            let mut pause = RetryAfter::default();
            let before = pause.capped;
            for text in ["301", "99999999999999999999999", "86400"] {
                let is_reported = respond(&mut pause, 0, status, Some(text));
                assert_eq!(left(&pause, 0), 300);
                assert_eq!(is_reported, text == "301", "reported once");
            }
            pause.on_response(at(1), before, 200, None);
            assert!(pause.is_capped, "a call from before does not end it");
            assert_eq!((left(&pause, 299), left(&pause, 300)), (1, 0));
            pause.pass(at(300));
            assert_eq!(left(&pause, 300), 30, "the others wait for it");
            respond(&mut pause, 301, status, Some("86400"));
            assert_eq!(left(&pause, 301), 300);
            pause.pass(at(601));
            respond(&mut pause, 602, 200, None);
            assert_eq!((pause.is_capped, left(&pause, 602)), (false, 0));
        }
    }

    #[test]
    fn a_pause_by_a_clock_that_was_ahead_is_over_hides_no_other_and_never_counts_again() {
        let mut pause = RetryAfter::default();
        respond(&mut pause, 4000, 429, Some("60"));
        assert_eq!((left(&pause, 4001), left(&pause, 400)), (59, 0));
        respond(&mut pause, 400, 429, Some("7"));
        assert_eq!(left(&pause, 401), 6);
        respond(&mut pause, 500, 200, None);
        assert_eq!(left(&pause, 3990), 0);
    }
}
