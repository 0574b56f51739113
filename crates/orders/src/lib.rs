//! Orders, attempts and observations: a pure state machine.
//!
//! Two pure functions decide everything about money: [`judge`] turns an order, an attempt and one observation into a
//! [`Verdict`], and [`advance`] turns the verdict into what changes. `florin-storage` applies the change in one
//! transaction.
//!
//! What this crate refuses to do: I/O, reading a clock, and knowing who reported an observation: no HTTP, no SQL, and no
//! types of the gateway.

mod assess;
mod attempt;
mod event;
#[cfg(any(test, feature = "fixtures"))]
#[doc(hidden)]
pub mod fixtures;
mod id;
mod observation;
mod order;
mod poll;
mod record;
mod transition;

pub use assess::{Hold, Verdict, judge};
pub use attempt::{
    Abandoned, Ask, Asked, Attempt, AttemptState, CustomAsk, Invoice, NewAttempt, Place, Progress,
    Standing,
};
pub use event::{Event, EventType};
pub use id::{
    AttemptId, DeliveryId, EndpointHash, EventId, InvalidId, InvoiceId, OrderId, Reference,
    StoreId, TokenHash,
};
pub use observation::{Figures, Observation};
pub use order::{
    Flow, LatePayment, NewOrder, Order, OrderLine, OrderStatus, PriceSource, Reverted, Snapshot,
    thing_of, word_of,
};
pub use poll::{Urgency, next_poll, next_poll_after_hold, watched_poll};
pub use record::OrderRecord;
pub use transition::{Change, advance, remember};
