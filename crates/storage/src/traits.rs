//! The storage trait. The contract tests of this crate hold for every implementation.

use std::collections::BTreeMap;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Assessment, Attempt, AttemptId, Destination, EventType, Invoice, InvoiceId,
    NewAttempt, NewOrder, Observation, Order, OrderId, OrderStatus, PollPriority, Reference,
    Snapshot, StoreId, Stretch, TokenHash, TraceParent, TransactionHint,
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    DeliveryStorage, ExpiringStorage, OpenAttemptError, OpenError, OperatorStorage,
    OrderOperationError, Result, SharedStorage,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The order: a new one, or the one that its reference already names.
    pub order: Order,
    pub is_new: bool,
}

/// Which orders of a store to list, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderFilter {
    pub reference: Option<Reference>,
    pub status: Option<OrderStatus>,
    pub after: Option<OrderId>,
    pub limit: u32,
}

/// An attempt that is due for a poll. It is leased: no other worker receives it before the lease
/// ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueAttempt {
    pub attempt_id: AttemptId,
    pub order_id: OrderId,
    pub invoice_id: InvoiceId,
    pub priority: PollPriority,
    /// Fencing number of this poll. The response to an earlier poll is ignored once a later one is
    /// recorded.
    pub poll_seq: u32,
    /// The factor of the pause before the next poll.
    pub stretch: Stretch,
    pub traceparent: Option<TraceParent>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollQueue {
    pub due: u64,
    /// How many of them come before those of unwatched orders.
    pub due_prioritised: u64,
    /// When the first poll of each priority is due; a priority without a poll is absent.
    pub first: BTreeMap<PollPriority, Timestamp>,
}

impl PollQueue {
    /// When the first of all polls is due; `None` when there is none.
    pub fn first_at(&self) -> Option<Timestamp> {
        self.first.values().min().copied()
    }

    pub(crate) fn count(&mut self, priority: PollPriority, due: i64) {
        let due = due.unsigned_abs();
        self.due += due;
        if priority != PollPriority::Unwatched {
            self.due_prioritised += due;
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedObservation {
    pub assessment: Assessment,
    /// `true` if the order or its attempt changed, or an attempt needs review for a new reason.
    pub changed: bool,
    pub events: Vec<EventType>,
    /// The order and the observed attempt, as they were committed.
    pub snapshot: Snapshot,
}

/// An order that the customer reports as paid.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedAsPaid {
    pub snapshot: Snapshot,
    /// `true` if this call marked its invoice. It alone reports to the gateway.
    pub is_first: bool,
}

/// A transaction that the customer's wallet named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTransaction {
    pub hint: TransactionHint,
    /// Where it goes; absent for the current attempt.
    pub address: Option<String>,
}

impl NamedTransaction {
    /// The address of an attempt before this one, if the transaction pays that.
    pub(crate) fn earlier_address(&self, current: Option<&Invoice>) -> Option<&str> {
        let address = self.address.as_deref()?;
        let is_current = current.is_some_and(|invoice| match &invoice.destination {
            Destination::Address { address: of_it, .. } => of_it.eq_ignore_ascii_case(address),
            Destination::Page { .. } => false,
        });
        (!is_current).then_some(address)
    }
}

/// An order that was given an email address for the receipt.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptEmail {
    pub snapshot: Snapshot,
    pub change: EmailChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailChange {
    /// It is stored, and there was none before.
    First,
    /// It is stored in place of another, or removed.
    Replaced,
    /// The order has it already.
    Unchanged,
    /// The order is paid and keeps its own: see [`florin_orders::Order::takes_receipt_email`].
    Refused,
}

/// Storage of polls and what they find. Each method is one transaction.
#[async_trait]
pub trait PollStorage: Send + Sync + std::fmt::Debug {
    /// Leases up to `limit` due attempts of a priority, the longest due first.
    async fn due_attempts(
        &self,
        priority: PollPriority,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>>;

    /// Schedules a poll of an order's current attempt `pause` after its last one, unless one is due before. Returns
    /// `true` if the schedule changed.
    async fn schedule_poll(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool>;

    /// Schedules a poll of every attempt of an order `pause` after its last one, unless one is due before. Returns `true` if
    /// a schedule changed. An attempt whose address was changed keeps its schedule.
    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool>;

    /// Makes polls and deliveries due now whose times were computed while the clock was ahead: polls of attempts that were opened
    /// or polled after `now`, and deliveries that were planned or begun after it, each by more than 5 seconds. Such invoices are
    /// treated as opened now. On a server `now` is its time if that is later. Returns the number of polls and deliveries.
    async fn replan_future(&self, now: Timestamp) -> Result<u64>;

    /// The polls that are due by `until`, counted up to `most` per priority.
    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue>;

    /// Brings the next poll of an invoice forward to `at`, after a callback; two seconds after the
    /// last poll at the earliest. Returns `false` for an unknown invoice.
    async fn schedule_poll_of_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool>;

    /// Brings the next poll of a settled invoice forward to `at`, after a callback that contradicts
    /// the settlement; a minute after the last poll at the earliest. Returns `false` for any other
    /// invoice.
    async fn schedule_recheck(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool>;

    /// The store whose order has or had an invoice; `None` for an unknown one.
    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>>;

    /// Reschedules a poll that failed at `now`, with its priority or a higher one that was requested
    /// meanwhile.
    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()>;

    /// Records an observation and everything that follows from it: state, credit and events, in one
    /// transaction. `None` if a later poll has been recorded.
    async fn record_observation(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<RecordedObservation>>;
}

/// Storage of attempts. Each method is one transaction.
#[async_trait]
pub trait AttemptStorage: Send + Sync + std::fmt::Debug {
    /// Writes the row of an attempt, before the gateway is asked for its invoice.
    ///
    /// # Errors
    /// [`OrderOperationError::Closed`] when the order takes no attempt; [`OrderOperationError::InProgress`] while another is being
    /// opened; [`OrderOperationError::TooMany`] when too many were begun just now.
    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, OrderOperationError>;

    /// Stores the invoice of an attempt and makes the attempt current. The previous one is still
    /// polled.
    ///
    /// # Errors
    /// [`OpenAttemptError::InvoiceTaken`] when another attempt holds an invoice of this id; nothing changes.
    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError>;

    /// Ends an attempt that got no invoice to show.
    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<()>;

    /// Abandons, as [`Abandoned::OutcomeUnknown`], a batch of the attempts begun before `begun_before` that are still
    /// being created: the process that was to request the invoice has ended. Returns their number; 0 if none is left.
    async fn abandon_stale_attempts(&self, begun_before: Timestamp, now: Timestamp) -> Result<u64>;

    /// Records that the customer reports the payment, and the transaction that their wallet named, in place of an earlier
    /// one. A repetition changes nothing else, and of concurrent calls one alone is the first. A credited order keeps no
    /// hint. A transaction to the address of an earlier attempt is kept with that one, and marks neither.
    ///
    /// # Errors
    /// [`OrderOperationError::Closed`] when no invoice is open, or none has the transaction's address.
    async fn mark_as_paid(
        &self,
        order: &OrderId,
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError>;
}

/// Storage of orders, and all else. Each method that reads or changes orders is one transaction. None calls the
/// gateway or a shop.
#[async_trait]
pub trait Storage:
    SharedStorage + OperatorStorage + ExpiringStorage + AttemptStorage + PollStorage + DeliveryStorage
{
    /// Opens an order, or finds the one that the reference names, and grants `token` access to it
    /// until `token_expires_at`.
    ///
    /// # Errors
    /// [`OpenError::Conflict`] when the reference names an order of another price or currency.
    async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError>;

    /// One order.
    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>>;

    /// A page of a store's orders, newest first.
    async fn orders(&self, store: &StoreId, filter: &OrderFilter) -> Result<Vec<Snapshot>>;

    /// Cancels an order for which no payment was detected.
    ///
    /// # Errors
    /// [`OrderOperationError::Closed`] once a payment was detected.
    async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError>;

    /// Expires a batch of the orders without an attempt whose time is over. Returns their ids; none if none is left.
    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>>;

    /// Stores the email address for the receipt, in place of an earlier one; `None` removes it. A paid order keeps the one it has,
    /// and the first one that it is given is an event. Returns the order; `None` for an unknown one.
    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>>;

    /// Stores the customer's address for a refund, in place of an earlier one, with an event. Returns the order; `None` for an
    /// unknown one, and where [`florin_orders::Aggregate::takes_refund_address`] refuses the address.
    async fn keep_refund_address(
        &self,
        order: &OrderId,
        address: &str,
        now: Timestamp,
    ) -> Result<Option<Snapshot>>;
}
