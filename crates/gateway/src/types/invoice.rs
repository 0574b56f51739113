//! Invoices: POST /invoice opens one, GET /invoice returns its status, POST /confirm marks it as
//! paid, POST /checkout opens one on the gateway's page, and a callback names one.

use core::time::Duration;

use florin_money::{AmountText, CryptoCode, Currency};

use super::{ConversionId, InvoiceId, lenient_text, lenient_texts, lenient_word, words};

/// Lifetimes that are taken at their word.
const LIFETIME_MINUTES: core::ops::RangeInclusive<u64> = 1..=7 * 24 * 60;

/// Body of POST /invoice: all members required, all of them strings.
///
/// Source: payment-service.md, "POST /invoice".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct InvoiceRequest {
    /// The price this rests on, from GET /prices.
    pub conversion_id: ConversionId,
    pub amount_in_usd: AmountText,
    pub amount_in_local_currency: AmountText,
    /// What the customer is to send, in the asset.
    pub amount_in_crypto: AmountText,
    pub crypto_code: CryptoCode,
}

/// Answer of POST /invoice. The texts are the gateway's, unchecked: an address goes to a customer only after
/// `florin_address::check`; the text of its QR code only as `florin_address::PaymentTarget` writes it.
///
/// Source: payment-service.md, "Invoice (response of POST /invoice)".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Invoice {
    pub invoice_id: InvoiceId,
    /// Time until it expires, in minutes. Read it with [`Invoice::lifetime`].
    pub invoice_expired_in: String,
    /// The asset to deposit. `Assumed:` its `crypto_code`; a symbol like `USDT` would disprove it.
    pub deposit_crypto: String,
    pub deposit_address: String,
    /// Index of the address below the public key of the merchant's wallet; `None` of a gateway that has no such key.
    ///
    /// Source: none: it is Florin's own addition.
    #[serde(default, deserialize_with = "lenient_text")]
    pub address_index: Option<String>,
    /// What the QR code encodes: a payment URI with address and amount.
    pub qr_string: String,
    pub invoice_amount_in_crypto: String,
    pub invoice_amount_in_usd: String,
    pub local_currency_amount: String,
    pub local_currency_code: String,
    /// What every customer must be shown. Items that are no text are left out; absent: none.
    #[serde(default, deserialize_with = "lenient_texts")]
    pub warning_messages: Vec<String>,
}

impl Invoice {
    /// How long the invoice lives from the moment it was made; `None` unless the gateway wrote a number of minutes between
    /// one minute and a week.
    ///
    /// Source: payment-service.md, "Invoice": `invoice_expired_in` is the time until it expires, in
    /// minutes. `Assumed:` no invoice lives longer than a week; a longer one is not shown, and the
    /// log names the value.
    pub fn lifetime(&self) -> Option<Duration> {
        let minutes = self.invoice_expired_in.as_str();
        let is_number = !minutes.is_empty() && minutes.bytes().all(|b| b.is_ascii_digit());
        let minutes: u64 = minutes.parse().ok().filter(|_| is_number)?;
        LIFETIME_MINUTES
            .contains(&minutes)
            .then(|| Duration::from_secs(minutes * 60))
    }
}

words! {
    /// Where an invoice stands.
    ///
    /// Source: payment-service.md, "States and transitions". What moves an invoice between them is not stated.
    TransactionStatus {
        /// The gateway is searching for the transaction.
        Checking = "CHECKING",
        /// The transaction is on the chain with fewer than 3 confirmations.
        Processing = "PROCESSING",
        Completed = "COMPLETED",
        /// Not paid, or stuck on the chain.
        Failed = "FAILED",
        /// The customer left before a QR code was made.
        Cancelled = "CANCELLED",
    }
}

/// The `data` object of GET /invoice.
///
/// Every member is a string on the wire. A missing member, or one of another type, is `None` here
/// and fails nothing: the assessment of a payment must see what is absent. Empty strings stay
/// `Some("")`.
///
/// Source: payment-service.md, "Invoice status record".
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct InvoiceStatus {
    /// The same as `session_id` of POST /checkout.
    #[serde(deserialize_with = "lenient_text")]
    pub invoice_id: Option<String>,
    #[serde(deserialize_with = "lenient_word")]
    pub transaction_status: Option<TransactionStatus>,
    #[serde(deserialize_with = "lenient_text")]
    pub invoice_amount_in_local_currency: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub invoice_amount_in_usd: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub invoice_crypto_amount: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub received_amount_in_local_currency: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub received_amount_in_usd: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub received_crypto_amount: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub local_currency_code: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub transaction_crypto: Option<String>,
    /// When it was made: Unix seconds as a string.
    #[serde(deserialize_with = "lenient_text")]
    pub invoice_creation_time: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub depositor_email_id: Option<String>,
    /// The chain's word for it; `PENDING` is the only one that the specification names.
    #[serde(deserialize_with = "lenient_text")]
    pub blockchain_transaction_status: Option<String>,
    /// Hash of the transaction; empty while there is none.
    #[serde(deserialize_with = "lenient_text")]
    pub transaction_hash: Option<String>,
    /// `<count>/<required>`; empty while there are none. Read it with [`InvoiceStatus::confirmations`].
    #[serde(deserialize_with = "lenient_text")]
    pub blockchain_confirmations: Option<String>,
    #[serde(deserialize_with = "lenient_text")]
    pub wallet_address: Option<String>,
    /// When the transaction was made; empty while there is none. Its form is not stated.
    #[serde(deserialize_with = "lenient_text")]
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

#[cfg(feature = "client")]
#[derive(serde::Deserialize)]
pub(crate) struct InvoiceLookup {
    pub(crate) data: InvoiceStatus,
}

/// Body of POST /confirm. It moves an invoice into no state: it reports that the customer has
/// started paying.
///
/// Source: payment-service.md, "POST /confirm".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConfirmRequest {
    marked_as_paid: bool,
    invoice_id: InvoiceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_address: Option<String>,
}

impl ConfirmRequest {
    /// Marks the invoice as paid; a receipt goes to the email address if there is one.
    pub fn new(invoice_id: InvoiceId, email_address: Option<String>) -> Self {
        Self {
            marked_as_paid: true,
            invoice_id,
            email_address,
        }
    }
}

/// Answer of POST /confirm. Nothing depends on it, so nothing in it is required.
///
/// Source: payment-service.md, "POST /confirm".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Confirmed {
    /// `OK` on success.
    #[serde(default, deserialize_with = "lenient_text")]
    pub message: Option<String>,
    /// Where the gateway would send the customer.
    #[serde(default, deserialize_with = "lenient_text")]
    pub merchant_website_redirect_url: Option<String>,
}

/// Body of POST /checkout.
///
/// Source: payment-service.md, "POST /checkout".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CheckoutRequest {
    pub client_email_id: String,
    pub client_preferred_fiat_currency: Currency,
    /// The price in fiat; absent: the customer enters it on the gateway's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountText>,
    /// Required for platforms with several merchants, else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
    /// Where the customer is sent after paying.
    pub merchant_website: String,
    /// Where callbacks go; should be https.
    pub invoice_callback_url: String,
}

/// Answer of POST /checkout.
///
/// Source: payment-service.md, "Checkout session".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct HostedSession {
    /// The same value as `invoice_id` in callbacks and in GET /invoice.
    pub session_id: InvoiceId,
    /// The hosted page, ending in a query parameter `id` equal to `session_id`.
    pub payment_process_url: String,
}

words! {
    /// `status` of a callback. A hint: only GET /invoice is authoritative.
    CallbackStatus {
        Completed = "COMPLETED",
        Failed = "FAILED",
    }
}

/// Body of a callback. It is unsigned and proves nothing; other members may be present and are ignored.
///
/// Source: payment-service.md, "Callback payload" and "Events".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Callback {
    pub invoice_id: InvoiceId,
    pub status: CallbackStatus,
}
