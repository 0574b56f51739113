//! Facts about an order that the store is told.

use jiff::Timestamp;

use crate::order::{thing_of, word_of};
use crate::{EventId, OrderId, PriceSource, StoreId};

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
