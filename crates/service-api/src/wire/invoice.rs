//! POST /invoice: an address to pay to.

use core::time::Duration;

use money::{AmountText, CryptoCode};

use super::{ConversionId, InvoiceId, lenient};

/// Lifetimes that are taken at their word.
const LIFETIME_MINUTES: core::ops::RangeInclusive<u64> = 1..=7 * 24 * 60;

/// Body of POST /invoice: all members required, all of them strings.
///
/// Source: payment-service.md, "POST /invoice".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct InvoiceRequest {
    /// The price this rests on, from GET /prices.
    pub conversion_id: ConversionId,
    /// The price in US dollars.
    pub amount_in_usd: AmountText,
    /// The price in the service's local currency.
    pub amount_in_local_currency: AmountText,
    /// What the customer is to send, in the asset.
    pub amount_in_crypto: AmountText,
    /// The asset.
    pub crypto_code: CryptoCode,
}

/// Answer of POST /invoice. The texts are the service's, unchecked: an address goes to a customer only after
/// [`crate::address::check`]; the text of its QR code only as [`crate::PaymentTarget`] writes it anew.
///
/// Source: payment-service.md, "Invoice (response of POST /invoice)".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Invoice {
    /// Unique.
    pub invoice_id: InvoiceId,
    /// Time until it expires, in minutes. Read it with [`Invoice::lifetime`].
    pub invoice_expired_in: String,
    /// The asset to deposit. `Assumed:` its `crypto_code`; a symbol like `USDT` would disprove it.
    pub deposit_crypto: String,
    /// Where the customer pays to.
    pub deposit_address: String,
    /// What the QR code encodes: a payment URI with address and amount.
    pub qr_string: String,
    /// What to send, in the asset.
    pub invoice_amount_in_crypto: String,
    /// The same in US dollars.
    pub invoice_amount_in_usd: String,
    /// The same in local currency.
    pub local_currency_amount: String,
    /// Code of the local currency.
    pub local_currency_code: String,
    /// What every customer must be shown. Items that are no text are left out; absent: none.
    #[serde(default, deserialize_with = "lenient::texts")]
    pub warning_messages: Vec<String>,
}

impl Invoice {
    /// How long the invoice lives from the moment it was made; `None` unless the service wrote a number of minutes between
    /// one minute and a week.
    ///
    /// Source: payment-service.md, "Invoice": `invoice_expired_in` is the time until it expires, in minutes. `Assumed:` no
    /// invoice lives longer than a week; one that says so is not shown, and the log names what it said.
    pub fn lifetime(&self) -> Option<Duration> {
        let minutes = self.invoice_expired_in.as_str();
        let is_number = !minutes.is_empty() && minutes.bytes().all(|b| b.is_ascii_digit());
        let minutes: u64 = minutes.parse().ok().filter(|_| is_number)?;
        LIFETIME_MINUTES
            .contains(&minutes)
            .then(|| Duration::from_secs(minutes * 60))
    }
}
