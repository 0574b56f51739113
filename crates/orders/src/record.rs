//! An order as its store sees it: in the merchant API and inside every event.

use jiff::Timestamp;
use serde::Serialize;

use crate::{Destination, Order, Refund, Snapshot};

/// An order as JSON for its store. Amounts are decimal strings, times RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderRecord {
    /// `ord_…`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^ord_[0-9a-f]{32}$")))]
    pub id: String,
    /// The store's own name for it.
    pub reference: String,
    /// Its status, as in `OrderView`.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "schema::words::<crate::OrderStatus>")
    )]
    pub status: &'static str,
    /// The price.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount: String,
    /// The price's currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// Who named the price: `catalogue`, `store_server`, `order_token`, or `customer` for a donation.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "schema::words::<crate::PriceSource>")
    )]
    pub price_source: &'static str,
    /// What is sold.
    pub title: String,
    /// The customer's email address, if the store gave one.
    pub customer_email: Option<String>,
    /// The email address that the customer typed at the checkout, for the receipt and for what is delivered by email; absent while
    /// there is none. Nothing proves that it is the customer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt_email: Option<String>,
    /// Where the customer wants money back that the store owes, an address of the asset that arrived; absent while none is
    /// named. Nothing proves that it is the customer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_address: Option<String>,
    /// Where the customer goes afterwards.
    pub return_url: Option<String>,
    /// Where the customer goes instead from an order that is not paid; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_url: Option<String>,
    /// The store's own notes.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// When it was opened.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created_at: String,
    /// From when on no further attempt is opened.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub expires_at: String,
    /// `custom` or `hosted`: who shows the customer how to pay.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "schema::words::<crate::Flow>")
    )]
    pub flow: &'static str,
    /// When it was credited; absent before.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub settled_at: Option<String>,
    /// The operator's decision that ended the order; absent when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
    /// What contradicts the credit; absent while nothing does.
    pub reverted: Option<RevertedRecord>,
    /// What the store has sent back, the first one first; absent before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<RefundRecord>,
    /// The attempt that counts: the one that is shown, or that was credited.
    pub attempt: Option<AttemptRecord>,
}

/// An operator's decision that ended an order.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionRecord {
    /// `accepted`: the operator credited the order, although the gateway has not reported a full payment. `closed`: no payment
    /// credits it any more.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "schema::words::<crate::DecisionOutcome>")
    )]
    pub outcome: &'static str,
    /// When it was decided.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
}

/// A contradiction of a given credit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevertedRecord {
    /// When it was first observed.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
    /// The state that contradicts the credit: `failed`, `cancelled`, `expired`, `waiting`, `detected` or `confirming` (no
    /// longer completed), `underpaid` (less than the price), `settled` (completed with less than was credited) or
    /// `address_changed`.
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "schema::words::<crate::PaymentState>")
    )]
    pub payment_state: &'static str,
}

/// Money that the store has sent back, as it was recorded.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefundRecord {
    /// How much was sent back, in the asset.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount_in_crypto: String,
    /// The asset.
    pub crypto_code: String,
    /// What of the price it takes back, in the order's currency: zero for money that was owed, like a second payment.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount: String,
    /// The transaction that sent it; absent if it was not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_hash: Option<String>,
    /// When it was recorded.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
}

impl RefundRecord {
    fn of(refund: &Refund) -> Self {
        Self {
            amount_in_crypto: refund.amount_in_crypto.to_string(),
            crypto_code: refund.crypto_code.to_string(),
            amount: refund.amount.to_string(),
            transaction_hash: refund.transaction_hash.clone(),
            at: refund.at.to_string(),
        }
    }
}

/// The attempt that counts, with its invoice.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptRecord {
    /// `att_…`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^att_[0-9a-f]{32}$")))]
    pub id: String,
    /// The asset; of a hosted attempt the one that the customer picked, absent before.
    pub crypto_code: Option<String>,
    /// The gateway's id of the invoice or session.
    pub invoice_id: String,
    /// Where the customer pays; absent for a hosted attempt.
    pub address: Option<String>,
    /// The gateway's page where the customer pays; absent for a custom attempt.
    pub payment_process_url: Option<String>,
    /// What was asked for, in the asset; absent for a hosted attempt.
    #[cfg_attr(feature = "schema", schemars(with = "Option<florin_money::Amount>"))]
    pub amount_in_crypto: Option<String>,
    /// What was asked for, in US dollars; absent for a hosted attempt.
    #[cfg_attr(feature = "schema", schemars(with = "Option<florin_money::Amount>"))]
    pub amount_in_usd: Option<String>,
    /// What was asked for, in the gateway's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount_in_local_currency: String,
    /// The gateway's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub local_currency_code: String,
    /// What arrived, in the asset.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_crypto: String,
    /// What arrived, in US dollars.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_usd: String,
    /// What arrived, in the gateway's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_local_currency: String,
    /// The transaction's hash; absent before one is detected.
    pub transaction_hash: Option<String>,
}

impl OrderRecord {
    /// The record of an order and its current attempt.
    pub fn of(snapshot: &Snapshot) -> Self {
        let Order {
            id,
            terms,
            status,
            created_at,
            settled_at,
            decision,
            reverted,
            receipt_email,
            refund_address,
            refunds,
            ..
        } = &snapshot.order;
        Self {
            id: id.to_string(),
            reference: terms.reference.to_string(),
            status: status.into(),
            amount: terms.amount.to_string(),
            currency: terms.currency.to_string(),
            price_source: terms.price_source.into(),
            title: terms.title.clone(),
            customer_email: terms.customer_email.clone(),
            receipt_email: receipt_email.clone(),
            refund_address: refund_address.clone(),
            return_url: terms.return_url.clone(),
            cancel_url: terms.cancel_url.clone(),
            metadata: terms.metadata.clone(),
            created_at: created_at.to_string(),
            expires_at: terms.expires_at.to_string(),
            flow: terms.flow.into(),
            settled_at: settled_at.map(|at| at.to_string()),
            decision: decision.map(|decision| DecisionRecord {
                outcome: decision.outcome.into(),
                at: decision.at.to_string(),
            }),
            reverted: reverted.map(|reverted| RevertedRecord {
                at: reverted.at.to_string(),
                payment_state: reverted.payment_state.into(),
            }),
            refunds: refunds.iter().map(RefundRecord::of).collect(),
            attempt: AttemptRecord::of(snapshot),
        }
    }

    /// The body of an event about this order.
    pub fn payload(&self, event: &str, sequence: u32, now: Timestamp) -> String {
        serde_json::json!({
            "type": event,
            "timestamp": now.to_string(),
            "data": { "sequence": sequence, "order": self },
        })
        .to_string()
    }
}

impl AttemptRecord {
    fn of(snapshot: &Snapshot) -> Option<Self> {
        let attempt = snapshot.attempt.as_ref()?;
        let invoice = attempt.invoice()?;
        let requested = attempt.terms.custom().map(|terms| &terms.requested);
        let price = &snapshot.order.terms;
        let received = &invoice.progress.received;
        let (address, page) = match &invoice.destination {
            Destination::Address { address, .. } => (Some(address.clone()), None),
            Destination::Page { url } => (None, Some(url.to_string())),
        };
        Some(Self {
            id: attempt.terms.id.to_string(),
            crypto_code: attempt.asset().map(ToString::to_string),
            invoice_id: invoice.id.to_string(),
            address,
            payment_process_url: page,
            amount_in_crypto: requested.map(|requested| requested.amounts.crypto.to_string()),
            amount_in_usd: requested.map(|requested| requested.amounts.usd.to_string()),
            amount_in_local_currency: requested
                .map_or(price.amount, |requested| requested.amounts.local)
                .to_string(),
            local_currency_code: requested
                .map_or(price.currency, |requested| requested.local_currency)
                .to_string(),
            received_in_crypto: received.crypto.to_string(),
            received_in_usd: received.usd.to_string(),
            received_in_local_currency: received.local.to_string(),
            transaction_hash: invoice.progress.transaction_hash.clone(),
        })
    }
}

#[cfg(feature = "schema")]
mod schema {
    use schemars::{Schema, SchemaGenerator, json_schema};
    use strum::VariantArray;

    /// The words of a list as JSON Schema, for documents about HTTP.
    pub(super) fn words<T>(_: &mut SchemaGenerator) -> Schema
    where
        T: VariantArray + Copy + Into<&'static str>,
    {
        let words: Vec<&str> = T::VARIANTS.iter().map(|word| (*word).into()).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}
