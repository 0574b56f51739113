//! Orders, attempts and observations: a pure state machine.
//!
//! Two pure functions decide what an observation changes: [`assess`] turns an order, an attempt and one observation into an
//! [`Assessment`], and [`transition`] turns that into a [`Transition`], which `florin-storage` applies in one transaction.
//! [`Aggregate::decide`] applies an operator's decision: it can credit an order that no observation credited.
//!
//! What this crate refuses to do: I/O, reading a clock, and depending on the source of an observation: no HTTP, no SQL, and no
//! types of the gateway.

mod aggregate;
mod assess;
mod attempt;
mod decide;
mod event;
#[cfg(any(test, feature = "fixtures"))]
#[doc(hidden)]
pub mod fixtures;
mod id;
mod observation;
mod order;
mod poll;
mod record;
mod refund;
mod stretch;
mod trace_parent;
mod transition;

pub use aggregate::{Aggregate, AppliedAssessment};
pub use assess::{Assessment, assess};
pub use attempt::{
    Abandoned, Attempt, AttemptState, CustomTerms, Destination, Invoice, InvoiceTerms, NewAttempt,
    PaymentState, Progress, QuotedAmounts,
};
/// The words that customers, stores and the database read. `Paid` and `Overpaid` are final. Every other status can still
/// become one of them, because money that arrives late is found and credited; after an operator has closed the order, only
/// by another decision.
pub use florin_checkout_api::{Flow, LatePayment, LineKind, Status as OrderStatus};

pub use decide::{
    AppliedDecision, AttentionCause, DecisionError, DecisionKind, DecisionOutcome, FinalDecision,
};
pub use event::{Event, EventType};
pub use id::{
    AttemptId, AuditId, DeliveryId, EndpointHash, EventId, InvalidId, InvoiceId, OrderId,
    Reference, StoreId, TokenHash, TransactionHint, WebhookId,
};
pub use observation::{Amounts, Observation, ReviewReason};
pub use order::{NewOrder, Order, OrderLine, PriceSource, Reverted, Snapshot};
pub use poll::{
    PollPriority, eager_pause, is_fresh, next_poll, next_poll_after_review, second_payment_pause,
    watched_pause,
};
pub use record::OrderRecord;
pub use refund::{NewRefund, Refund, RefundError};
pub use stretch::Stretch;
pub use trace_parent::{InvalidTraceParent, TraceParent};
pub use transition::{Transition, next_invoice, transition};

#[cfg(test)]
mod tests {
    mod stored_names;
}
