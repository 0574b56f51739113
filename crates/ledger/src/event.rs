//! Facts about an order that the store is told, and the tries at telling them.

use jiff::{SignedDuration, Timestamp};

use crate::order::{thing_of, word_of};
use crate::{DeliveryId, EndpointHash, EventId, OrderId, PriceSource, StoreId};

/// What happened to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// It was opened.
    Created,
    /// An invoice is shown to the customer.
    AttemptOpened,
    /// A transaction was seen, without a confirmation.
    PaymentSeen,
    /// The transaction gathers confirmations.
    Processing,
    /// It is credited. The one event to ship on.
    Paid,
    /// It is credited, and more than the price arrived. Follows `order.paid`.
    Overpaid,
    /// Completed with less than the price.
    Underpaid,
    /// The service calls the payment failed.
    Failed,
    /// The invoice ran out before anything arrived.
    Expired,
    /// Given up before anything was paid.
    Cancelled,
    /// The invoice did not pass our checks, or its address changed. A person should look.
    Blocked,
    /// Money arrived for an attempt that was over or replaced, or for an order that was paid already.
    LatePayment,
    /// It is credited, and the service says something against that: failed, cancelled, or less than was received. It stays
    /// paid; a person should look before anything more is shipped.
    Reverted,
}

impl EventType {
    /// Every type with its word.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Created, "order.created"),
        (Self::AttemptOpened, "order.attempt_opened"),
        (Self::PaymentSeen, "order.payment_seen"),
        (Self::Processing, "order.processing"),
        (Self::Paid, "order.paid"),
        (Self::Overpaid, "order.overpaid"),
        (Self::Underpaid, "order.underpaid"),
        (Self::Failed, "order.failed"),
        (Self::Expired, "order.expired"),
        (Self::Cancelled, "order.cancelled"),
        (Self::Blocked, "order.blocked"),
        (Self::LatePayment, "order.late_payment"),
        (Self::Reverted, "order.reverted"),
    ];

    /// The word of an order that is sold: `order.paid`.
    pub fn as_str(self) -> &'static str {
        word_of(&Self::ALL, self)
    }

    /// The word on the wire: `order.paid`, or `donation.paid` where the customer named the price, so that code which
    /// ships on `order.paid` is never fed by a donation.
    pub fn told_of(self, source: PriceSource) -> String {
        match (source, self.as_str().split_once('.')) {
            (PriceSource::Customer, Some((_, fact))) => format!("donation.{fact}"),
            _ => self.as_str().to_owned(),
        }
    }

    /// The type of a word, of an order or of a donation.
    pub fn parse(word: &str) -> Option<Self> {
        match word.strip_prefix("donation.") {
            Some(fact) => thing_of(&Self::ALL, &format!("order.{fact}")),
            None => thing_of(&Self::ALL, word),
        }
    }
}

/// One event, as the store is told it, every time with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Grows over all events of the database: the cursor of the pull API.
    pub position: i64,
    /// Stable over every delivery: the webhook's id.
    pub id: EventId,
    /// Who is told.
    pub store_id: StoreId,
    /// Whose event.
    pub order_id: OrderId,
    /// Number among the order's events, from 1 without a gap.
    pub sequence: u32,
    /// What happened.
    pub event_type: EventType,
    /// The word that the store reads: `order.paid`, or `donation.paid`.
    pub kind: String,
    /// When.
    pub created_at: Timestamp,
    /// The webhook's body.
    pub payload: String,
}

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
