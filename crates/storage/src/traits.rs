//! What a database must do to be a ledger. SQLite is the first; the contract in this crate's tests is for all.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    BeginError, Claim, Delivery, DeliveryFilter, DeliveryOutcome, DueDelivery, Fingerprint,
    LedgerError, OpenError, RecordedDelivery, RequestId, StoredAnswer, Telling,
};
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, EventType, Invoice, InvoiceId, NewAttempt,
    NewOrder, Observation, Order, OrderId, OrderStatus, Reference, Snapshot, StoreId, TokenHash,
    Urgency, Verdict,
};

/// An opened order.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The order: a new one, or the one that its reference already names.
    pub order: Order,
    /// Whether it is new.
    pub is_new: bool,
}

/// Which orders of a store to list, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderFilter {
    /// Only the order of this reference.
    pub reference: Option<Reference>,
    /// Only orders that stand here.
    pub status: Option<OrderStatus>,
    /// Only orders older than this one.
    pub after: Option<OrderId>,
    /// At most so many.
    pub limit: u32,
}

/// An attempt that it is time to ask the service about. It is leased: nobody else gets it before the lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueAttempt {
    /// Which attempt.
    pub attempt_id: AttemptId,
    /// Whose.
    pub order_id: OrderId,
    /// What to ask for.
    pub invoice_id: InvoiceId,
    /// What the look is for.
    pub urgency: Urgency,
    /// Number of this look. An answer to an earlier look is ignored once a later one is recorded.
    pub look: u32,
}

/// What an observation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// What it means.
    pub verdict: Verdict,
    /// Whether that is news: the order or its attempt changed, or a payment is held for a reason that is new.
    pub changed: bool,
    /// Where the order stands.
    pub status: OrderStatus,
    /// What the store is told of it.
    pub events: Vec<EventType>,
}

/// A credit: the one entry that says an order is paid.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// The order, credited once.
    pub order_id: OrderId,
    /// By which attempt.
    pub attempt_id: AttemptId,
    /// The price.
    pub amount: florin_money::Amount,
    /// Its currency.
    pub currency: florin_money::Currency,
}

/// A ledger in some database. Every method is one transaction; none waits for the network.
#[async_trait]
pub trait Ledger: Send + Sync + std::fmt::Debug {
    /// Opens an order, or finds the one that the reference names, and lets `token` see it until `token_expires_at`.
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

    /// Lets another client token see an order.
    async fn admit(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<(), LedgerError>;

    /// Claims a request with an idempotency key until `lease_until`, or says what became of it. A lease that is over is
    /// taken over, so that a crash locks no key for ever.
    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim, LedgerError>;

    /// Keeps the answer of the request that was claimed until `lease_until`. Answers whether the claim still held.
    async fn answer_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        answer: &StoredAnswer,
        kept_until: Timestamp,
    ) -> Result<bool, LedgerError>;

    /// Gives back the claim that holds until `lease_until`.
    async fn release_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
    ) -> Result<(), LedgerError>;

    /// Forgets requests that were kept long enough, and claims whose lease is over. Answers how many.
    async fn forget_requests(&self, now: Timestamp) -> Result<u64, LedgerError>;

    /// The order that a client token opens; `None` for an unknown or expired token.
    async fn order_of_token(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<Snapshot>, LedgerError>;

    /// One order.
    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>, LedgerError>;

    /// A page of a store's orders, newest first.
    async fn orders(
        &self,
        store: &StoreId,
        filter: &OrderFilter,
    ) -> Result<Vec<Snapshot>, LedgerError>;

    /// Cancels an order for which nothing was paid.
    ///
    /// # Errors
    /// [`BeginError::Closed`] once money was seen.
    async fn cancel_order(&self, id: &OrderId, now: Timestamp) -> Result<Snapshot, BeginError>;

    /// Forgets client tokens that opened nothing any more. Answers how many.
    async fn forget_tokens(&self, now: Timestamp) -> Result<u64, LedgerError>;

    /// Ends every order that was never tried and takes no attempt any more. Answers which.
    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>, LedgerError>;

    /// Writes the row of an attempt, before the service is asked for its invoice.
    ///
    /// # Errors
    /// [`BeginError::Closed`] when the order takes no attempt; [`BeginError::InProgress`] while another is being
    /// opened; [`BeginError::TooMany`] when too many were begun just now.
    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, BeginError>;

    /// Gives an attempt its invoice and shows it. The attempt that was shown before is still watched.
    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), LedgerError>;

    /// Ends an attempt that got no invoice to show.
    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<(), LedgerError>;

    /// Abandons, as [`Abandoned::Unclear`], every attempt begun before `begun_before` that is still being created: the
    /// process that was to ask for its invoice is gone. Answers how many.
    async fn abandon_stale_attempts(
        &self,
        begun_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, LedgerError>;

    /// Notes that the customer says it is paid. Saying it again changes nothing.
    ///
    /// # Errors
    /// [`BeginError::Closed`] when no invoice is open.
    async fn mark_as_paid(&self, order: &OrderId, now: Timestamp) -> Result<Snapshot, BeginError>;

    /// Keeps where the customer of an order wants the receipt, in place of an earlier address; `None` removes it. Answers the
    /// order; `None` for an unknown one.
    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
    ) -> Result<Option<Snapshot>, LedgerError>;

    /// Leases up to `limit` attempts of an urgency that are due, those due longest first.
    async fn due_attempts(
        &self,
        urgency: Urgency,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>, LedgerError>;

    /// Asks for a look at an order's current attempt at `at`, if none is planned before: somebody watches. Answers whether
    /// that changed anything.
    async fn hurry_order(&self, order: &OrderId, at: Timestamp) -> Result<bool, LedgerError>;

    /// The same on a callback's hint, by the service's id of the invoice; two seconds after the last look at the
    /// earliest. Answers `false` for an unknown invoice.
    async fn hurry_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool, LedgerError>;

    /// The same for an invoice that settled, when a callback contradicts that; a minute after the last look at the
    /// earliest. Answers `false` for any other invoice.
    async fn doubt_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool, LedgerError>;

    /// The store whose order has or had an invoice; `None` for an unknown one.
    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>, LedgerError>;

    /// Plans a look anew that could not be made: just as urgent, unless it has become more so meanwhile.
    async fn defer_attempt(&self, due: &DueAttempt, until: Timestamp) -> Result<(), LedgerError>;

    /// Records an observation and all that follows from it: state, credit and events, in one transaction. `None` when a
    /// later look was recorded already.
    async fn observe(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<Observed>, LedgerError>;

    /// The credit of an order.
    async fn settlement(&self, order: &OrderId) -> Result<Option<Settlement>, LedgerError>;

    /// A page of a store's events in the order in which they happened, behind the event `after`; `None` when
    /// the store has no such event.
    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, LedgerError>;

    /// Leases up to `limit` events that it is time to tell a store. Of one order only the earliest that is not settled yet is
    /// among them: a store hears an order's events in their order. None while the store's endpoint is gone.
    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>, LedgerError>;

    /// Records a try at telling an event and what follows from it.
    async fn record_delivery(
        &self,
        delivery: &Delivery,
        outcome: DeliveryOutcome,
    ) -> Result<(), LedgerError>;

    /// A page of the tries at telling a store, latest first; `None` when the store has no such event or delivery as the
    /// filter names.
    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>, LedgerError>;

    /// Plans to tell an event again, with all its tries. Answers whether the store has such an event.
    async fn redeliver(
        &self,
        store: &StoreId,
        event: &EventId,
        now: Timestamp,
    ) -> Result<bool, LedgerError>;

    /// How telling a store goes.
    async fn telling(&self, store: &StoreId) -> Result<Telling, LedgerError>;

    /// Sends to a store again whose endpoint said that it is gone: everything that waits is told from now on, with all
    /// its tries. Answers whether it was gone.
    async fn restore_endpoint(&self, store: &StoreId, now: Timestamp) -> Result<bool, LedgerError>;

    /// How many events wait to be told, for the operator.
    async fn backlog(&self) -> Result<u64, LedgerError>;
}
