//! The ledger: orders, attempts, observations, events and the outbox.
//!
//! It records facts and never asks who reported them: no HTTP here, and no types of the payment service. Two pure
//! functions decide everything about money: [`judge`] turns an order, an attempt and one observation into a
//! [`Verdict`], and [`advance`] turns the verdict into what changes. A store ([`Ledger`]) applies the change in one
//! transaction: observation, state, credit and outbox row together, or nothing.
//!
//! Invariants, kept by code and by the database's own triggers:
//! - an order is credited at most once, ever, and only by an observation that covers its price;
//! - a price, a credit, an observation and an event never change once written;
//! - every change of an order's status has an event, but for the customer's own "I have paid", which proves nothing; the
//!   events of an order are numbered without a gap.

mod advance;
mod attempt;
mod error;
mod event;
#[cfg(test)]
mod fixtures;
mod id;
mod judge;
mod observation;
mod order;
mod record;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod sqlite;
mod store;
mod urgency;
mod watch;

pub use advance::{Change, advance};
pub use attempt::{
    Abandoned, Ask, Asked, Attempt, AttemptState, CustomAsk, Invoice, NewAttempt, Place, Progress,
    Standing,
};
pub use error::{BeginError, LedgerError, OpenError};
pub use event::{
    Delivery, DeliveryFilter, DeliveryOutcome, DueDelivery, Event, EventType, GoneEndpoint,
    RecordedDelivery, Telling,
};
pub use id::{
    AttemptId, DeliveryId, EndpointHash, EventId, InvalidId, InvoiceId, OrderId, Reference,
    StoreId, TokenHash,
};
pub use judge::{Hold, Verdict, judge};
pub use observation::{Figures, Observation};
pub use order::{
    Flow, LatePayment, NewOrder, Order, OrderLine, OrderStatus, PriceSource, Reverted, Snapshot,
};
pub use record::OrderRecord;
pub use request::{Claim, Fingerprint, RequestId, StoredAnswer};
pub use sqlite::SqliteLedger;
pub use store::{DueAttempt, Ledger, Observed, Opened, OrderFilter, Settlement};
pub use urgency::Urgency;
pub use watch::{next_poll, next_poll_after_hold, watched_poll};
