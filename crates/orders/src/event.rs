//! Events: facts about an order that the store is sent.

use jiff::Timestamp;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{EventId, OrderId, PriceSource, StoreId};

/// What happened to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", prefix = "order.")]
pub enum EventType {
    /// It was opened.
    Created,
    /// An invoice is shown to the customer.
    AttemptOpened,
    /// A transaction without a confirmation was detected.
    PaymentSeen,
    /// The transaction gathers confirmations.
    Processing,
    /// It is credited, by a payment or by an operator's decision. The one event to ship on.
    Paid,
    /// It is credited, and more than the price arrived. Follows `order.paid`.
    Overpaid,
    /// Completed with less than the price.
    Underpaid,
    /// The gateway reports the payment as failed.
    Failed,
    /// The invoice ran out before anything arrived.
    Expired,
    /// Cancelled by the store before a payment was detected, at the gateway, where money may have
    /// arrived before, or closed by an operator.
    Cancelled,
    /// The invoice did not pass our checks, or its address changed. A person has to check.
    Blocked,
    /// Money arrived for an attempt that was over or replaced, or for an order that was paid already.
    LatePayment,
    /// It is credited, and the gateway contradicts that: failed, cancelled, or less than was
    /// credited. It stays paid; a person has to check before anything more is shipped.
    Reverted,
    /// The customer of a paid order named the email address for the receipt. An address that was named before is in the
    /// event `order.paid`.
    EmailAdded,
    /// The customer named an address for the refund of money that the store owes, or another one.
    RefundAddressAdded,
    /// The store has sent money back to the customer, and recorded that.
    Refunded,
}

impl EventType {
    /// The name on the wire: `order.paid`, or `donation.paid` where the customer named the price,
    /// so that a handler of `order.paid` never ships for a donation.
    pub fn name_for(self, source: PriceSource) -> String {
        match (source, <&str>::from(self).split_once('.')) {
            (PriceSource::Customer, Some((_, fact))) => format!("donation.{fact}"),
            _ => <&str>::from(self).to_owned(),
        }
    }

    /// Returns `true` if money has been seen: such events are delivered before all others.
    pub fn is_about_money(self) -> bool {
        match self {
            Self::PaymentSeen
            | Self::Processing
            | Self::Paid
            | Self::Overpaid
            | Self::Underpaid
            | Self::Failed
            | Self::LatePayment
            | Self::Reverted
            | Self::EmailAdded
            | Self::RefundAddressAdded
            | Self::Refunded => true,
            Self::Created
            | Self::AttemptOpened
            | Self::Expired
            | Self::Cancelled
            | Self::Blocked => false,
        }
    }

    /// Returns `true` if a person should look at the order each time that it happens.
    pub(crate) fn needs_attention(self) -> bool {
        matches!(
            self,
            Self::Underpaid | Self::Blocked | Self::LatePayment | Self::Reverted
        )
    }

    /// The type of a name, of an order or of a donation.
    pub fn parse(name: &str) -> Option<Self> {
        let fact = name
            .strip_prefix("donation.")
            .or(name.strip_prefix("order."))?;
        fact.parse().ok()
    }
}

/// One event. Every delivery has the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Grows over all events of the database: the cursor of the pull API.
    pub position: i64,
    /// Stable over every delivery: the webhook's id.
    pub id: EventId,
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// Number among the order's events, from 1 without a gap.
    pub sequence: u32,
    /// What happened.
    pub event_type: EventType,
    /// The name that the store reads: `order.paid`, or `donation.paid`.
    pub kind: String,
    /// When.
    pub created_at: Timestamp,
    /// The webhook's body.
    pub payload: String,
}
