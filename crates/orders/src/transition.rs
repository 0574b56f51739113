//! The state machine: the changes that follow from an assessment. `florin-storage` writes those marked with (storage).
//!
//! | from | cause | to |
//! |---|---|---|
//! | `open` | the order's time is over (storage) | `expired` |
//! | any¹, no payment detected | an invoice is shown (storage) | `awaiting_payment` |
//! | `awaiting_payment` | the customer presses "I've sent it" (storage) | `checking` |
//! | any¹, no payment detected | an invoice fails our checks (storage) | `blocked` |
//! | any¹, no payment detected | the store cancels (storage) | `cancelled` |
//! | any¹ | a transaction is detected | `checking` |
//! | any¹ | it has too few confirmations | `processing` |
//! | `processing` | it has vanished | `checking` |
//! | any¹ | completed, and the price is covered | `paid`, `overpaid` |
//! | any¹ | completed with less | `underpaid` |
//! | any¹ but `underpaid` | the invoice's time is over | `expired`; `cancelled` after the store's cancellation |
//! | any¹ but `underpaid` | the gateway reports it as failed | `failed` |
//! | any¹ but `underpaid` | the gateway reports it as cancelled | `cancelled` |
//! | any¹ | the gateway changes the address | `blocked` |
//!
//! ¹ Any status but `paid` and `overpaid`, which are final. Thus a late payment continues an order that is expired, failed,
//! cancelled or blocked. The causes without money count for the current attempt alone, and not while the order is cancelled
//! by its store.
//!
//! An order that an operator closed is not credited by any observation: see [`crate::DecisionKind`].
//!
//! An assessment that repeats what is known changes nothing. An observation that contradicts a credit changes no status: it
//! emits one event each time that the contradiction changes.
//!
//! A second payment arrives after the credit: at the address of another attempt, or as an additional payment at the credited
//! one. Both emit `order.late_payment`, as does a payment for an order that was over.

use florin_money::Amount;
use jiff::Timestamp;

use crate::{
    Assessment, Attempt, EventType, Invoice, LatePayment, Order, OrderStatus, PaymentState,
    Progress, ReviewReason, next_poll, next_poll_after_review,
    poll::next_poll_of_additional_payment,
};

/// The changes that an assessment makes to its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The order's new status.
    pub status: OrderStatus,
    /// `true` if the assessed attempt becomes the current one.
    pub becomes_current: bool,
    /// `true` if this observation credits the order.
    pub credits: bool,
    /// What contradicts the order's credit afterwards.
    pub reverted: Option<PaymentState>,
    /// Events to emit, in this order.
    pub events: Vec<EventType>,
}

/// Applies an assessment of one of an order's attempts.
pub fn transition(order: &Order, attempt: &Attempt, assessment: &Assessment) -> Transition {
    let unchanged = Transition {
        status: order.status,
        becomes_current: false,
        credits: false,
        reverted: order.reverted.map(|reverted| reverted.payment_state),
        events: Vec::new(),
    };
    let (Some(invoice), Some(payment_state)) = (attempt.invoice(), assessment.payment_state())
    else {
        return unchanged;
    };
    let is_current = order.is_current(attempt);
    if order.is_credited_by(attempt) {
        if is_additional_payment(invoice, assessment) {
            return unchanged;
        }
        let recheck = if order.is_accepted() {
            recheck_acceptance
        } else {
            recheck_credit
        };
        return recheck(order, invoice, assessment, payment_state, &unchanged);
    }
    let received_changed = assessment
        .progress()
        .is_some_and(|now| now.received != invoice.progress.received);
    let has_changed = payment_state != invoice.payment_state || received_changed;
    if !has_changed {
        return unchanged;
    }
    if order.is_closed() {
        return second_payment(invoice, assessment, unchanged);
    }
    let has_money = matches!(
        payment_state,
        PaymentState::Detected
            | PaymentState::Confirming
            | PaymentState::Settled
            | PaymentState::Underpaid
    );
    if !is_current && !has_money {
        return unchanged;
    }
    // A cancellation stands until a payment arrives. From then on the order ends like any other.
    if order.is_cancelled_by_its_store() && !has_money {
        return unchanged;
    }
    let Some(status) = next_status(order, assessment) else {
        return unchanged;
    };
    let is_late = has_money
        && invoice.progress.received.crypto.is_zero()
        && assessment
            .progress()
            .is_some_and(|now| invoice.is_unnotified(now.received.crypto))
        && (!is_current || order.status.has_ended_unpaid() || has_ended(invoice.payment_state));
    let mut events = Vec::new();
    if is_late {
        events.push(EventType::LatePayment);
    }
    let newly_detected =
        payment_state == PaymentState::Detected && invoice.payment_state != PaymentState::Detected;
    if status != order.status
        || newly_detected
        || (status == OrderStatus::Underpaid && received_changed)
    {
        events.extend(events_of(status));
    }
    Transition {
        status,
        becomes_current: true,
        credits: status.is_settled(),
        events,
        ..unchanged
    }
}

fn next_status(order: &Order, assessment: &Assessment) -> Option<OrderStatus> {
    use OrderStatus as S;
    let now = order.status;
    Some(match assessment {
        // A detected transaction has vanished: keep checking.
        Assessment::Waiting if matches!(now, S::Processing) => S::Checking,
        Assessment::Waiting | Assessment::NeedsReview(_) => return None,
        Assessment::Detected(_) => S::Checking,
        Assessment::Confirming(_) => S::Processing,
        Assessment::Settled { excess, .. } if excess.is_zero() => S::Paid,
        Assessment::Settled { .. } => S::Overpaid,
        Assessment::Underpaid(_) => S::Underpaid,
        // An underpaid order stays underpaid: the received part is kept.
        Assessment::Failed(_) | Assessment::Expired | Assessment::Cancelled(_)
            if now == S::Underpaid =>
        {
            return None;
        }
        Assessment::Failed(_) => S::Failed,
        // A payment detected after the store's cancellation has vanished: the order is cancelled
        // again.
        Assessment::Expired if order.cancelled_at.is_some() => S::Cancelled,
        Assessment::Expired => S::Expired,
        Assessment::Cancelled(_) => S::Cancelled,
        Assessment::AddressChanged { .. } => S::Blocked,
    })
}

fn has_ended(payment_state: PaymentState) -> bool {
    matches!(
        payment_state,
        PaymentState::Expired | PaymentState::Failed | PaymentState::Cancelled
    )
}

/// The events of a new status. An overpaid order emits `order.paid` first, so that a store which
/// handles only that event misses no payment.
fn events_of(status: OrderStatus) -> Vec<EventType> {
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

/// The credited attempt was observed again. Anything but the same completed payment contradicts the
/// credit: failed, cancelled, unconfirmed, less than the price, or less of the asset than was
/// credited. The fiat amounts may change as long as they cover the price, and a second payment may
/// vanish.
fn recheck_credit(
    order: &Order,
    invoice: &Invoice,
    assessment: &Assessment,
    says: PaymentState,
    unchanged: &Transition,
) -> Transition {
    let credited = invoice.progress.received.crypto;
    let now = assessment.progress().map(|now| now.received.crypto);
    let is_enough =
        includes_second_payment(order, invoice) || now.is_some_and(|now| now >= credited);
    let stands = says == PaymentState::Settled && is_enough;
    let is_late = stands && now.is_some_and(|now| now > credited && invoice.is_unnotified(now));
    rechecked((!stands).then_some(says), is_late, unchanged)
}

/// An attempt that an operator accepted was observed again. The operator knew what had arrived. Less than that, or another
/// address, contradicts the credit; more than the price is a late payment.
fn recheck_acceptance(
    order: &Order,
    invoice: &Invoice,
    assessment: &Assessment,
    says: PaymentState,
    unchanged: &Transition,
) -> Transition {
    let known = invoice.progress.received.crypto;
    let arrived = assessment
        .progress()
        .map_or(Amount::ZERO, |now| now.received.crypto);
    let is_contradiction = match says {
        PaymentState::AddressChanged => invoice.payment_state != PaymentState::AddressChanged,
        PaymentState::Settled if includes_second_payment(order, invoice) => false,
        _ => arrived < known,
    };
    let exceeds_price =
        matches!(assessment, Assessment::Settled { excess, .. } if !excess.is_zero());
    let is_late = exceeds_price && !is_contradiction && invoice.is_unnotified(arrived);
    rechecked(is_contradiction.then_some(says), is_late, unchanged)
}

/// The credit after another observation: what contradicts it now, and whether a second payment has arrived.
fn rechecked(reverted: Option<PaymentState>, is_late: bool, unchanged: &Transition) -> Transition {
    let mut events = Vec::new();
    if reverted.is_some() && reverted != unchanged.reverted {
        events.push(EventType::Reverted);
    }
    if is_late {
        events.push(EventType::LatePayment);
    }
    Transition {
        reverted,
        events,
        ..unchanged.clone()
    }
}

/// Returns `true` if the last amount was reported as a second payment: it exceeds what was credited.
fn includes_second_payment(order: &Order, invoice: &Invoice) -> bool {
    order.late_payment == Some(LatePayment::Second)
        && invoice.late_amount_notified == Some(invoice.progress.received.crypto)
}

/// Returns `true` if more than was credited is on its way to the credited attempt's address: the invoice is then unfinished
/// until the additional payment is, and the first one stands.
fn is_additional_payment(invoice: &Invoice, assessment: &Assessment) -> bool {
    match assessment {
        Assessment::Detected(progress) | Assessment::Confirming(progress) => {
            progress.received.crypto > invoice.progress.received.crypto
        }
        _ => false,
    }
}

/// Another attempt of a credited order, or any of a closed one: a second payment emits one event, however often it vanishes
/// and returns.
fn second_payment(invoice: &Invoice, assessment: &Assessment, unchanged: Transition) -> Transition {
    if let Assessment::Settled { progress, .. } | Assessment::Underpaid(progress) = assessment
        && invoice.is_unnotified(progress.received.crypto)
    {
        return Transition {
            events: vec![EventType::LatePayment],
            ..unchanged
        };
    }
    unchanged
}

/// The invoice after this observation; `None` for an attempt without one.
pub fn next_invoice(
    order: &Order,
    attempt: &Attempt,
    assessment: &Assessment,
    change: &Transition,
    now: Timestamp,
) -> Option<Invoice> {
    let known = attempt.invoice()?;
    let mut kept = known.clone();
    // The credited state stays on record, even when the gateway contradicts it.
    let is_credited = order.is_credited_by(attempt);
    let is_additional = is_credited && is_additional_payment(known, assessment);
    let stays = is_credited && (change.reverted.is_some() || is_additional);
    if !stays {
        kept.payment_state = assessment.payment_state().unwrap_or(known.payment_state);
        kept.progress = match assessment {
            Assessment::Waiting | Assessment::Expired => Progress::NONE,
            _ => assessment.progress().unwrap_or(&known.progress).clone(),
        };
    }
    kept.needs_review = needs_review(is_credited, assessment);
    kept.was_seen = known.was_seen || sees_a_payment(assessment);
    if kept.payment_state != known.payment_state {
        kept.state_since = now;
    }
    if change.events.contains(&EventType::LatePayment) {
        kept.late_amount_notified = assessment.progress().map(|arrived| arrived.received.crypto);
    }
    kept.observed_at = Some(now);
    kept.next_poll_at = match assessment {
        Assessment::NeedsReview(_) => next_poll_after_review(&kept, now),
        _ if is_additional => Some(next_poll_of_additional_payment(&kept, now)),
        _ => next_poll(&kept, now),
    };
    Some(kept)
}

/// Returns `true` if a person has to check the assessment. A gateway that no longer knows an invoice which it completed does
/// not contradict the credit.
fn needs_review(is_credited: bool, assessment: &Assessment) -> bool {
    match assessment {
        Assessment::NeedsReview(ReviewReason::UnknownInvoice) => !is_credited,
        Assessment::NeedsReview(_) | Assessment::AddressChanged { .. } => true,
        _ => false,
    }
}

fn sees_a_payment(assessment: &Assessment) -> bool {
    let is_on_its_way = matches!(
        assessment,
        Assessment::Detected(_)
            | Assessment::Confirming(_)
            | Assessment::Settled { .. }
            | Assessment::Underpaid(_)
    );
    is_on_its_way || assessment.progress().is_some_and(Progress::has_payment)
}

#[cfg(test)]
mod tests;
