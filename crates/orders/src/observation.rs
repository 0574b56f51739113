//! Observations: what one GET /invoice returned. Stored once per change, truncated: storage counts repeats and keeps at most
//! 4 KiB of the response.

use florin_money::AmountError;
use jiff::Timestamp;

/// The same amount three times: in the asset, in US dollars, in the gateway's local currency.
///
/// Source: payment-service.md, "Full-payment check": all three are compared before credit is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts<T> {
    /// In the asset.
    pub crypto: T,
    /// In US dollars.
    pub usd: T,
    /// In the gateway's local currency.
    pub local: T,
}

impl<T> Amounts<T> {
    /// The three as an array.
    pub fn each(self) -> [T; 3] {
        [self.crypto, self.usd, self.local]
    }

    /// Maps each of the three.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> Amounts<U> {
        Amounts {
            crypto: make(self.crypto),
            usd: make(self.usd),
            local: make(self.local),
        }
    }

    /// Pairs the three with three others.
    pub fn zip<U>(self, other: Amounts<U>) -> Amounts<(T, U)> {
        Amounts {
            crypto: (self.crypto, other.crypto),
            usd: (self.usd, other.usd),
            local: (self.local, other.local),
        }
    }
}

/// One response about an invoice: every field as the gateway wrote it, absent where it wrote none.
///
/// Source: payment-service.md, "Invoice status record".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// When the response arrived.
    pub observed_at: Timestamp,
    /// The whole response body.
    pub raw: String,
    /// `false` if the gateway does not know the invoice. Then all other fields are absent.
    pub is_known: bool,
    /// The invoice id in the response.
    pub invoice_id: Option<String>,
    /// `transaction_status`.
    pub status: Option<String>,
    /// What the gateway asks for.
    pub requested: Amounts<Option<String>>,
    /// What the gateway received.
    pub received: Amounts<Option<String>>,
    /// Currency of the local amounts.
    pub local_currency: Option<String>,
    /// The asset.
    pub crypto_code: Option<String>,
    /// The address paid to.
    pub address: Option<String>,
    /// `<count>/<required>`; empty while none exists.
    pub confirmations: Option<String>,
    /// Empty while none exists.
    pub transaction_hash: Option<String>,
}

/// Why an observation needs review.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ReviewReason {
    #[error("the attempt holds no invoice")]
    NoInvoice,
    /// The gateway does not know the invoice, before its expiry or although a payment was detected.
    #[error("the gateway does not know the invoice")]
    UnknownInvoice,
    #[error("the gateway's response lacks {0}")]
    Missing(&'static str),
    #[error("{0} cannot be read: {1:?}")]
    Unreadable(&'static str, String),
    /// The gateway named another address before. Only a person can decide which of the two it pays out from.
    #[error("the gateway named another address before, and reports {status} for the shown one now")]
    AddressChangedBefore {
        /// What the gateway says now; it is not believed.
        status: String,
    },
    #[error("unknown transaction_status {0:?}")]
    UnknownStatus(String),
    #[error("{field} is {found:?}, and {expected:?} was requested")]
    Mismatch {
        field: &'static str,
        expected: String,
        found: String,
    },
    #[error("the attempt does not ask for the order's price")]
    PriceMismatch,
    /// The response asks for an amount of zero, which any payment would cover.
    #[error("the response asks for nothing: {0} is zero")]
    ZeroRequestedAmount(&'static str),
    #[error("the amounts are out of range: {0}")]
    OutOfRange(#[from] AmountError),
}
