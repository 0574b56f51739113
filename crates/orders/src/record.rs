//! An order as its store sees it: in the merchant API and inside every event.

use jiff::Timestamp;
use serde::Serialize;

use crate::order::word_of;
use crate::{Flow, Order, Place, PriceSource, Snapshot, Standing};

/// An order as JSON for its store. Amounts are decimal strings, times RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderRecord {
    /// `ord_…`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^ord_[0-9a-f]{32}$")))]
    pub id: String,
    /// The store's own name for it.
    pub reference: String,
    /// Where it stands, as in `OrderView`.
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::status"))]
    pub status: &'static str,
    /// The price.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount: String,
    /// The price's currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// Who named the price: `catalogue`, `store_server`, `order_token`, or `customer` for a donation.
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::price_source"))]
    pub price_source: &'static str,
    /// What is sold.
    pub title: String,
    /// The buyer's address, if the store gave one.
    pub customer_email: Option<String>,
    /// Where the buyer goes afterwards.
    pub return_url: Option<String>,
    /// The store's own notes.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// When it was opened.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created_at: String,
    /// From when on no further attempt is opened.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub expires_at: String,
    /// `custom` or `hosted`: who shows the customer how to pay.
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::flow"))]
    pub flow: &'static str,
    /// When it was credited; absent before.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub settled_at: Option<String>,
    /// What the service says against the credit; absent while it stands by it.
    pub reverted: Option<RevertedRecord>,
    /// The attempt that counts: the one that is shown, or that was credited.
    pub attempt: Option<AttemptRecord>,
}

/// What the service says against a credit that was given.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevertedRecord {
    /// Since when it says so.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
    /// What it says: `failed`, `cancelled`, `expired`, `waiting`, `seen` or `confirming` (no longer completed), `short` (less
    /// than the price), `settled` (completed with less than was credited) or `frozen` (another address).
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::says"))]
    pub says: &'static str,
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
    /// The payment service's id of the invoice or session.
    pub invoice_id: String,
    /// Where the customer pays; absent for a hosted attempt.
    pub address: Option<String>,
    /// The service's page where the customer pays; absent for a custom attempt.
    pub payment_process_url: Option<String>,
    /// What was asked for, in the asset; absent for a hosted attempt.
    #[cfg_attr(feature = "schema", schemars(with = "Option<florin_money::Amount>"))]
    pub amount_in_crypto: Option<String>,
    /// What was asked for, in US dollars; absent for a hosted attempt.
    #[cfg_attr(feature = "schema", schemars(with = "Option<florin_money::Amount>"))]
    pub amount_in_usd: Option<String>,
    /// What was asked for, in the service's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount_in_local_currency: String,
    /// The service's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub local_currency_code: String,
    /// What arrived, in the asset.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_crypto: String,
    /// What arrived, in US dollars.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_usd: String,
    /// What arrived, in the service's local currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_local_currency: String,
    /// The transaction's hash; absent before one is seen.
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
            reverted,
            ..
        } = &snapshot.order;
        Self {
            id: id.to_string(),
            reference: terms.reference.to_string(),
            status: status.as_str(),
            amount: terms.amount.to_string(),
            currency: terms.currency.to_string(),
            price_source: word_of(&PriceSource::ALL, terms.price_source),
            title: terms.title.clone(),
            customer_email: terms.customer_email.clone(),
            return_url: terms.return_url.clone(),
            metadata: terms.metadata.clone(),
            created_at: created_at.to_string(),
            expires_at: terms.expires_at.to_string(),
            flow: word_of(&Flow::ALL, terms.flow),
            settled_at: settled_at.map(|at| at.to_string()),
            reverted: reverted.map(|reverted| RevertedRecord {
                at: reverted.at.to_string(),
                says: word_of(&Standing::ALL, reverted.says),
            }),
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
        let ask = attempt.terms.custom();
        let asked = ask.map(|ask| &ask.asked);
        let price = &snapshot.order.terms;
        let received = &invoice.progress.received;
        let crypto_code = ask.map(|ask| &ask.crypto_code);
        let (address, page) = match &invoice.place {
            Place::Address { address, .. } => (Some(address.clone()), None),
            Place::Page { url } => (None, Some(url.clone())),
        };
        Some(Self {
            id: attempt.terms.id.to_string(),
            crypto_code: crypto_code
                .or(invoice.progress.paid_in.as_ref())
                .map(ToString::to_string),
            invoice_id: invoice.id.to_string(),
            address,
            payment_process_url: page,
            amount_in_crypto: asked.map(|asked| asked.figures.crypto.to_string()),
            amount_in_usd: asked.map(|asked| asked.figures.usd.to_string()),
            amount_in_local_currency: asked
                .map_or(price.amount, |asked| asked.figures.local)
                .to_string(),
            local_currency_code: asked
                .map_or(price.currency, |asked| asked.local_currency)
                .to_string(),
            received_in_crypto: received.crypto.to_string(),
            received_in_usd: received.usd.to_string(),
            received_in_local_currency: received.local.to_string(),
            transaction_hash: invoice.progress.transaction_hash.clone(),
        })
    }
}

/// The words of an order's record as JSON Schema, for documents about HTTP.
#[cfg(feature = "schema")]
mod schema {
    use schemars::{Schema, SchemaGenerator, json_schema};

    use crate::{Flow, OrderStatus, PriceSource, Standing};

    /// Where an order stands.
    pub(super) fn status(_: &mut SchemaGenerator) -> Schema {
        words(&OrderStatus::ALL)
    }

    /// Who named the price.
    pub(super) fn price_source(_: &mut SchemaGenerator) -> Schema {
        words(&PriceSource::ALL)
    }

    /// Who shows the customer how to pay.
    pub(super) fn flow(_: &mut SchemaGenerator) -> Schema {
        words(&Flow::ALL)
    }

    /// What the service says of an invoice.
    pub(super) fn says(_: &mut SchemaGenerator) -> Schema {
        words(&Standing::ALL)
    }

    fn words<T>(table: &[(T, &'static str)]) -> Schema {
        let words: Vec<&str> = table.iter().map(|(_, word)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}
