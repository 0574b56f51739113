//! An order as its store sees it: in the merchant API and inside every event.

use florin_money::{Amount, Currency};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use strum::VariantArray;

use crate::{
    Destination, FinalDecision, Flow, Order, OrderStatus, PriceSource, Refund, Reverted, Snapshot,
};

/// An order as JSON for its store. Amounts are decimal strings, times RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OrderRecord {
    /// `ord_…`.
    #[schemars(regex(pattern = "^ord_[0-9a-f]{32}$"))]
    pub id: String,
    /// The store's own name for it.
    pub reference: String,
    /// Its status, as in `OrderView`.
    #[schemars(schema_with = "words::<OrderStatus>")]
    pub status: &'static str,
    /// The price.
    pub amount: Amount,
    /// The price's currency.
    pub currency: Currency,
    /// Who named the price: `catalogue`, `store_server`, `order_token`, or `customer` for a donation.
    #[schemars(schema_with = "words::<PriceSource>")]
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
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// From when on no further attempt is opened.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
    /// `custom` or `hosted`: who shows the customer how to pay.
    #[schemars(schema_with = "words::<Flow>")]
    pub flow: &'static str,
    /// When it was credited; absent before.
    #[schemars(extend("format" = "date-time"))]
    pub settled_at: Option<String>,
    /// The operator's decision that ended the order; absent when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<FinalDecision>,
    /// What contradicts the credit; absent while nothing does.
    pub reverted: Option<Reverted>,
    /// What the store has sent back, the first one first; absent before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Refund>,
    /// The attempt that counts: the one that is shown, or that was credited.
    pub attempt: Option<AttemptRecord>,
}

/// The attempt that counts, with its invoice.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AttemptRecord {
    /// `att_…`.
    #[schemars(regex(pattern = "^att_[0-9a-f]{32}$"))]
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
    pub amount_in_crypto: Option<Amount>,
    /// What was asked for, in US dollars; absent for a hosted attempt.
    pub amount_in_usd: Option<Amount>,
    /// What was asked for, in the gateway's local currency.
    pub amount_in_local_currency: Amount,
    /// The gateway's local currency.
    pub local_currency_code: Currency,
    /// What arrived, in the asset.
    pub received_in_crypto: Amount,
    /// What arrived, in US dollars.
    pub received_in_usd: Amount,
    /// What arrived, in the gateway's local currency.
    pub received_in_local_currency: Amount,
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
            amount: terms.amount,
            currency: terms.currency,
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
            decision: *decision,
            reverted: *reverted,
            refunds: refunds.clone(),
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
            amount_in_crypto: requested.map(|requested| requested.amounts.crypto),
            amount_in_usd: requested.map(|requested| requested.amounts.usd),
            amount_in_local_currency: requested.map_or(price.amount, |it| it.amounts.local),
            local_currency_code: requested.map_or(price.currency, |it| it.local_currency),
            received_in_crypto: received.crypto,
            received_in_usd: received.usd,
            received_in_local_currency: received.local,
            transaction_hash: invoice.progress.transaction_hash.clone(),
        })
    }
}

/// The words of a list, without what they mean.
pub(crate) fn words<T>(_: &mut SchemaGenerator) -> Schema
where
    T: VariantArray + Copy + Into<&'static str>,
{
    let words: Vec<&str> = T::VARIANTS.iter().map(|word| (*word).into()).collect();
    json_schema!({ "type": "string", "enum": words })
}
