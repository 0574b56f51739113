//! The order and the attempt that all responses of the table are about.

use florin_money::Currency;

use crate::fixtures::{amount, attempt, hosted, order};
use crate::{
    Amounts, Assessment, Attempt, Flow, InvoiceTerms, Observation, Order, QuotedAmounts,
    ReviewReason, assess,
};

/// An order of 18.11 euros, so that no two of the three amounts are alike, and its attempt.
pub(super) struct Fixture {
    order: Order,
    attempt: Attempt,
}

impl Fixture {
    pub(super) fn new(flow: Flow, tolerance: &str) -> Self {
        let mut order = order(crate::OrderStatus::AwaitingPayment);
        order.terms.amount = amount("18.11");
        order.terms.currency = euro();
        order.terms.tolerance = amount(tolerance);
        let mut attempt = match flow {
            Flow::Custom => attempt(1),
            Flow::Hosted => hosted(1),
        };
        if let InvoiceTerms::Custom(terms) = &mut attempt.terms.invoice {
            terms.requested = QuotedAmounts {
                amounts: Amounts {
                    local: amount("18.11"),
                    ..terms.requested.amounts
                },
                local_currency: euro(),
            };
        }
        Self { order, attempt }
    }

    /// The member that keeps a response from being assessed.
    pub(super) fn field(&self, observation: &Observation) -> Option<&'static str> {
        match assess(&self.order, &self.attempt, observation) {
            Assessment::NeedsReview(
                ReviewReason::Missing(field)
                | ReviewReason::Unreadable(field, _)
                | ReviewReason::Mismatch { field, .. }
                | ReviewReason::ZeroRequestedAmount(field),
            ) => Some(field),
            _ => None,
        }
    }

    /// The name of the assessment of a response.
    pub(super) fn assess(&self, observation: &Observation) -> &'static str {
        match assess(&self.order, &self.attempt, observation) {
            Assessment::Waiting => "waiting",
            Assessment::Expired => "expired",
            Assessment::Detected(_) => "detected",
            Assessment::Confirming(_) => "confirming",
            Assessment::Settled { excess, .. } if excess.is_zero() => "PAID",
            Assessment::Settled { .. } => "OVER",
            Assessment::Underpaid(_) => "underpaid",
            Assessment::Failed(_) => "failed",
            Assessment::Cancelled(_) => "cancelled",
            Assessment::AddressChanged { .. } => "address changed",
            Assessment::NeedsReview(ReviewReason::Missing(_)) => "needs review: missing",
            Assessment::NeedsReview(ReviewReason::Unreadable(..)) => "needs review: unreadable",
            Assessment::NeedsReview(ReviewReason::UnknownStatus(_)) => "needs review: status",
            Assessment::NeedsReview(ReviewReason::Mismatch { .. }) => "needs review: mismatch",
            Assessment::NeedsReview(ReviewReason::ZeroRequestedAmount(_)) => {
                "needs review: nothing asked"
            }
            Assessment::NeedsReview(reason) => {
                panic!("no cell of the table has this reason: {reason}")
            }
        }
    }
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("three capitals are a currency")
}
