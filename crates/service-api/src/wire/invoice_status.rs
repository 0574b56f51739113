//! GET /invoice: what became of an invoice.

use super::{lenient, word::words};

words! {
    /// Where an invoice stands.
    ///
    /// Source: payment-service.md, "States and transitions". What moves an invoice between them is not stated.
    TransactionStatus {
        /// The service is looking for the transaction.
        Checking = "CHECKING",
        /// The transaction is on the chain with fewer than 3 confirmations.
        Processing = "PROCESSING",
        /// The transaction is completed.
        Completed = "COMPLETED",
        /// Not paid, or stuck on the chain.
        Failed = "FAILED",
        /// The customer left before a QR code was made.
        Cancelled = "CANCELLED",
    }
}

/// The `data` object of GET /invoice.
///
/// Every member is a string on the wire. One that is missing or of another type is `None` here and fails nothing: who
/// judges the payment must see what is absent. Empty strings stay `Some("")`.
///
/// Source: payment-service.md, "Invoice status record".
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct InvoiceStatus {
    /// The same as `session_id` of POST /checkout.
    #[serde(deserialize_with = "lenient::text")]
    pub invoice_id: Option<String>,
    /// Where it stands.
    #[serde(deserialize_with = "lenient::word")]
    pub transaction_status: Option<TransactionStatus>,
    /// Asked for, in local currency.
    #[serde(deserialize_with = "lenient::text")]
    pub invoice_amount_in_local_currency: Option<String>,
    /// Asked for, in US dollars.
    #[serde(deserialize_with = "lenient::text")]
    pub invoice_amount_in_usd: Option<String>,
    /// Asked for, in the asset.
    #[serde(deserialize_with = "lenient::text")]
    pub invoice_crypto_amount: Option<String>,
    /// Received, in local currency.
    #[serde(deserialize_with = "lenient::text")]
    pub received_amount_in_local_currency: Option<String>,
    /// Received, in US dollars.
    #[serde(deserialize_with = "lenient::text")]
    pub received_amount_in_usd: Option<String>,
    /// Received, in the asset.
    #[serde(deserialize_with = "lenient::text")]
    pub received_crypto_amount: Option<String>,
    /// Code of the local currency.
    #[serde(deserialize_with = "lenient::text")]
    pub local_currency_code: Option<String>,
    /// The asset used.
    #[serde(deserialize_with = "lenient::text")]
    pub transaction_crypto: Option<String>,
    /// When it was made: Unix seconds as a string.
    #[serde(deserialize_with = "lenient::text")]
    pub invoice_creation_time: Option<String>,
    /// The depositor's email address.
    #[serde(deserialize_with = "lenient::text")]
    pub depositor_email_id: Option<String>,
    /// The chain's word for it; `PENDING` is the only one that the specification names.
    #[serde(deserialize_with = "lenient::text")]
    pub blockchain_transaction_status: Option<String>,
    /// Hash of the transaction; empty while there is none.
    #[serde(deserialize_with = "lenient::text")]
    pub transaction_hash: Option<String>,
    /// `<count>/<required>`; empty while there are none. Read it with [`InvoiceStatus::confirmations`].
    #[serde(deserialize_with = "lenient::text")]
    pub blockchain_confirmations: Option<String>,
    /// The address that the customer paid to.
    #[serde(deserialize_with = "lenient::text")]
    pub wallet_address: Option<String>,
    /// When the transaction was made; empty while there is none. Its form is not stated.
    #[serde(deserialize_with = "lenient::text")]
    pub transaction_time: Option<String>,
}

/// Blocks on top of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmations {
    /// How many there are; may exceed `required`.
    pub count: u32,
    /// How many complete the payment.
    pub required: u32,
}

impl InvoiceStatus {
    /// `blockchain_confirmations`, read; `None` while it is empty or unreadable.
    pub fn confirmations(&self) -> Option<Confirmations> {
        let (count, required) = self.blockchain_confirmations.as_deref()?.split_once('/')?;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if digits { text.parse().ok() } else { None }
        };
        Some(Confirmations {
            count: number(count)?,
            required: number(required)?,
        })
    }
}

/// Answer of GET /invoice.
#[cfg(feature = "client")]
#[derive(serde::Deserialize)]
pub(crate) struct InvoiceLookup {
    pub(crate) data: InvoiceStatus,
}
