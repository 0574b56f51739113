//! Orders: what a store wants paid, once.
//!
//! `Paid` and `Overpaid` are final. Every other status can still become one of them, because money that arrives late is
//! found and credited; after an operator has closed the order, only by another decision.

use florin_money::{Amount, CryptoCode, Currency};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{
    Attempt, AttemptId, DecisionOutcome, FinalDecision, Flow, LatePayment, LineKind, OrderId,
    OrderStatus, PaymentState, Reference, Refund, StoreId, TraceParent,
};

/// An order as it was opened. Nothing of it changes afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOrder {
    /// The store.
    pub store_id: StoreId,
    /// The store's own name for it; one order per reference.
    pub reference: Reference,
    /// The price, above zero.
    pub amount: Amount,
    /// The price's currency.
    pub currency: Currency,
    /// Who named the price.
    pub price_source: PriceSource,
    /// What is sold, at most 120 characters.
    pub title: String,
    /// What it is made of, for show: the price is `amount` alone. Empty when unknown; at most 50.
    pub lines: Vec<OrderLine>,
    /// The customer's email address; absent when unknown.
    pub customer_email: Option<String>,
    /// Where the customer goes afterwards.
    pub return_url: Option<String>,
    /// Where the customer goes instead from an order that is not paid.
    pub cancel_url: Option<String>,
    /// The store's own notes, handed back untouched: a JSON object.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// The assets it may be paid in; empty for all.
    pub assets: Vec<CryptoCode>,
    /// Who shows the customer how to pay.
    pub flow: Flow,
    /// How much may be missing and still count as paid, in `currency`; below the price.
    pub tolerance: Amount,
    /// From when on no further attempt is opened. A payment that arrives later is still found.
    pub expires_at: Timestamp,
    /// The trace in which it was opened; absent without one. Calls of the gateway about the order and its webhooks belong to
    /// it.
    pub traceparent: Option<TraceParent>,
}

/// One line of what is sold.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OrderLine {
    /// Its name on the receipt, 1 to 120 characters.
    pub title: String,
    /// Item, discount, tax or shipping.
    #[serde(default, skip_serializing_if = "LineKind::is_item")]
    pub kind: LineKind,
    /// How many, 1 at least; 1 of what is no item.
    pub quantity: u32,
    /// The price of one, in the order's currency; absent when unknown.
    pub unit_amount: Option<Amount>,
    /// The price of all of them, in the order's currency, or what a discount takes off; absent when unknown.
    pub amount: Option<Amount>,
    /// A picture, on a host that the operator named.
    pub image_url: Option<String>,
}

impl OrderLine {
    /// The amount as it is shown: with a minus sign before that of a discount.
    pub fn signed_amount(&self) -> Option<String> {
        self.amount.map(|amount| match self.kind {
            LineKind::Discount => format!("-{amount}"),
            _ => amount.to_string(),
        })
    }
}

/// Who named the price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum PriceSource {
    /// A product of the store's catalogue.
    Catalogue,
    /// The store's server, by its secret key.
    StoreServer,
    /// The store's server, by a token that it signed and the browser carried.
    OrderToken,
    /// The customer, within the bounds of a declared donation. Nothing is shipped for such an
    /// order: its events are named `donation.*`.
    Customer,
}

/// A contradiction of a given credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RevertedRecord")]
pub struct Reverted {
    /// When it was first observed.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
    /// The state that contradicts the credit: `failed`, `cancelled`, `expired`, `waiting`, `detected` or `confirming` (no
    /// longer completed), `underpaid` (less than the price), `settled` (completed with less than was credited) or
    /// `address_changed`.
    #[schemars(schema_with = "crate::record::words::<PaymentState>")]
    pub payment_state: PaymentState,
}

/// An order and its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// As it was opened.
    pub terms: NewOrder,
    /// Its status.
    pub status: OrderStatus,
    /// The attempt that is shown.
    pub current_attempt: Option<AttemptId>,
    /// Number of its latest event.
    pub sequence: u32,
    /// Grows with every change of the order or its current attempt.
    pub version: u64,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was credited.
    pub settled_at: Option<Timestamp>,
    /// What contradicts the credit; absent while nothing does.
    pub reverted: Option<Reverted>,
    /// When the store cancelled it. Its status still changes when a payment arrives.
    pub cancelled_at: Option<Timestamp>,
    /// `true` if [`crate::Attempt::has_money`] holds for any of its attempts, current or replaced.
    pub has_money: bool,
    /// What came late; absent while it is not paid, and when nothing did.
    pub late_payment: Option<LatePayment>,
    /// The operator's decision that ended the order; absent when none did.
    pub decision: Option<FinalDecision>,
    /// The email address for the receipt. The gateway and the store are sent it. The page never shows it: its link would
    /// reveal it.
    pub receipt_email: Option<String>,
    /// The asset of the payment that came late last; absent when none did.
    pub late_crypto_code: Option<CryptoCode>,
    /// Where the customer wants money back. Nothing proves that the address is the customer's.
    pub refund_address: Option<String>,
    /// What the store has sent back, in the order in which it was recorded.
    pub refunds: Vec<Refund>,
}

impl Order {
    /// Returns `true` if more than the price arrived, a second payment did, or money stayed with an order that an operator
    /// closed, and nothing was sent back since.
    pub fn owes_money(&self) -> bool {
        let owes = match self.status {
            OrderStatus::Overpaid => true,
            OrderStatus::Paid => self.late_payment == Some(LatePayment::Second),
            _ => self.is_closed() && self.has_money,
        };
        owes && self.refunds.is_empty()
    }

    /// Returns `true` if this attempt is the one that is shown.
    pub fn is_current(&self, attempt: &Attempt) -> bool {
        self.current_attempt.as_ref() == Some(&attempt.terms.id)
    }

    /// Returns `true` if this email address may be stored for the receipt. A paid order takes one: the gateway has it then, and a
    /// second one would ask it for a second receipt.
    pub fn takes_receipt_email(&self, email: Option<&str>) -> bool {
        let known = self.receipt_email.as_deref();
        !self.status.is_settled() || known.is_none() || known == email
    }

    /// Returns `true` if this attempt paid the order. It is then the one that is shown.
    pub fn is_credited_by(&self, attempt: &Attempt) -> bool {
        self.status.is_settled() && self.is_current(attempt)
    }

    /// Returns `true` if the store cancelled the order and no payment has arrived since.
    pub fn is_cancelled_by_its_store(&self) -> bool {
        self.cancelled_at.is_some() && self.status == OrderStatus::Cancelled
    }

    /// Returns `true` if an operator credited the order.
    pub fn is_accepted(&self) -> bool {
        let outcome = self.decision.map(|decision| decision.outcome);
        outcome == Some(DecisionOutcome::Accepted)
    }

    /// Returns `true` if no payment credits it any more: it is paid, or an operator closed it.
    pub fn is_closed(&self) -> bool {
        let outcome = self.decision.map(|decision| decision.outcome);
        self.status.is_settled() || outcome == Some(DecisionOutcome::Closed)
    }

    /// Returns `true` if it ended without a payment and takes no further attempt. A late payment is still found.
    pub fn ended_unpaid(&self, now: Timestamp) -> bool {
        self.status.has_ended_unpaid() && !self.has_money && !self.takes_attempts(now)
    }

    /// Returns `true` if another attempt may be opened at `now`: not once credited, closed by an operator or cancelled by
    /// the store, not after the order's expiry, and not while a payment is detected on any attempt,
    /// because the customer would pay twice.
    pub fn takes_attempts(&self, now: Timestamp) -> bool {
        !self.status.is_settled()
            && self.cancelled_at.is_none()
            && self.decision.is_none()
            && !self.has_money
            && now < self.terms.expires_at
    }
}

/// An order with the attempt that is shown: all that a view is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The order.
    pub order: Order,
    /// Its current attempt.
    pub attempt: Option<Attempt>,
}

impl Snapshot {
    /// The asset in which the store owes money; `None` while it owes none, and while the gateway names no asset.
    pub fn owed_in(&self) -> Option<&CryptoCode> {
        let order = &self.order;
        let late = order.late_crypto_code.as_ref().filter(|_| {
            order.status != OrderStatus::Overpaid || order.late_payment == Some(LatePayment::Second)
        });
        let shown = || self.attempt.as_ref().and_then(Attempt::asset);
        late.or_else(shown).filter(|_| order.owes_money())
    }
}
