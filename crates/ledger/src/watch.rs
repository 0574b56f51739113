//! When an attempt is asked about next, while nobody watches. A watcher, or a callback, only brings the time forward.

use jiff::{SignedDuration, Timestamp};

use crate::{Invoice, Standing};

/// The time of the next look, counted from `now`; `None` when nothing can change any more.
///
/// An attempt that is over is still looked at for a week, ever more rarely: money that arrives late is found.
pub fn next_poll(invoice: &Invoice, now: Timestamp) -> Option<Timestamp> {
    let minutes = SignedDuration::from_mins;
    let age = now.duration_since(invoice.opened_at);
    let over_for = now.duration_since(invoice.expires_at);
    let pause = match invoice.standing {
        Standing::Settled => return None,
        Standing::Waiting if over_for >= SignedDuration::ZERO => SignedDuration::from_secs(15),
        Standing::Waiting => {
            let pause = if age < minutes(2) { 15 } else { 30 };
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
            } else if over_for < minutes(7 * 24 * 60) {
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
    let held = Invoice {
        standing: Standing::Failed,
        ..invoice.clone()
    };
    next_poll(&held, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Progress;

    fn invoice(standing: Standing) -> Invoice {
        Invoice {
            id: crate::InvoiceId::parse("inv_1").unwrap(),
            address: "a".into(),
            qr_string: "a".into(),
            warnings: Vec::new(),
            opened_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH + SignedDuration::from_mins(15),
            marked_as_paid_at: None,
            standing,
            progress: Progress::NOTHING,
            observed_at: None,
            next_poll_at: None,
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
    fn what_is_settled_is_left_alone() {
        assert_eq!(pause(Standing::Settled, 60), None);
    }
}
