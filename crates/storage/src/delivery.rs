//! Deliveries: tries at sending an event to a store's webhook.

use florin_orders::{DeliveryId, EndpointHash, Event, EventId, EventType, TraceParent};
use jiff::{SignedDuration, Timestamp};

/// An event that should be delivered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// The event.
    pub event: Event,
    /// Tries so far.
    pub tries: u32,
    /// The trace of its order.
    pub traceparent: Option<TraceParent>,
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The webhook accepted it.
    Delivered,
    /// Retry at that time.
    Retry(Timestamp),
    /// No further retry; the store can still read it by the pull API, or ask for a redelivery.
    GivenUp,
    /// The endpoint answered 410. It is disabled: this event and all later ones wait until it is
    /// enabled again.
    Gone(EndpointHash),
    /// The store has no webhook.
    NotWanted,
}

/// One delivery of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which event.
    pub event_id: EventId,
    /// When it began.
    pub tried_at: Timestamp,
    /// How long it took.
    pub took: SignedDuration,
    /// The store's HTTP status; absent when none came.
    pub http_status: Option<u16>,
    /// What happened, in words.
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

/// A recorded delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The event's type.
    pub event_type: EventType,
    /// The delivery.
    pub delivery: Delivery,
}

/// Which deliveries of a store to list, latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only those of this event.
    pub event: Option<EventId>,
    /// Only those before this one.
    pub after: Option<DeliveryId>,
    /// At most so many.
    pub limit: u32,
}

/// The status of a store's webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointStatus {
    /// Events that wait for delivery.
    pub waiting: u64,
    /// The endpoint that is disabled.
    pub gone: Option<DisabledEndpoint>,
}

/// An endpoint that answered 410.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisabledEndpoint {
    /// Hash of its address.
    pub endpoint: EndpointHash,
    /// When.
    pub since: Timestamp,
}
