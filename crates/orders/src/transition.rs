//! The state machine: what a verdict changes.
//!
//! ```text
//! open ──attempt──▶ awaiting_payment ──seen──▶ checking ──confirming──▶ processing ──settled──▶ paid │ overpaid
//!                        │                                                 └─short──▶ underpaid ──settled──▶ …
//!                        └─▶ expired │ failed │ cancelled ──(money arrives late)──▶ checking …
//! ```
//!
//! `paid` and `overpaid` absorb everything. A verdict that says what is known already changes nothing. What the service
//! says against a credit changes no status: it is told, once each time that it says something else.

use jiff::Timestamp;

use crate::{
    Attempt, EventType, Invoice, Order, OrderStatus, Progress, Standing, Verdict, next_poll,
    next_poll_after_hold,
};

/// What a verdict changes about its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where the order stands afterwards.
    pub status: OrderStatus,
    /// Whether the judged attempt becomes the one that is shown.
    pub shows_attempt: bool,
    /// Whether the order is credited by this observation.
    pub credits: bool,
    /// What the service says against the order's credit afterwards.
    pub reverted: Option<Standing>,
    /// What the store is told, in this order.
    pub events: Vec<EventType>,
}

/// Turns a verdict about one of an order's attempts into a change.
pub fn advance(order: &Order, attempt: &Attempt, verdict: &Verdict) -> Change {
    let unchanged = Change {
        status: order.status,
        shows_attempt: false,
        credits: false,
        reverted: order.reverted.map(|reverted| reverted.says),
        events: Vec::new(),
    };
    let (Some(invoice), Some(standing)) = (attempt.invoice(), verdict.standing()) else {
        return unchanged;
    };
    let is_current = order.is_current(attempt);
    if order.is_credited_by(attempt) {
        return reconsider(invoice, verdict, standing, &unchanged);
    }
    let more_arrived = verdict
        .progress()
        .is_some_and(|now| now.received != invoice.progress.received);
    let is_news = standing != invoice.standing || more_arrived;
    if !is_news {
        return unchanged;
    }
    if order.status.is_settled() {
        return second_payment(invoice, verdict, unchanged);
    }
    let carries_money = matches!(
        standing,
        Standing::Seen | Standing::Confirming | Standing::Settled | Standing::Short
    );
    if !is_current && !carries_money {
        return unchanged;
    }
    // A cancellation stands until money arrives. Once some did, how it ends is told as of any other order.
    if order.is_cancelled_by_its_store() && !carries_money {
        return unchanged;
    }
    let Some(status) = next_status(order, verdict) else {
        return unchanged;
    };
    let is_late = carries_money
        && invoice.progress.received.crypto.is_zero()
        && verdict
            .progress()
            .is_some_and(|now| invoice.is_untold(now.received.crypto))
        && (!is_current || is_over(order.status) || is_over_for(invoice.standing));
    let mut events = Vec::new();
    if is_late {
        events.push(EventType::LatePayment);
    }
    let first_seen = standing == Standing::Seen && invoice.standing != Standing::Seen;
    if status != order.status || first_seen || (status == OrderStatus::Underpaid && more_arrived) {
        events.extend(told(status));
    }
    Change {
        status,
        shows_attempt: true,
        credits: status.is_settled(),
        events,
        ..unchanged
    }
}

fn next_status(order: &Order, verdict: &Verdict) -> Option<OrderStatus> {
    use OrderStatus as S;
    let now = order.status;
    Some(match verdict {
        // A transaction that was seen and is gone again: the customer did pay, so the search goes on.
        Verdict::Waiting if matches!(now, S::Processing) => S::Checking,
        Verdict::Waiting | Verdict::Held(_) => return None,
        Verdict::Seen(_) => S::Checking,
        Verdict::Confirming(_) => S::Processing,
        Verdict::Settled { excess, .. } if excess.is_zero() => S::Paid,
        Verdict::Settled { .. } => S::Overpaid,
        Verdict::Short(_) => S::Underpaid,
        // What fell short stays short: the part that arrived is not forgotten.
        Verdict::Failed(_) | Verdict::Expired | Verdict::Cancelled(_) if now == S::Underpaid => {
            return None;
        }
        Verdict::Failed(_) => S::Failed,
        // What was seen after the store's cancellation is gone again: the order is what it was before.
        Verdict::Expired if order.cancelled_at.is_some() => S::Cancelled,
        Verdict::Expired => S::Expired,
        Verdict::Cancelled(_) => S::Cancelled,
        Verdict::Frozen { .. } => S::Blocked,
    })
}

fn is_over(status: OrderStatus) -> bool {
    use OrderStatus as S;
    matches!(status, S::Expired | S::Failed | S::Cancelled)
}

fn is_over_for(standing: Standing) -> bool {
    matches!(
        standing,
        Standing::Expired | Standing::Failed | Standing::Cancelled
    )
}

/// The events of a step. A store that listens for `order.paid` alone hears of every paid order: an overpaid one is told
/// as paid first, then with its excess.
fn told(status: OrderStatus) -> Vec<EventType> {
    use OrderStatus as S;
    match status {
        S::Checking => vec![EventType::PaymentSeen],
        S::Processing => vec![EventType::Processing],
        S::Paid => vec![EventType::Paid],
        S::Overpaid => vec![EventType::Paid, EventType::Overpaid],
        S::Underpaid => vec![EventType::Underpaid],
        S::Failed => vec![EventType::Failed],
        S::Expired => vec![EventType::Expired],
        S::Cancelled => vec![EventType::Cancelled],
        S::Blocked => vec![EventType::Blocked],
        S::Open | S::AwaitingPayment => Vec::new(),
    }
}

/// The credited attempt is looked at again. Anything but the same completed payment is against the credit: failed,
/// cancelled, back among the unconfirmed, less than the price, or less than was credited in the asset, which is what moved.
/// The sums in money may be valued anew, as long as they cover the price.
fn reconsider(invoice: &Invoice, verdict: &Verdict, says: Standing, unchanged: &Change) -> Change {
    let credited = invoice.progress.received.crypto;
    let now = verdict.progress().map(|now| now.received.crypto);
    let stands = says == Standing::Settled && now.is_some_and(|now| now >= credited);
    let reverted = (!stands).then_some(says);
    let mut events = Vec::new();
    if reverted.is_some() && reverted != unchanged.reverted {
        events.push(EventType::Reverted);
    }
    if stands && now.is_some_and(|now| now > credited && invoice.is_untold(now)) {
        events.push(EventType::LatePayment);
    }
    Change {
        reverted,
        events,
        ..unchanged.clone()
    }
}

/// Another attempt of a credited order: a second payment is told, and once, however often it goes and comes.
fn second_payment(invoice: &Invoice, verdict: &Verdict, unchanged: Change) -> Change {
    if let Verdict::Settled { progress, .. } | Verdict::Short(progress) = verdict
        && invoice.is_untold(progress.received.crypto)
    {
        return Change {
            events: vec![EventType::LatePayment],
            ..unchanged
        };
    }
    unchanged
}

/// The invoice as it is from this look on; `None` for an attempt that holds none.
pub fn remember(
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

#[cfg(test)]
mod tests;
