//! Decisions: what an operator decides about an order that the gateway's responses leave open.
//!
//! | decision | order not credited | order credited |
//! |---|---|---|
//! | accept as paid | `paid`, credited by the attempt in question | refused |
//! | snooze | unchanged | unchanged |
//! | resolve | `cancelled`; no later payment credits it | unchanged |
//!
//! Each of them ends the request for attention until something new happens. After a closing decision only another decision
//! credits the order: a payment that arrives later is reported as late.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{
    Aggregate, Attempt, AttemptId, EventType, Invoice, LatePayment, OrderStatus, PaymentState,
};

/// What an operator decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DecisionKind {
    /// The order is credited, whatever the gateway reports.
    AcceptAsPaid,
    /// The order stays as it is.
    Snooze,
    /// Nothing more is expected. An order that is not credited is cancelled.
    Resolve,
}

/// An operator's decision that ended an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DecisionRecord")]
pub struct FinalDecision {
    /// `accepted`: the operator credited the order, although the gateway has not reported a full payment. `closed`: no payment
    /// credits it any more.
    #[schemars(schema_with = "crate::record::words::<DecisionOutcome>")]
    pub outcome: DecisionOutcome,
    /// When it was decided.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
}

/// How a decision ended an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DecisionOutcome {
    /// Credited by the operator.
    Accepted,
    /// Closed without a credit.
    Closed,
}

/// Why a person should look at an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum AttentionCause {
    /// The latest response about one of its attempts is not understood or contradicts itself.
    NeedsReview,
    /// The gateway named another address than the shown one.
    AddressChanged,
    /// An invoice did not pass our checks.
    Blocked,
    /// Completed with less than the price.
    Underpaid,
    /// It ended without a credit although money had arrived.
    EndedWithMoney,
    /// The gateway contradicts the credit.
    Reverted,
    /// It was paid after the invoice had expired.
    LatePayment,
    /// Another payment came for an order that was paid or closed.
    SecondPayment,
    /// More than the price came with its payment.
    Overpaid,
}

/// Why a decision was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DecisionError {
    #[error("the order is credited already, and an order is credited once")]
    AlreadyCredited,
    #[error("the order is closed already")]
    AlreadyClosed,
    #[error("nothing about this order needs a decision: its status is {}", <&str>::from(.0))]
    NothingToDecide(OrderStatus),
    #[error(
        "no payment of this order was observed, so that there is none to accept: close the order, and let the customer \
         order again"
    )]
    NoPayment,
}

/// The outcome of a decision.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct AppliedDecision {
    /// The attempt that credits the order.
    pub credited_by: Option<AttemptId>,
    /// Events to emit, in this order.
    pub events: Vec<EventType>,
}

impl Aggregate {
    /// Why a person should look at the order, in the order of the variants; empty if nothing is open.
    pub fn attention_causes(&self) -> Vec<AttentionCause> {
        use AttentionCause as Cause;
        let order = &self.order;
        let invoices = || self.attempts.iter().filter_map(Attempt::invoice);
        let is_changed = |invoice: &&Invoice| invoice.payment_state == PaymentState::AddressChanged;
        let is_unclear = |invoice: &Invoice| invoice.needs_review && !is_changed(&invoice);
        let is_open = !order.status.is_settled();
        let has_ended = order.status.has_ended_unpaid();
        let all = [
            (Cause::NeedsReview, invoices().any(is_unclear)),
            (
                Cause::AddressChanged,
                invoices().any(|it| it.needs_review && is_changed(&it)),
            ),
            (Cause::Blocked, order.status == OrderStatus::Blocked),
            (Cause::Underpaid, order.status == OrderStatus::Underpaid),
            (
                Cause::EndedWithMoney,
                is_open && has_ended && order.has_money,
            ),
            (Cause::Reverted, order.reverted.is_some()),
            (
                Cause::LatePayment,
                order.late_payment == Some(LatePayment::Counted),
            ),
            (
                Cause::SecondPayment,
                order.late_payment == Some(LatePayment::Second),
            ),
            (
                Cause::Overpaid,
                order.status == OrderStatus::Overpaid && !self.owed().is_empty(),
            ),
        ];
        let present = all.into_iter().filter(|(_, is_present)| *is_present);
        present.map(|(cause, _)| cause).collect()
    }

    /// Requests attention from `now` on, if there is a cause.
    pub fn request_attention(&mut self, now: Timestamp) {
        if !self.attention_causes().is_empty() {
            self.attention_since = Some(now);
            self.order.version += 1;
        }
    }

    /// Updates the request for attention after a change that had the causes `before` and emitted `events`.
    pub(crate) fn update_attention(
        &mut self,
        before: &[AttentionCause],
        events: &[EventType],
        now: Timestamp,
    ) {
        let causes = self.attention_causes();
        let has_new_cause = causes.iter().any(|cause| !before.contains(cause))
            || events.iter().any(|event| event.needs_attention());
        if causes.is_empty() {
            self.attention_since = None;
        } else if has_new_cause {
            self.attention_since = Some(now);
        }
    }

    /// Carries out a decision at `now`.
    ///
    /// # Errors
    /// [`DecisionError`]; nothing changes then.
    pub fn decide(
        &mut self,
        decision: DecisionKind,
        now: Timestamp,
    ) -> Result<AppliedDecision, DecisionError> {
        let order = &self.order;
        if decision == DecisionKind::AcceptAsPaid && order.status.is_settled() {
            return Err(DecisionError::AlreadyCredited);
        }
        if self.attention_causes().is_empty() {
            return Err(DecisionError::NothingToDecide(order.status));
        }
        let applied = match decision {
            DecisionKind::AcceptAsPaid => self.accept(now)?,
            DecisionKind::Snooze => AppliedDecision::default(),
            DecisionKind::Resolve => self.resolve(now)?,
        };
        self.attention_since = None;
        let order = &mut self.order;
        order.sequence += u32::try_from(applied.events.len()).expect("a handful of events");
        order.version += 1;
        Ok(applied)
    }

    fn accept(&mut self, now: Timestamp) -> Result<AppliedDecision, DecisionError> {
        let attempt = self.attempt_in_question();
        let id = attempt.ok_or(DecisionError::NoPayment)?.terms.id.clone();
        let order = &mut self.order;
        order.status = OrderStatus::Paid;
        order.current_attempt = Some(id.clone());
        order.settled_at = Some(now);
        order.decision = Some(FinalDecision {
            outcome: DecisionOutcome::Accepted,
            at: now,
        });
        order.has_money = self.attempts.iter().any(Attempt::has_money);
        Ok(AppliedDecision {
            credited_by: Some(id),
            events: vec![EventType::Paid],
        })
    }

    fn resolve(&mut self, now: Timestamp) -> Result<AppliedDecision, DecisionError> {
        let order = &mut self.order;
        if order.status.is_settled() {
            return Ok(AppliedDecision::default());
        }
        if order.decision.is_some() && self.attention_since.is_none() {
            return Err(DecisionError::AlreadyClosed);
        }
        order.status = OrderStatus::Cancelled;
        order.decision = Some(FinalDecision {
            outcome: DecisionOutcome::Closed,
            at: now,
        });
        order.has_money = self.attempts.iter().any(Attempt::has_money);
        Ok(AppliedDecision {
            credited_by: None,
            events: vec![EventType::Cancelled],
        })
    }

    /// The attempt whose payment is in question: one that has money or needs review before one whose payment vanished, the
    /// shown one before others, the latest before earlier ones. An acceptance credits it.
    pub fn attempt_in_question(&self) -> Option<&Attempt> {
        let observed = self.attempts.iter().filter_map(|attempt| {
            let invoice = attempt.invoice()?;
            let is_open = invoice.needs_review || attempt.has_money();
            let is_candidate = invoice.observed_at.is_some() && (is_open || invoice.was_seen);
            let rank = (is_open, self.order.is_current(attempt), attempt.begun_at);
            is_candidate.then_some((rank, attempt))
        });
        let (_, attempt) = observed.max_by_key(|(rank, _)| *rank)?;
        Some(attempt)
    }
}

#[cfg(test)]
mod tests;
