//! The poll schedule of an attempt. A subscription or a callback only brings the next poll forward.

use jiff::{SignedDuration, Timestamp};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{Invoice, PaymentState};

/// How urgent a poll is, the least urgent first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum PollPriority {
    /// No page of the customer shows the order.
    Unwatched,
    /// The order is watched: a page of the customer shows it.
    Watched,
    /// A callback hinted at a change.
    Callback,
}

/// How long after its expiry an attempt is polled. Nodes of Bitcoin keep a stuck transaction for two weeks, and its sender
/// may repeat it.
const POLLED_FOR: SignedDuration = SignedDuration::from_hours(60 * 24);
/// The longest time between two polls of an attempt that is not settled.
pub(crate) const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(24);
/// A second payment is likely for this long after the credit: it was under way when the first was credited.
const FRESH_FOR: SignedDuration = SignedDuration::from_mins(10);
/// Between two polls for a second payment, which is noticed within a minute, the poll included.
const SECOND_PAYMENT_PAUSE: SignedDuration = SignedDuration::from_secs(45);
/// While a page shows an attempt that was opened less than this ago, a payment is found within a second in the median.
const EAGER_AFTER_OPENING: SignedDuration = SignedDuration::from_mins(10);
/// Tenths of the interval between two polls of such an attempt. A payment waits for half of the pause in the median.
const EAGER_TENTHS: i32 = 3;
/// A customer who has reported a payment waits for the next poll; later polls are three times as far apart.
const AWAITED_AFTER_REPORT: SignedDuration = SignedDuration::from_mins(2);

/// The time of the next poll, counted from `now`; `None` when nothing can change any more.
///
/// An expired attempt: the interval is 25 % of the time since its expiry, from one minute to one day, for 60 days.
/// A payment that is under way: the interval is 1/60 of the invoice's age, from 15 seconds to one day.
/// A settled attempt is polled for a second payment while it is fresh. Then nine polls verify the credit, each at twice
/// the time of the one before, counted from the credit. A poll later than 48 hours schedules no further one, so the last
/// is at 85 to 92 hours. `Assumed:` the gateway reverts nothing later than that; a later reversal would disprove it.
pub fn next_poll(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    let minutes = SignedDuration::from_mins;
    let age = now.duration_since(invoice.opened_at);
    let since_expiry = now.duration_since(invoice.expires_at);
    let pause = match invoice.payment_state {
        PaymentState::Settled => {
            let settled_for = now.duration_since(invoice.state_since);
            if settled_for >= minutes(48 * 60) {
                return None;
            }
            if settled_for < FRESH_FOR {
                SECOND_PAYMENT_PAUSE
            } else {
                settled_for
            }
        }
        PaymentState::Waiting if since_expiry >= SignedDuration::ZERO => {
            SignedDuration::from_secs(15)
        }
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
            let left = SignedDuration::ZERO.saturating_sub(since_expiry);
            SignedDuration::from_secs(pause).min(left.max(SignedDuration::from_secs(1)))
        }
        PaymentState::Detected | PaymentState::Confirming => pause_under_way(age),
        PaymentState::Underpaid
        | PaymentState::Failed
        | PaymentState::Cancelled
        | PaymentState::Expired
        | PaymentState::AddressChanged => {
            if since_expiry >= POLLED_FOR {
                return None;
            }
            part(since_expiry, 4).clamp(minutes(1), LONGEST_PAUSE)
        }
    };
    Some(now + pause)
}

fn pause_under_way(age: SignedDuration) -> SignedDuration {
    part(age, 60).clamp(SignedDuration::from_secs(15), LONGEST_PAUSE)
}

/// A part of a time, in whole seconds.
fn part(time: SignedDuration, parts: i64) -> SignedDuration {
    SignedDuration::from_secs(time.as_secs() / parts)
}

/// The time of the next poll after an observation that needs review: a person has to act first, so
/// polls are rare.
pub fn next_poll_after_review(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    if invoice.payment_state == PaymentState::Settled {
        return next_poll(invoice, now);
    }
    let as_failed = Invoice {
        payment_state: PaymentState::Failed,
        ..invoice.clone()
    };
    next_poll(&as_failed, now)
}

/// The time of the next poll of a settled attempt while more is on its way to its address.
pub(crate) fn next_poll_of_additional_payment(invoice: &Invoice, now: Timestamp) -> Timestamp {
    now + pause_under_way(now.duration_since(invoice.opened_at))
}

/// The time between the last poll and the next one of a watched order; `None` if the schedule is soon enough.
/// However many pages show it, the gateway is asked once per `interval` while the customer waits for the response, more often
/// while the attempt is young, a third as often later, and hourly once the attempt is over. A settled attempt is polled for a
/// second payment.
pub fn watched_pause(
    invoice: &Invoice,
    interval: SignedDuration,
    now: Timestamp,
) -> Option<SignedDuration> {
    // A time in the future is of a clock that was ahead.
    let polled_at = invoice.observed_at.unwrap_or(invoice.opened_at).min(now);
    let is_within = |start: Timestamp, time: SignedDuration| now.duration_since(start) < time;
    let pause = match invoice.payment_state {
        PaymentState::Waiting if is_within(invoice.opened_at, EAGER_AFTER_OPENING) => {
            eager_pause(interval)
        }
        PaymentState::Waiting => {
            let reported = invoice.marked_as_paid_at;
            let is_awaited = reported.is_some_and(|at| is_within(at, AWAITED_AFTER_REPORT));
            interval * if is_awaited { 1 } else { 3 }
        }
        PaymentState::Underpaid if is_within(invoice.state_since, EAGER_AFTER_OPENING) => {
            eager_pause(interval)
        }
        PaymentState::Underpaid | PaymentState::Detected | PaymentState::Confirming => {
            let age = now.duration_since(invoice.state_since);
            (interval * 3).max(part(age, 60))
        }
        PaymentState::Settled => interval.max(SECOND_PAYMENT_PAUSE),
        PaymentState::Failed
        | PaymentState::Cancelled
        | PaymentState::Expired
        | PaymentState::AddressChanged => SignedDuration::from_hours(1),
    };
    let wanted = now.max(polled_at + pause);
    invoice
        .next_poll_at
        .is_none_or(|planned| planned > wanted)
        .then_some(pause)
}

/// The shortest time between two polls of a watched attempt, at this interval.
pub fn eager_pause(interval: SignedDuration) -> SignedDuration {
    interval * EAGER_TENTHS / 10
}

/// The time between two polls of the other attempts of a paid order, for a second payment, while the order is fresh or
/// watched.
pub fn second_payment_pause(interval: SignedDuration) -> SignedDuration {
    interval.max(SECOND_PAYMENT_PAUSE)
}

/// Returns `true` while a second payment of an order that was credited at `settled_at` is likely.
pub fn is_fresh(settled_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(settled_at) < FRESH_FOR
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::at;

    fn invoice(payment_state: PaymentState) -> Invoice {
        Invoice {
            payment_state,
            ..crate::fixtures::invoice(1)
        }
    }

    #[track_caller]
    fn pause(payment_state: PaymentState, at_secs: i64) -> Option<i64> {
        let now = at(at_secs);
        next_poll(&invoice(payment_state), now).map(|next| next.duration_since(now).as_secs())
    }

    #[test]
    fn a_waiting_attempt_is_polled_often_and_never_past_its_expiry() {
        assert_eq!(pause(PaymentState::Waiting, 0), Some(15));
        assert_eq!(pause(PaymentState::Waiting, 300), Some(30));
        assert_eq!(pause(PaymentState::Waiting, 890), Some(10));
        assert_eq!(pause(PaymentState::Waiting, 900), Some(15));
    }

    const DAY: i64 = 24 * 3600;

    /// The times of all polls in a state that never changes, in seconds after the opening.
    fn polls(payment_state: PaymentState, first: i64) -> Vec<i64> {
        let (mut now, mut polls) = (first, vec![first]);
        while let Some(pause) = pause(payment_state, now) {
            now += pause;
            polls.push(now);
        }
        polls
    }

    #[test]
    fn an_ended_attempt_is_polled_for_sixty_days_ever_more_rarely() {
        for payment_state in [
            PaymentState::Expired,
            PaymentState::Failed,
            PaymentState::Underpaid,
            PaymentState::Cancelled,
            PaymentState::AddressChanged,
        ] {
            assert_eq!(pause(payment_state, 900), Some(60));
            assert_eq!(pause(payment_state, 900 + 3600), Some(900));
            assert_eq!(pause(payment_state, 900 + 2 * DAY), Some(DAY / 2));
            for day in 4..60 {
                assert_eq!(pause(payment_state, 900 + day * DAY), Some(DAY));
            }
            assert_eq!(pause(payment_state, 900 + 60 * DAY), None);
            let polls = polls(payment_state, 900);
            let last = polls.last().unwrap() - 900;
            assert!((60 * DAY..61 * DAY).contains(&last), "{last}");
        }
    }

    /// An attempt that is never paid, from its opening on: times of its polls, in seconds.
    fn unpaid(has_subscriber: bool, reported_at: Option<i64>) -> Vec<i64> {
        let mut invoice = invoice(PaymentState::Waiting);
        let (mut now, mut polls) = (at(0), Vec::new());
        invoice.next_poll_at = next_poll(&invoice, now);
        while let Some(planned) = invoice.next_poll_at {
            let is_open = now < at(900);
            invoice.marked_as_paid_at = reported_at.map(at).filter(|time| *time <= now);
            let pause = watched_pause(&invoice, SignedDuration::from_secs(5), now);
            let pause = pause.filter(|_| has_subscriber && is_open);
            now = pause.map_or(planned, |pause| planned.min(now + pause));
            polls.push(now.as_second());
            if now >= at(900) {
                invoice.payment_state = PaymentState::Expired;
            }
            invoice.observed_at = Some(now);
            invoice.next_poll_at = next_poll(&invoice, now);
        }
        polls
    }

    #[test]
    fn an_unpaid_attempt_costs_few_polls_in_a_week_then_one_a_day() {
        for (has_subscriber, reported_at, most) in
            [(false, None, 80), (true, None, 475), (true, Some(700), 490)]
        {
            let polls = unpaid(has_subscriber, reported_at);
            let in_a_week = polls.iter().filter(|at| **at < 7 * DAY).count();
            assert!(in_a_week <= most, "{has_subscriber}: {in_a_week}");
            for day in 7..=60 {
                let on_it = polls
                    .iter()
                    .filter(|at| (day * DAY..(day + 1) * DAY).contains(at));
                assert_eq!(on_it.count(), 1, "day {day}");
            }
            assert!(*polls.last().unwrap() < 62 * DAY);
        }
    }

    #[test]
    fn a_payment_that_is_never_confirmed_is_polled_ever_more_rarely() {
        let day = 24 * 60;
        for (age_minutes, expected) in [(1, 15), (60, 60), (day, 24 * 60), (90 * day, DAY)] {
            for payment_state in [PaymentState::Detected, PaymentState::Confirming] {
                assert_eq!(pause(payment_state, age_minutes * 60), Some(expected));
            }
        }
    }

    #[test]
    fn a_settled_attempt_is_polled_within_a_minute_while_it_is_fresh_then_nine_times() {
        let polls = polls(PaymentState::Settled, 0);
        let (fresh, rest) = polls.split_at(15);
        assert!(fresh.windows(2).all(|pair| pair[1] - pair[0] == 45));
        assert_eq!(rest.first(), Some(&1260));
        assert!(rest.windows(2).all(|pair| pair[1] == 2 * pair[0]));
        assert_eq!(rest.len(), 9, "{rest:?}");
    }

    #[test]
    fn a_session_on_the_gateways_page_is_asked_about_once_a_minute() {
        let hosted = crate::fixtures::hosted(1);
        let opened = Timestamp::UNIX_EPOCH;
        let next = next_poll(hosted.invoice().unwrap(), opened);
        assert_eq!(next, Some(opened + SignedDuration::from_mins(1)));
    }

    /// The poll that a subscription at `now` asks for, after a poll at `polled_at` and before one
    /// at `planned`, by an interval of ten seconds.
    #[track_caller]
    fn watched(
        payment_state: PaymentState,
        polled_at: i64,
        planned: Option<i64>,
        now: i64,
    ) -> Option<i64> {
        let invoice = Invoice {
            observed_at: Some(at(polled_at)),
            next_poll_at: planned.map(at),
            ..invoice(payment_state)
        };
        let pause = watched_pause(&invoice, SignedDuration::from_secs(10), at(now))?;
        Some(now.max(polled_at.min(now) + pause.as_secs()))
    }

    #[test]
    fn a_subscription_brings_the_next_poll_forward() {
        for (payment_state, pause) in [
            (PaymentState::Waiting, 3),
            (PaymentState::Underpaid, 3),
            (PaymentState::Detected, 30),
            (PaymentState::Confirming, 30),
            (PaymentState::Settled, 45),
        ] {
            let planned = Some(300);
            let wanted = watched(payment_state, 100, planned, 101);
            assert_eq!(wanted, Some(100 + pause), "{payment_state:?}");
            assert_eq!(watched(payment_state, 100, planned, 200), Some(200));
            assert_eq!(watched(payment_state, 100, Some(102), 101), None);
        }
        // The last poll was by a clock that was an hour ahead.
        assert_eq!(
            watched(PaymentState::Waiting, 3700, Some(3730), 100),
            Some(103)
        );
        // A page that is forgotten costs a tenth.
        let later = watched(PaymentState::Waiting, 700, Some(740), 701);
        assert_eq!(later, Some(730));
        assert_eq!(watched(PaymentState::Failed, 1000, Some(1060), 1010), None);
    }

    #[test]
    fn a_subscription_polls_an_ended_attempt_once_an_hour() {
        let end = 900 + 60 * DAY;
        for payment_state in [
            PaymentState::Failed,
            PaymentState::Cancelled,
            PaymentState::Expired,
        ] {
            let polled_at = end + 60;
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
        // The same while polls are a day apart.
        let week = 900 + 7 * DAY;
        let wanted = watched(PaymentState::Failed, week, Some(week + DAY), week + 60);
        assert_eq!(wanted, Some(week + 3600));
    }
}
