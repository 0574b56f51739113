//! Responses of the gateway: one definition for the server and for the simulation's model.
//!
//! Every value is a string, also numbers; what is unknown is empty.
//!
//! Source: payment-service.md, "GET /prices", "POST /invoice", "GET /invoice" and "POST /checkout".

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr};

/// `transaction_status`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum Status {
    /// Nothing is in a block.
    Checking,
    /// A block has a part of the payment.
    Processing,
    /// Every transaction has its confirmations.
    Completed,
    /// Nothing arrived in time, or the gateway has given up.
    Failed,
    /// Of a hosted checkout only, before it has an invoice.
    Cancelled,
}

impl Status {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns `true` if a callback reports it. Source: payment-service.md, "Events".
    pub fn has_callback(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// An entry of GET /prices: the price of one unit in local currency and in dollars, and the limits of one payment in the
/// asset, empty without a limit. `Assumed:` prices are for one unit.
pub fn price_entry(
    [local, usd]: [String; 2],
    local_currency: &str,
    [min, max]: [String; 2],
    conversion_id: &str,
) -> Value {
    json!({
        "rates": {
            "amount_in_local_currency": local,
            "amount_in_crypto": "1",
            "amount_in_usd": usd,
            "local_currency_code": local_currency,
        },
        "limits": {"min": min, "max": max},
        "conversion_id": conversion_id,
    })
}

/// The response to POST /invoice.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the gateway's own names")]
pub struct CreatedInvoice {
    pub invoice_id: String,
    /// Minutes.
    pub invoice_expired_in: String,
    pub deposit_crypto: String,
    pub deposit_address: String,
    /// A payment link, or the address alone.
    pub qr_string: String,
    pub invoice_amount_in_crypto: String,
    pub invoice_amount_in_usd: String,
    pub local_currency_amount: String,
    pub local_currency_code: String,
    pub warning_messages: Vec<String>,
    /// Index of the address in the merchant's key, in digits: the proxy derives the address again. No member of the
    /// specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_index: Option<String>,
}

/// The response to POST /checkout.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the gateway's own names")]
pub struct CreatedSession {
    pub session_id: String,
    pub payment_process_url: String,
}

/// The `data` of GET /invoice. Times are in Unix seconds.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the gateway's own names")]
pub struct InvoiceRecord {
    /// Also of a session.
    pub invoice_id: String,
    /// A word of [`Status`].
    pub transaction_status: String,
    pub invoice_amount_in_local_currency: String,
    pub invoice_amount_in_usd: String,
    pub invoice_crypto_amount: String,
    pub received_amount_in_local_currency: String,
    pub received_amount_in_usd: String,
    pub received_crypto_amount: String,
    pub local_currency_code: String,
    pub transaction_crypto: String,
    pub invoice_creation_time: String,
    pub depositor_email_id: String,
    /// `Assumed:` empty without a transaction, PENDING until all are confirmed, then CONFIRMED. The specification
    /// names PENDING only.
    pub blockchain_transaction_status: String,
    /// Of the latest transaction, as is its time.
    pub transaction_hash: String,
    /// `1/3`
    pub blockchain_confirmations: String,
    pub wallet_address: String,
    pub transaction_time: String,
}
