//! The poll schedule of an attempt. A subscription or a callback only brings the next poll forward.

use jiff::{SignedDuration, Timestamp};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{Invoice, PaymentState};

/// The reason of a poll, lowest priority first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum PollPriority {
    /// The schedule.
    #[strum(serialize = "planned")]
    Scheduled,
    /// The order has subscribers.
    Watched,
    /// A callback hinted at a change.
    #[strum(serialize = "hinted")]
    Callback,
}

/// How long after its expiry an attempt is polled.
const WATCHED_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The time of the next poll, counted from `now`; `None` when nothing can change any more.
///
/// An expired attempt is polled for a week, ever more rarely, so that a late payment is found. A
/// settled one is polled after ten minutes, then at doubling intervals: ten polls in three and a
/// half days verify the credit. `Assumed:` the gateway reverts nothing later than that; a later
/// reversal would disprove it.
pub fn next_poll(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    let minutes = SignedDuration::from_mins;
    let age = now.duration_since(invoice.opened_at);
    let over_for = now.duration_since(invoice.expires_at);
    let pause = match invoice.payment_state {
        PaymentState::Settled => {
            let settled_for = now.duration_since(invoice.state_since);
            if settled_for >= minutes(48 * 60) {
                return None;
            }
            settled_for.max(minutes(10))
        }
        PaymentState::Waiting if over_for >= SignedDuration::ZERO => SignedDuration::from_secs(15),
        PaymentState::Waiting => {
            // A hosted session is paid on the gateway's page, and the gateway calls back when it is.
            let is_elsewhere = invoice.page().is_some();
            let pause = if is_elsewhere {
                60
            } else if age < minutes(2) {
                15
            } else {
                30
            };
            // Never past the expiry: that poll can detect it.
            let left = SignedDuration::ZERO.saturating_sub(over_for);
            SignedDuration::from_secs(pause).min(left.max(SignedDuration::from_secs(1)))
        }
        PaymentState::Detected | PaymentState::Confirming if age < minutes(60) => {
            SignedDuration::from_secs(15)
        }
        PaymentState::Detected | PaymentState::Confirming => minutes(1),
        PaymentState::Underpaid
        | PaymentState::Failed
        | PaymentState::Cancelled
        | PaymentState::Expired
        | PaymentState::AddressChanged => {
            if over_for < minutes(60) {
                minutes(1)
            } else if over_for < minutes(24 * 60) {
                minutes(15)
            } else if over_for < WATCHED_AFTER {
                minutes(60)
            } else {
                return None;
            }
        }
    };
    Some(now + pause)
}

/// The time of the next poll after an observation that needs review: a person has to act first, so
/// polls are rare.
pub fn next_poll_after_review(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    if invoice.payment_state == PaymentState::Settled {
        return next_poll(invoice, now);
    }
    let held = Invoice {
        payment_state: PaymentState::Failed,
        ..invoice.clone()
    };
    next_poll(&held, now)
}

/// The time of a poll for an order with subscribers; `None` if the schedule is soon enough.
/// Whatever their number, the gateway is asked once per `interval` while the payment is in
/// progress, and at most hourly after the schedule has ended.
pub fn subscribed_poll(
    invoice: &Invoice,
    interval: SignedDuration,
    now: Timestamp,
) -> Option<Timestamp> {
    let polled_at = invoice.observed_at.unwrap_or(invoice.opened_at);
    let has_ended = now.duration_since(invoice.expires_at) >= WATCHED_AFTER;
    match (invoice.payment_state, invoice.next_poll_at) {
        (PaymentState::Settled, _) => None,
        (_, planned) if has_ended => planned
            .is_none()
            .then(|| now.max(polled_at + SignedDuration::from_hours(1))),
        (
            PaymentState::Waiting
            | PaymentState::Detected
            | PaymentState::Confirming
            | PaymentState::Underpaid,
            Some(planned),
        ) => {
            let wanted = now.max(polled_at + interval);
            (planned > wanted).then_some(wanted)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoice(payment_state: PaymentState) -> Invoice {
        Invoice {
            payment_state,
            ..crate::fixtures::invoice(1)
        }
    }

    #[track_caller]
    fn pause(payment_state: PaymentState, at_secs: i64) -> Option<i64> {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(at_secs);
        next_poll(&invoice(payment_state), now).map(|next| next.duration_since(now).as_secs())
    }

    #[test]
    fn a_waiting_attempt_is_polled_often_and_never_past_its_expiry() {
        assert_eq!(pause(PaymentState::Waiting, 0), Some(15));
        assert_eq!(pause(PaymentState::Waiting, 300), Some(30));
        assert_eq!(pause(PaymentState::Waiting, 890), Some(10));
        assert_eq!(pause(PaymentState::Waiting, 900), Some(15));
    }

    #[test]
    fn an_ended_attempt_is_polled_for_a_week_ever_more_rarely() {
        let day = 24 * 3600;
        for payment_state in [
            PaymentState::Expired,
            PaymentState::Failed,
            PaymentState::Underpaid,
            PaymentState::Cancelled,
        ] {
            assert_eq!(pause(payment_state, 900), Some(60));
            assert_eq!(pause(payment_state, 2 * 3600), Some(900));
            assert_eq!(pause(payment_state, 2 * day), Some(3600));
            assert_eq!(pause(payment_state, 8 * day), None);
        }
    }

    #[test]
    fn a_settled_attempt_is_polled_ten_times_ever_more_rarely() {
        let (mut now, mut polls) = (0, Vec::new());
        while let Some(pause) = pause(PaymentState::Settled, now) {
            now += pause;
            polls.push(now / 60);
        }
        assert_eq!(polls, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120]);
    }

    #[test]
    fn a_session_on_the_services_page_is_asked_about_once_a_minute() {
        let hosted = crate::fixtures::hosted(1);
        let opened = Timestamp::UNIX_EPOCH;
        let next = next_poll(hosted.invoice().unwrap(), opened);
        assert_eq!(next, Some(opened + SignedDuration::from_mins(1)));
    }

    /// The poll that a subscription at `now` asks for, after a poll at `polled_at` and before one
    /// at `planned`.
    #[track_caller]
    fn watched(
        payment_state: PaymentState,
        polled_at: i64,
        planned: Option<i64>,
        now: i64,
    ) -> Option<i64> {
        let at = |second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
        let invoice = Invoice {
            observed_at: Some(at(polled_at)),
            next_poll_at: planned.map(at),
            ..invoice(payment_state)
        };
        let wanted = subscribed_poll(&invoice, SignedDuration::from_secs(5), at(now));
        wanted.map(Timestamp::as_second)
    }

    #[test]
    fn a_subscription_brings_the_next_poll_forward() {
        for payment_state in [
            PaymentState::Waiting,
            PaymentState::Detected,
            PaymentState::Confirming,
        ] {
            assert_eq!(watched(payment_state, 100, Some(130), 101), Some(105));
            assert_eq!(watched(payment_state, 100, Some(130), 120), Some(120));
            assert_eq!(watched(payment_state, 100, Some(104), 101), None);
        }
        assert_eq!(watched(PaymentState::Failed, 1000, Some(1060), 1010), None);
    }

    #[test]
    fn a_subscription_polls_an_ended_attempt_once_an_hour() {
        let week = 900 + 7 * 24 * 3600;
        for payment_state in [
            PaymentState::Failed,
            PaymentState::Underpaid,
            PaymentState::Expired,
        ] {
            let polled_at = week + 60;
            let within = watched(payment_state, polled_at, None, polled_at + 60);
            assert_eq!(within, Some(polled_at + 3600));
            // Repeated requests do not move it.
            assert_eq!(
                watched(payment_state, polled_at, within, polled_at + 120),
                None
            );
            let after = polled_at + 9000;
            assert_eq!(watched(payment_state, polled_at, None, after), Some(after));
        }
        assert_eq!(
            watched(PaymentState::Settled, 1000, None, week + 9000),
            None
        );
    }
}
