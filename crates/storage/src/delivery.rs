//! Deliveries: the tries at telling a store its events.

use florin_orders::{DeliveryId, EndpointHash, Event, EventId, EventType};
use jiff::{SignedDuration, Timestamp};

/// An event that should be delivered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// What to tell.
    pub event: Event,
    /// Tries so far.
    pub tries: u32,
}

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The store has it.
    Delivered,
    /// Try again then.
    Retry(Timestamp),
    /// No further try; the store can still read it by the pull API, or ask for it again.
    GivenUp,
    /// The endpoint says that it is gone for good. Nothing more is sent to it, and nothing is lost: this event and all
    /// later ones wait until the store's endpoint is restored.
    Gone(EndpointHash),
    /// The store has no webhook.
    NotWanted,
}

/// A try at telling an event.
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

/// A try on record, for people who ask what was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// What was told.
    pub event_type: EventType,
    /// The try.
    pub delivery: Delivery,
}

/// Which tries of a store to list, latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only those of this event.
    pub event: Option<EventId>,
    /// Only those before this one.
    pub after: Option<DeliveryId>,
    /// At most so many.
    pub limit: u32,
}

/// How telling a store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telling {
    /// How many events wait to be told.
    pub waiting: u64,
    /// The endpoint that said it is gone, while nothing is sent to it.
    pub gone: Option<GoneEndpoint>,
}

/// An endpoint that said it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoneEndpoint {
    /// Which address said so.
    pub endpoint: EndpointHash,
    /// When.
    pub since: Timestamp,
}
