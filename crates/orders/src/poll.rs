//! When an attempt is asked about next, while nobody watches. A watcher, or a callback, only brings the time forward.

use jiff::{SignedDuration, Timestamp};

use crate::{Invoice, Standing};

/// What a planned look is for, the least urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It is time again; nobody waits for it.
    Planned,
    /// Somebody watches the order.
    Watched,
    /// A callback hinted that there is something to see.
    Hinted,
}

impl Urgency {
    /// Every urgency with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Planned, "planned"),
        (Self::Watched, "watched"),
        (Self::Hinted, "hinted"),
    ];
}

/// How long after its end an attempt is looked at by itself.
const WATCHED_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The time of the next look, counted from `now`; `None` when nothing can change any more.
///
/// An attempt that is over is still looked at for a week, ever more rarely: money that arrives late is found. One that is
/// settled is looked at after ten minutes, then each time when twice as long has gone by: ten looks in three and a half days
/// show whether the service stands by what it said. `Assumed:` it takes nothing back later than that; a store that hears
/// of it elsewhere would disprove it.
pub fn next_poll(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    let minutes = SignedDuration::from_mins;
    let age = now.duration_since(invoice.opened_at);
    let over_for = now.duration_since(invoice.expires_at);
    let pause = match invoice.standing {
        Standing::Settled => {
            let settled_for = now.duration_since(invoice.standing_since);
            if settled_for >= minutes(48 * 60) {
                return None;
            }
            settled_for.max(minutes(10))
        }
        Standing::Waiting if over_for >= SignedDuration::ZERO => SignedDuration::from_secs(15),
        Standing::Waiting => {
            // A hosted session is paid on the service's page, and the service calls back when it is.
            let is_elsewhere = invoice.page().is_some();
            let pause = if is_elsewhere {
                60
            } else if age < minutes(2) {
                15
            } else {
                30
            };
            // Never past the end: that look is the one that can call it expired.
            let left = SignedDuration::ZERO.saturating_sub(over_for);
            SignedDuration::from_secs(pause).min(left.max(SignedDuration::from_secs(1)))
        }
        Standing::Seen | Standing::Confirming if age < minutes(60) => SignedDuration::from_secs(15),
        Standing::Seen | Standing::Confirming => minutes(1),
        Standing::Short
        | Standing::Failed
        | Standing::Cancelled
        | Standing::Expired
        | Standing::Frozen => {
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

/// The time of the next look after one that allowed no conclusion: a person has to act first, so it is not made often.
pub fn next_poll_after_hold(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    if invoice.standing == Standing::Settled {
        return next_poll(invoice, now);
    }
    let held = Invoice {
        standing: Standing::Failed,
        ..invoice.clone()
    };
    next_poll(&held, now)
}

/// The time of a look because somebody watches the order; `None` when nothing is to be planned for that. However many
/// watch, the service is asked once per `interval` while the payment moves, and at most hourly once no look is planned any
/// more.
pub fn watched_poll(
    invoice: &Invoice,
    interval: SignedDuration,
    now: Timestamp,
) -> Option<Timestamp> {
    let looked_at = invoice.observed_at.unwrap_or(invoice.opened_at);
    let has_ended = now.duration_since(invoice.expires_at) >= WATCHED_AFTER;
    match (invoice.standing, invoice.next_poll_at) {
        (Standing::Settled, _) => None,
        (_, planned) if has_ended => planned
            .is_none()
            .then(|| now.max(looked_at + SignedDuration::from_hours(1))),
        (
            Standing::Waiting | Standing::Seen | Standing::Confirming | Standing::Short,
            Some(planned),
        ) => {
            let wanted = now.max(looked_at + interval);
            (planned > wanted).then_some(wanted)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoice(standing: Standing) -> Invoice {
        Invoice {
            standing,
            ..crate::fixtures::invoice(1)
        }
    }

    #[track_caller]
    fn pause(standing: Standing, at_secs: i64) -> Option<i64> {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(at_secs);
        next_poll(&invoice(standing), now).map(|next| next.duration_since(now).as_secs())
    }

    #[test]
    fn waiting_is_looked_at_often_and_never_past_its_end() {
        assert_eq!(pause(Standing::Waiting, 0), Some(15));
        assert_eq!(pause(Standing::Waiting, 300), Some(30));
        assert_eq!(pause(Standing::Waiting, 890), Some(10));
        assert_eq!(pause(Standing::Waiting, 900), Some(15));
    }

    #[test]
    fn what_is_over_is_looked_at_for_a_week_ever_more_rarely() {
        let day = 24 * 3600;
        for standing in [
            Standing::Expired,
            Standing::Failed,
            Standing::Short,
            Standing::Cancelled,
        ] {
            assert_eq!(pause(standing, 900), Some(60));
            assert_eq!(pause(standing, 2 * 3600), Some(900));
            assert_eq!(pause(standing, 2 * day), Some(3600));
            assert_eq!(pause(standing, 8 * day), None);
        }
    }

    #[test]
    fn what_is_settled_is_looked_at_ten_times_ever_more_rarely() {
        let (mut now, mut looks) = (0, Vec::new());
        while let Some(pause) = pause(Standing::Settled, now) {
            now += pause;
            looks.push(now / 60);
        }
        assert_eq!(looks, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120]);
    }

    #[test]
    fn a_session_on_the_services_page_is_asked_about_once_a_minute() {
        let hosted = crate::fixtures::hosted(1);
        let opened = Timestamp::UNIX_EPOCH;
        let next = next_poll(hosted.invoice().unwrap(), opened);
        assert_eq!(next, Some(opened + SignedDuration::from_mins(1)));
    }

    /// When a watcher at `now` makes us look, if the last look was at `looked_at` and the next is planned for `planned`.
    #[track_caller]
    fn watched(standing: Standing, looked_at: i64, planned: Option<i64>, now: i64) -> Option<i64> {
        let at = |second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
        let invoice = Invoice {
            observed_at: Some(at(looked_at)),
            next_poll_at: planned.map(at),
            ..invoice(standing)
        };
        let wanted = watched_poll(&invoice, SignedDuration::from_secs(5), at(now));
        wanted.map(Timestamp::as_second)
    }

    #[test]
    fn a_watcher_brings_a_look_at_a_moving_payment_forward() {
        for standing in [Standing::Waiting, Standing::Seen, Standing::Confirming] {
            assert_eq!(watched(standing, 100, Some(130), 101), Some(105));
            assert_eq!(watched(standing, 100, Some(130), 120), Some(120));
            assert_eq!(watched(standing, 100, Some(104), 101), None);
        }
        assert_eq!(watched(Standing::Failed, 1000, Some(1060), 1010), None);
    }

    #[test]
    fn a_watcher_has_what_ended_looked_at_once_an_hour() {
        let week = 900 + 7 * 24 * 3600;
        for standing in [Standing::Failed, Standing::Short, Standing::Expired] {
            let looked_at = week + 60;
            let within = watched(standing, looked_at, None, looked_at + 60);
            assert_eq!(within, Some(looked_at + 3600));
            // Planned so, it stays so however often somebody looks.
            assert_eq!(watched(standing, looked_at, within, looked_at + 120), None);
            let after = looked_at + 9000;
            assert_eq!(watched(standing, looked_at, None, after), Some(after));
        }
        assert_eq!(watched(Standing::Settled, 1000, None, week + 9000), None);
    }
}
