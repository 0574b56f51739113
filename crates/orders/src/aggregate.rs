//! An order with all its attempts: what one transaction loads, changes and saves.

use jiff::Timestamp;

use crate::{
    Assessment, Attempt, AttemptId, AttemptState, Destination, EventType, Invoice, LatePayment,
    Order, OrderStatus, Reverted, Snapshot, Stretch, Transition, next_invoice, transition,
};

/// An order with all its attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The order.
    pub order: Order,
    /// All its attempts, in any order.
    pub attempts: Vec<Attempt>,
    /// When its latest `order.late_payment` was emitted; absent before the first.
    pub late_event_at: Option<Timestamp>,
    /// Since when the order waits for a person; absent while it does not, and after a decision.
    pub attention_since: Option<Timestamp>,
}

/// The outcome of an assessment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedAssessment {
    /// What follows for the order.
    pub transition: Transition,
    /// `true` if the order or the attempt changed for a customer or a store.
    pub changed: bool,
}

impl Aggregate {
    /// One of the attempts; `None` for an attempt of another order.
    pub fn attempt(&self, id: &AttemptId) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.terms.id == *id)
    }

    /// The order with its current attempt.
    pub fn snapshot(&self) -> Snapshot {
        let current = self.order.current_attempt.as_ref();
        Snapshot {
            order: self.order.clone(),
            attempt: current.and_then(|id| self.attempt(id)).cloned(),
        }
    }

    /// Returns `true` if this text may be stored as the address for a refund: money is owed, and no attempt is paid there. Ignores
    /// the case and the prefix of an address.
    pub fn takes_refund_address(&self, address: &str) -> bool {
        let wanted = address.to_ascii_lowercase();
        let is_own = |attempt: &Attempt| {
            let Some(Destination::Address { address, .. }) =
                attempt.invoice().map(|invoice| &invoice.destination)
            else {
                return false;
            };
            let own = address.to_ascii_lowercase();
            own.ends_with(&wanted) || wanted.ends_with(&own)
        };
        self.order.owes_money() && !self.attempts.iter().any(is_own)
    }

    /// Puts off the next poll of an attempt that was observed at `now`.
    pub fn put_off_poll(&mut self, id: &AttemptId, stretch: Stretch, now: Timestamp) {
        let mut attempts = self.attempts.iter_mut();
        let attempt = attempts.find(|attempt| attempt.terms.id == *id);
        if let Some(AttemptState::Open(invoice)) = attempt.map(|attempt| &mut attempt.state) {
            let planned = invoice.next_poll_at;
            invoice.next_poll_at = planned.map(|planned| stretch.scale_poll(invoice, now, planned));
        }
    }

    /// Applies the assessment of an attempt, observed at `now`. Returns `None`, and changes nothing, for an attempt of
    /// another order.
    pub fn apply(
        &mut self,
        id: &AttemptId,
        assessment: &Assessment,
        now: Timestamp,
    ) -> Option<AppliedAssessment> {
        let index = self
            .attempts
            .iter()
            .position(|attempt| attempt.terms.id == *id)?;
        let causes = self.attention_causes();
        let attempt = &self.attempts[index];
        let transition = transition(&self.order, attempt, assessment);
        let invoice = next_invoice(&self.order, attempt, assessment, &transition, now);
        let was_settled = self.order.status.is_settled();
        let owed_in = self.snapshot().owed_in().cloned();
        let contradiction = self.order.reverted.map(|reverted| reverted.payment_state);
        let changed = differs(attempt.invoice(), invoice.as_ref())
            || transition.reverted != contradiction
            || transition.status != self.order.status
            || !transition.events.is_empty();

        if let Some(invoice) = invoice {
            self.attempts[index].state = AttemptState::Open(Box::new(invoice));
        }
        let is_late = transition.events.contains(&EventType::LatePayment);
        if is_late {
            self.late_event_at = self.late_event_at.max(Some(now));
            self.order.late_crypto_code = self.attempts[index].asset().cloned();
        }
        let order = &mut self.order;
        order.status = transition.status;
        if transition.becomes_current {
            order.current_attempt = Some(id.clone());
        }
        if transition.credits {
            order.settled_at = Some(now);
        }
        if transition.reverted != contradiction {
            order.reverted = transition.reverted.map(|payment_state| Reverted {
                at: now,
                payment_state,
            });
        }
        order.has_money =
            order.status == OrderStatus::Underpaid || self.attempts.iter().any(Attempt::has_money);
        if was_settled && is_late {
            order.late_payment = Some(LatePayment::Second);
        } else if transition.credits {
            let paid = self.attempts[index].invoice();
            let counts = paid.is_some_and(|paid| is_paid_late(paid, self.late_event_at));
            order.late_payment = counts.then_some(LatePayment::Counted);
        }
        order.sequence += u32::try_from(transition.events.len()).expect("a handful of events");
        order.version += u64::from(changed);
        // The customer named an address of that asset.
        if self.snapshot().owed_in() != owed_in.as_ref() {
            self.order.refund_address = None;
        }
        self.update_attention(&causes, &transition.events, now);
        Some(AppliedAssessment {
            transition,
            changed,
        })
    }
}

/// Returns `true` if a customer would see a difference.
fn differs(before: Option<&Invoice>, after: Option<&Invoice>) -> bool {
    let shown = |invoice: &Invoice| (invoice.payment_state, invoice.progress.clone());
    before.map(shown) != after.map(shown)
}

/// Returns `true` if an invoice was paid by a payment that was reported as late, after the invoice had expired.
fn is_paid_late(invoice: &Invoice, late_event_at: Option<Timestamp>) -> bool {
    invoice.late_amount_notified.is_some()
        && late_event_at.is_some_and(|at| at >= invoice.expires_at)
}

#[cfg(test)]
mod tests {
    use florin_money::CryptoCode;

    use super::*;
    use crate::Flow;
    use crate::fixtures::life::{Life, Poll, Response, ResponseFault};
    use crate::fixtures::{at, attempt, order};

    /// Records responses: their attempt, the gateway's word, what arrived, and the second.
    fn record(life: &mut Life, (attempt, word, arrived, at): (usize, &'static str, usize, i64)) {
        let response = Response {
            word,
            arrived,
            fault: ResponseFault::None,
        };
        let number = u32::try_from(at).unwrap();
        let recorded = life.record(&Poll {
            attempt,
            number,
            at,
            response,
        });
        recorded.unwrap();
    }

    #[test]
    fn an_order_has_money_while_an_attempt_has() {
        let mut life = Life::new(Flow::Custom);
        for (response, has_money) in [
            ((2, "CHECKING", 0, 1000), false),
            ((1, "PROCESSING", 3, 1100), true),
            ((1, "FAILED", 3, 1200), false),
            ((0, "CANCELLED", 1, 1300), true),
        ] {
            record(&mut life, response);
            assert_eq!(life.aggregate.order.has_money, has_money, "{response:?}");
        }
    }

    #[test]
    fn a_late_payment_counts_once_and_a_second_one_is_named() {
        use LatePayment::{Counted, Second};
        let mut life = Life::new(Flow::Custom);
        for (response, late_payment) in [
            ((2, "CHECKING", 0, 1000), None),
            ((2, "COMPLETED", 3, 1100), Some(Counted)),
            ((0, "COMPLETED", 3, 1200), Some(Second)),
        ] {
            life.aggregate.order.refund_address = Some("of another asset".into());
            record(&mut life, response);
            let order = &life.aggregate.order;
            let is_kept = order.refund_address.is_some();
            assert_eq!(is_kept, late_payment != Some(Second), "{response:?}");
            assert_eq!(order.late_payment, late_payment, "{response:?}");
            let is_late = late_payment.is_some();
            assert_eq!(order.late_crypto_code.is_some(), is_late, "{response:?}");
        }
    }

    #[test]
    fn money_is_owed_for_what_nothing_is_sold_and_in_the_asset_that_arrived() {
        use OrderStatus::{Cancelled, Overpaid, Paid};
        let late = CryptoCode::parse("LTC").ok();
        for (status, late_payment, has_money, owed_in) in [
            (Overpaid, None, true, Some("BTC")),
            (Overpaid, Some(LatePayment::Second), true, Some("LTC")),
            (Paid, Some(LatePayment::Second), true, Some("LTC")),
            (Paid, Some(LatePayment::Counted), true, None),
            (Cancelled, None, true, None),
        ] {
            let order = Order {
                late_payment,
                has_money,
                late_crypto_code: late.clone(),
                ..order(status)
            };
            let attempt = Some(attempt(1));
            let snapshot = Snapshot { order, attempt };
            let found = snapshot.owed_in().map(CryptoCode::as_str);
            assert_eq!(found, owed_in, "{status:?} {late_payment:?}");
        }
    }

    #[test]
    fn an_attempt_of_another_order_changes_nothing() {
        let mut aggregate = Life::new(Flow::Custom).aggregate;
        let id = aggregate.attempts.remove(0).terms.id;
        let before = aggregate.clone();
        assert_eq!(aggregate.apply(&id, &Assessment::Expired, at(1000)), None);
        assert_eq!(aggregate, before);
    }
}
