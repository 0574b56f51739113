//! The words of decisions: what an operator decides, and why a person should look at an order.

use jiff::Timestamp;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What an operator decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DecisionKind {
    /// The order is credited, whatever the gateway reports.
    AcceptAsPaid,
    /// The order stays as it is.
    KeepWaiting,
    /// Nothing more is expected. An order that is not credited is cancelled.
    Close,
}

/// A decision that ended an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinalDecision {
    /// How it ended.
    pub outcome: DecisionOutcome,
    /// When it was decided.
    pub at: Timestamp,
}

/// How a decision ended an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
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
    /// It was paid twice.
    SecondPayment,
}
