//! Nonces: the current second by the gateway's clock, never before one that it has accepted, unless it set its clock back.

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Nonce;

/// A clock difference that does not explain a refusal. `Assumed:` the gateway allows at least as
/// much; the allowed difference is not shown (payment-service.md, "Authentication").
const HARMLESS_S: i64 = 5;

/// Whether the gateway accepts one nonce for several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NonceRule {
    /// Several requests may carry the same second. `Assumed:` since a nonce is "current Unix time
    /// in seconds" and nothing else is specified; a 401 for the second request of a second would
    /// disprove it.
    #[default]
    MayRepeat,
    /// Every nonce must be above the last one: then one request a second is all that there is.
    MustIncrease,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Nonces {
    pub(super) rule: NonceRule,
    correction_s: i64,
    last: i64,
    /// The last accepted nonce. Later nonces are never below it, unless the gateway's clock was set back since.
    accepted: i64,
    /// The gateway's clock minus ours, by its last response.
    skew_s: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClockCheck {
    /// The nonce was refused because our clock is off, and the next one is by the gateway's clock.
    pub(super) was_off: bool,
    /// By how many seconds the gateway's clock is ahead, if that was not known before.
    pub(super) correction_s: Option<i64>,
}

impl Nonces {
    pub(super) fn new(rule: NonceRule) -> Self {
        Self {
            rule,
            correction_s: 0,
            last: i64::MIN,
            accepted: i64::MIN,
            skew_s: None,
        }
    }

    /// The current second; or the last one given out, or the one behind it, if the clock was set back.
    pub(super) fn next(&mut self, now: Timestamp) -> Nonce {
        let least = match self.rule {
            NonceRule::MayRepeat => self.last,
            NonceRule::MustIncrease => self.last.saturating_add(1),
        };
        self.last = least.max(now.as_second().saturating_add(self.correction_s));
        Nonce::from_second(self.last)
    }

    /// Takes in the status and the header `Date` of the response to a nonce.
    pub(super) fn on_response(
        &mut self,
        now: Timestamp,
        nonce: Nonce,
        status: u16,
        date: Option<&str>,
    ) -> ClockCheck {
        let date = date.and_then(|text| DateTimeParser::new().parse_timestamp(text.trim()).ok());
        let date = date.map(Timestamp::as_second);
        self.skew_s = date
            .map(|date| self.skew_of(date, nonce, now))
            .or(self.skew_s);
        if status != 401 {
            self.accepted = self.accepted.max(nonce.second());
        }
        let is_off = |date: &i64| date.abs_diff(nonce.second()) > HARMLESS_S.unsigned_abs();
        let Some(date) = date.filter(is_off).filter(|_| status == 401) else {
            return ClockCheck::default();
        };
        let correction_s = date.saturating_sub(now.as_second());
        // Concurrent requests are refused together: report once.
        let is_news = correction_s.abs_diff(self.correction_s) > 1;
        self.correction_s = correction_s;
        // The gateway's clock was ahead when it accepted that nonce, and has been set right: with its second, calls are
        // accepted again at once instead of when that time has come.
        if self.accepted.saturating_sub(date) > HARMLESS_S {
            self.accepted = date;
        }
        self.last = self.accepted;
        ClockCheck {
            was_off: true,
            correction_s: is_news.then_some(correction_s),
        }
    }

    /// The gateway wrote its date between the request, which its nonce dates, and the response: a slow response is no
    /// difference of the clocks.
    fn skew_of(&self, date: i64, nonce: Nonce, now: Timestamp) -> i64 {
        let received = now.as_second();
        let sent = nonce.second().saturating_sub(self.correction_s);
        let behind = date.saturating_sub(sent.min(received));
        let ahead = date.saturating_sub(received);
        ahead.max(0) + behind.min(0)
    }

    /// How far the gateway's clock is ahead of ours, by its last response.
    pub(super) fn skew(&self) -> Option<SignedDuration> {
        self.skew_s.map(SignedDuration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";
    const SECOND: i64 = 1_700_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn given(nonces: &mut Nonces, now: i64) -> i64 {
        nonces.next(at(now)).second()
    }

    /// A gateway whose clock shows [`DATE`] refuses a nonce while ours shows `now`.
    fn refused(nonces: &mut Nonces, now: i64) -> bool {
        let nonce = nonces.next(at(now));
        nonces.on_response(at(now), nonce, 401, Some(DATE)).was_off
    }

    #[test]
    fn a_nonce_follows_the_clock_and_never_goes_back() {
        for (rule, expected) in [
            (NonceRule::MayRepeat, [100, 100, 103, 103, 104, 107]),
            (NonceRule::MustIncrease, [100, 101, 103, 104, 105, 107]),
        ] {
            let mut nonces = Nonces::new(rule);
            let given = [100, 100, 103, 40, 104, 107].map(|second| given(&mut nonces, second));
            assert_eq!(given, expected, "{rule:?}");
        }
    }

    #[test]
    fn a_refusal_by_a_clock_that_is_off_sets_the_nonces_by_it() {
        for ours in [SECOND - 3600, SECOND + 3600, SECOND + 6, SECOND - 6, 0] {
            let mut nonces = Nonces::new(NonceRule::MayRepeat);
            assert!(refused(&mut nonces, ours), "{ours}");
            assert_eq!(given(&mut nonces, ours), SECOND);
            assert_eq!(given(&mut nonces, ours + 7), SECOND + 7);
            let skew = nonces.skew().map(|skew| skew.as_secs());
            assert_eq!(skew, Some(SECOND - ours));
        }
    }

    #[test]
    fn a_slow_response_is_no_difference_of_the_clocks() {
        for (sent, received, skew) in [(0, 0, 0), (0, 9, 0), (-60, -60, 60), (60, 69, -60)] {
            let mut nonces = Nonces::new(NonceRule::MayRepeat);
            let nonce = nonces.next(at(SECOND + sent));
            nonces.on_response(at(SECOND + received), nonce, 200, Some(DATE));
            assert_eq!(nonces.skew().unwrap().as_secs(), skew, "{received}");
        }
    }

    #[test]
    fn a_refusal_within_five_seconds_has_another_reason() {
        for ours in [SECOND - 5, SECOND, SECOND + 5] {
            let mut nonces = Nonces::new(NonceRule::MayRepeat);
            assert!(!refused(&mut nonces, ours), "{ours}");
            assert_eq!(given(&mut nonces, ours), ours);
        }
        let mut nonces = Nonces::new(NonceRule::MayRepeat);
        let nonce = nonces.next(at(5));
        assert!(!nonces.on_response(at(5), nonce, 401, None).was_off);
        assert!(!nonces.on_response(at(5), nonce, 401, Some("soon")).was_off);
        let accepted = nonces.on_response(at(5), nonce, 200, Some(DATE));
        assert!(!accepted.was_off, "not refused");
    }

    #[test]
    fn set_by_the_gateways_clock_a_nonce_is_never_below_an_accepted_one() {
        let mut nonces = Nonces::new(NonceRule::MayRepeat);
        let accepted = nonces.next(at(SECOND + 2));
        nonces.on_response(at(SECOND + 2), accepted, 200, None);
        assert!(refused(&mut nonces, SECOND + 3600));
        assert_eq!(given(&mut nonces, SECOND + 3600), SECOND + 2);
        assert_eq!(given(&mut nonces, SECOND + 3603), SECOND + 3);
        // Our clock was right an hour later, and the gateway has forgotten all of it.
        let mut nonces = Nonces::new(NonceRule::MayRepeat);
        nonces.next(at(SECOND + 3600));
        assert!(refused(&mut nonces, SECOND));
        assert_eq!(given(&mut nonces, SECOND), SECOND);
    }

    #[test]
    fn a_gateway_whose_clock_is_set_back_is_followed() {
        for rule in [NonceRule::MayRepeat, NonceRule::MustIncrease] {
            let mut nonces = Nonces::new(rule);
            // The gateway is an hour ahead, and accepts nonces of its time.
            let hour = SECOND + 3600;
            let ahead = nonces.next(at(hour));
            nonces.on_response(at(SECOND), ahead, 200, None);
            // Set right, it refuses what is an hour ahead.
            assert!(refused(&mut nonces, SECOND));
            let next = given(&mut nonces, SECOND);
            assert!((SECOND..=SECOND + 1).contains(&next), "{rule:?}: {next}");
            assert!(given(&mut nonces, SECOND + 7) <= SECOND + 8);
        }
    }
}
