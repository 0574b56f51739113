//! The factor of the poll intervals, when more polls are due than the gateway's limits allow.

use jiff::{SignedDuration, Timestamp};

use crate::poll::LONGEST_PAUSE;
use crate::{Invoice, PaymentState};

/// The factor of the poll intervals: above 1 while more polls are due than the gateway's limits allow.
///
/// A control loop measures at intervals how many polls are due, and adjusts the factor by [`Stretch::next`]. One factor
/// applies to waiting attempts, and another one to watched orders; the square of the first to attempts that are over or settled. Polls of payments that
/// are under way, at an invoice's end and after callbacks keep their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    percent: u32,
}

impl Default for Stretch {
    fn default() -> Self {
        Self::NONE
    }
}

impl Stretch {
    /// Factor 1: the schedule.
    pub const NONE: Self = Self { percent: 100 };
    const MOST: u32 = 2000;
    /// The target: this share of the allowed requests is for polls that are due. The rest is for requests of customers and stores.
    const TARGET_PERCENT: u64 = 80;
    /// The limits of one step of [`Stretch::next`], in percent. A step takes effect only on polls that are scheduled
    /// after it, so large steps would overshoot.
    const STEP_PERCENT: (u64, u64) = (80, 125);

    /// The factor after a measurement: `due` polls are due in a time in which the limits allow `allowed` requests. The
    /// factor is multiplied by `due` over the target, by 0.8 to 1.25 in one step.
    #[must_use]
    pub fn next(self, due: u64, allowed: u64) -> Self {
        let target = (allowed * Self::TARGET_PERCENT / 100).max(1);
        let (least, most) = Self::STEP_PERCENT;
        let step = (due.saturating_mul(100) / target).clamp(least, most);
        let percent = u64::from(self.percent) * step / 100;
        let percent = u32::try_from(percent).unwrap_or(Self::MOST);
        Self {
            percent: percent.clamp(100, Self::MOST),
        }
    }

    /// The factor in percent: 100 is the schedule, 2000 the maximum.
    pub fn percent(self) -> u32 {
        self.percent
    }

    /// The interval between polls of a watched order, times the factor.
    pub fn scale_interval(self, pause: SignedDuration) -> SignedDuration {
        let millis = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        SignedDuration::from_millis(millis.saturating_mul(i64::from(self.percent)) / 100)
    }

    /// The time of a planned poll of an invoice: its interval times the factor, or the factor's square.
    pub fn scale_poll(self, invoice: &Invoice, now: Timestamp, planned: Timestamp) -> Timestamp {
        let pause = planned.duration_since(now);
        let put_off = match invoice.payment_state {
            PaymentState::Detected | PaymentState::Confirming => pause,
            PaymentState::Waiting => {
                let left = invoice.expires_at.duration_since(now);
                // The poll at the end stays.
                let is_before_end = left > pause;
                let pause = self.scale_interval(pause);
                if is_before_end {
                    pause.min(left)
                } else {
                    planned.duration_since(now)
                }
            }
            PaymentState::Settled
            | PaymentState::Underpaid
            | PaymentState::Failed
            | PaymentState::Cancelled
            | PaymentState::Expired
            | PaymentState::AddressChanged => {
                let longest = pause.max(LONGEST_PAUSE);
                self.scale_interval(self.scale_interval(pause)).min(longest)
            }
        };
        now + put_off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::at;

    const DAY: i64 = 24 * 3600;

    fn invoice(payment_state: PaymentState) -> Invoice {
        Invoice {
            payment_state,
            ..crate::fixtures::invoice(1)
        }
    }

    #[track_caller]
    #[test]
    fn polls_are_put_off_by_their_class() {
        let twice = Stretch { percent: 200 };
        let put_off = |payment_state, now, pause| {
            let poll = twice.scale_poll(&invoice(payment_state), at(now), at(now + pause));
            poll.as_second() - now
        };
        assert_eq!(put_off(PaymentState::Waiting, 100, 30), 60);
        // The poll at the end of the invoice stays, and no poll moves behind it.
        assert_eq!(put_off(PaymentState::Waiting, 850, 30), 50);
        assert_eq!(put_off(PaymentState::Waiting, 880, 20), 20);
        for under_way in [PaymentState::Detected, PaymentState::Confirming] {
            assert_eq!(put_off(under_way, 100, 30), 30);
        }
        for over in [
            PaymentState::Expired,
            PaymentState::Failed,
            PaymentState::Settled,
        ] {
            assert_eq!(put_off(over, 2000, 60), 240);
            assert_eq!(put_off(over, 5 * DAY, DAY), DAY);
        }
        assert_eq!(
            twice.scale_interval(SignedDuration::from_secs(5)).as_secs(),
            10
        );
    }

    #[test]
    fn the_stretch_follows_what_the_limits_allow() {
        let mut stretch = Stretch::NONE;
        for _ in 0..5 {
            stretch = stretch.next(80, 100);
            assert_eq!(stretch, Stretch::NONE);
        }
        for _ in 0..50 {
            stretch = stretch.next(100_000, 100);
        }
        assert_eq!(stretch.percent(), 2000);
        for _ in 0..50 {
            stretch = stretch.next(10, 100);
        }
        assert_eq!(stretch, Stretch::NONE);
        // The gateway allows nothing: no division by zero.
        assert!(stretch.next(5, 0) > Stretch::NONE);
    }
}
