//! Deliveries: tries at sending an event to a store's webhook.

use async_trait::async_trait;
use florin_orders::{DeliveryId, EndpointHash, Event, EventId, StoreId, TraceParent, WebhookId};
use jiff::{SignedDuration, Timestamp};

use crate::Result;

/// A webhook of a store. Its deliveries are its own: one that fails delays those of no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    pub store: StoreId,
    pub webhook: WebhookId,
}

impl From<StoreId> for Endpoint {
    fn from(store: StoreId) -> Self {
        let webhook = WebhookId::default();
        Self { store, webhook }
    }
}

/// An event that should be delivered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    pub event: Event,
    /// Tries by the schedule so far.
    pub tries: u32,
    /// Early tries since the endpoint accepted another event while this one waited; 0 before.
    pub wakes: u32,
    /// The retry that this try comes ahead of; absent for a try of the schedule.
    pub ahead_of: Option<Timestamp>,
    pub traceparent: Option<TraceParent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    Retry(Retry),
    /// No further retry; the store can still read it by the pull API, or ask for a redelivery.
    GivenUp,
    /// The endpoint answered 410. It is disabled: this event and all later ones wait until it is
    /// enabled again.
    Gone(EndpointHash),
    NoWebhook,
}

impl DeliveryOutcome {
    pub(crate) fn state_and_retry(self) -> (&'static str, Option<Retry>) {
        match self {
            Self::Delivered => ("delivered", None),
            Self::GivenUp => ("given_up", None),
            Self::NoWebhook => ("no_webhook", None),
            Self::Retry(retry) => ("pending", Some(retry)),
            Self::Gone(_) => ("pending", None),
        }
    }
}

/// When a failed delivery is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// By the schedule.
    pub at: Timestamp,
    /// The event is tried early only after this time.
    pub early_from: Timestamp,
    /// Until then no waiting event with money is tried early at this endpoint.
    pub probe_at: Timestamp,
    /// `true` for a try of the schedule. One ahead of it is neither counted nor recorded: an endpoint that is away is tried
    /// for as long as events wait.
    pub is_counted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub event_id: EventId,
    pub webhook: WebhookId,
    pub tried_at: Timestamp,
    pub took: SignedDuration,
    /// The store's HTTP status; absent when none came.
    pub http_status: Option<u16>,
    pub note: String,
}

impl Delivery {
    /// When it ended, by the clock at that moment.
    pub(crate) fn ended_at(&self) -> Timestamp {
        self.tried_at
            .saturating_add(self.took)
            .expect("no calendar units")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDelivery {
    pub id: DeliveryId,
    /// The name of the event that the store reads: `order.paid`, or `donation.paid`.
    pub kind: String,
    pub delivery: Delivery,
}

/// Which deliveries of a store to list, latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub event: Option<EventId>,
    pub after: Option<DeliveryId>,
    pub limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointStatus {
    pub waiting: u64,
    pub gone: Option<DisabledEndpoint>,
}

/// An endpoint that answered 410.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisabledEndpoint {
    pub endpoint: EndpointHash,
    pub since: Timestamp,
}

/// Storage of events and their deliveries. Each method is one transaction.
#[async_trait]
pub trait DeliveryStorage: Send + Sync + std::fmt::Debug {
    /// A page of a store's events in the order in which they happened, behind the event `after`; `None` when
    /// the store has no such event.
    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>>;

    /// Records the webhooks of a store, each with the types of events that it asks for, all when absent: events that happen from
    /// now on are for them. Returns those that it had before, for which events may still wait; not those that were removed
    /// earlier and for which none waits.
    async fn set_webhooks(
        &self,
        store: &StoreId,
        webhooks: Vec<(WebhookId, Option<Vec<String>>)>,
    ) -> Result<Vec<Endpoint>>;

    /// Leases events that are due for delivery to a webhook, at most `limit`. An event that failed is due when its retry is, after
    /// its endpoint has accepted another one, or in its turn: while it has money, one such event is tried every
    /// [`crate::PROBE_INTERVAL`]. Events of orders with money come first; the last
    /// of the `limit` places is reserved for them. Of each order only the earliest pending event is leased, which keeps the
    /// events of an order in order. Processes that share a database lease at most [`crate::MAX_DELIVERIES_PER_WEBHOOK`] of a
    /// webhook at once. Empty while its endpoint is disabled.
    async fn due_deliveries(
        &self,
        endpoint: &Endpoint,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>>;

    async fn record_delivery(&self, delivery: &Delivery, outcome: DeliveryOutcome) -> Result<()>;

    /// A page of a store's deliveries, latest first; `None` when the store has no such event or
    /// delivery as the filter names.
    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>>;

    /// Schedules a redelivery of an event, with all its retries: to a webhook, or to all that asked for it. Returns `true` if the
    /// event happened when the store had that webhook.
    async fn redeliver(
        &self,
        store: &StoreId,
        event: &EventId,
        webhook: Option<&WebhookId>,
        now: Timestamp,
    ) -> Result<bool>;

    async fn endpoint_status(&self, endpoint: &Endpoint) -> Result<EndpointStatus>;

    /// Enables a disabled endpoint: all waiting events are delivered from now on, with all their
    /// retries. Returns `true` if it was disabled.
    async fn enable_endpoint(&self, endpoint: &Endpoint, now: Timestamp) -> Result<bool>;

    /// The number of events that wait for delivery, for the operator.
    async fn backlog(&self) -> Result<u64>;
}
