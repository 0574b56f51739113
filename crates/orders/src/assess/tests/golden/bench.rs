//! The order and the attempt that all answers of the table are about.

use florin_money::Currency;

use crate::fixtures::{amount, attempt, hosted, order};
use crate::{Ask, Asked, Attempt, Figures, Flow, Hold, Observation, Order, Verdict, judge};

/// An order of 18.11 euros, so that no two of the three figures are alike, and its attempt.
pub(super) struct Bench {
    order: Order,
    attempt: Attempt,
}

impl Bench {
    pub(super) fn new(flow: Flow, tolerance: &str) -> Self {
        let mut order = order(crate::OrderStatus::AwaitingPayment);
        order.terms.amount = amount("18.11");
        order.terms.currency = euro();
        order.terms.tolerance = amount(tolerance);
        let mut attempt = match flow {
            Flow::Custom => attempt(1),
            Flow::Hosted => hosted(1),
        };
        if let Ask::Custom(ask) = &mut attempt.terms.ask {
            ask.asked = Asked {
                figures: Figures {
                    local: amount("18.11"),
                    ..ask.asked.figures
                },
                local_currency: euro(),
            };
        }
        Self { order, attempt }
    }

    /// What an answer is judged to mean, in a word.
    pub(super) fn word(&self, seen: &Observation) -> &'static str {
        match judge(&self.order, &self.attempt, seen) {
            Verdict::Waiting => "waiting",
            Verdict::Expired => "expired",
            Verdict::Seen(_) => "seen",
            Verdict::Confirming(_) => "confirming",
            Verdict::Settled { excess, .. } if excess.is_zero() => "PAID",
            Verdict::Settled { .. } => "OVER",
            Verdict::Short(_) => "short",
            Verdict::Failed(_) => "failed",
            Verdict::Cancelled(_) => "cancelled",
            Verdict::Frozen { .. } => "frozen",
            Verdict::Held(Hold::Missing(_)) => "held:missing",
            Verdict::Held(Hold::Unreadable(..)) => "held:unreadable",
            Verdict::Held(Hold::UnknownStatus(_)) => "held:status",
            Verdict::Held(Hold::Mismatch { .. }) => "held:mismatch",
            Verdict::Held(Hold::AsksNothing(_)) => "held:nothing asked",
            Verdict::Held(hold) => panic!("no cell of the table is held for: {hold}"),
        }
    }
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("three capitals are a currency")
}
