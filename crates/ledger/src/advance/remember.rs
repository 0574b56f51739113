//! What is kept of an invoice after a look at it.

use jiff::Timestamp;

use super::Change;
use crate::{
    Attempt, EventType, Invoice, Order, Progress, Verdict, next_poll, next_poll_after_hold,
};

/// The invoice as it is from this look on; `None` for an attempt that holds none.
pub(crate) fn remember(
    order: &Order,
    attempt: &Attempt,
    verdict: &Verdict,
    change: &Change,
    now: Timestamp,
) -> Option<Invoice> {
    let known = attempt.invoice()?;
    let mut kept = known.clone();
    // What was credited stays on record as it was, whatever is said against it.
    let stays = order.is_credited_by(attempt) && change.reverted.is_some();
    if !stays {
        kept.standing = verdict.standing().unwrap_or(known.standing);
        kept.progress = match verdict {
            Verdict::Waiting | Verdict::Expired => Progress::NOTHING,
            _ => verdict.progress().unwrap_or(&known.progress).clone(),
        };
    }
    kept.was_seen = known.was_seen || sees_a_payment(verdict);
    if kept.standing != known.standing {
        kept.standing_since = now;
    }
    if change.events.contains(&EventType::LatePayment) {
        kept.told_late = verdict.progress().map(|arrived| arrived.received.crypto);
    }
    kept.observed_at = Some(now);
    kept.next_poll_at = match verdict {
        Verdict::Held(_) => next_poll_after_hold(&kept, now),
        _ => next_poll(&kept, now),
    };
    Some(kept)
}

fn sees_a_payment(verdict: &Verdict) -> bool {
    let is_on_its_way = matches!(
        verdict,
        Verdict::Seen(_) | Verdict::Confirming(_) | Verdict::Settled { .. } | Verdict::Short(_)
    );
    is_on_its_way || verdict.progress().is_some_and(Progress::is_something)
}
