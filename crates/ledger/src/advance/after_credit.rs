//! What is said of an order once it is credited. Its status stays, whatever it is.

use super::Change;
use crate::{EventType, Invoice, Standing, Verdict};

/// The credited attempt is looked at again. Anything but the same completed payment is against the credit: failed,
/// cancelled, back among the unconfirmed, less than the price, or less than was credited in the asset, which is what moved.
/// The sums in money may be valued anew, as long as they cover the price.
pub(super) fn reconsider(
    invoice: &Invoice,
    verdict: &Verdict,
    says: Standing,
    unchanged: &Change,
) -> Change {
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
pub(super) fn second_payment(invoice: &Invoice, verdict: &Verdict, unchanged: Change) -> Change {
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
