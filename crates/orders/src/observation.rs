//! What one look at the service said, stored as it was.

use jiff::Timestamp;

/// The same sum three times: in the asset, in US dollars, in the service's local currency.
///
/// Source: payment-service.md, "Full-payment check": all three are compared before credit is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures<T> {
    /// In the asset.
    pub crypto: T,
    /// In US dollars.
    pub usd: T,
    /// In the service's local currency.
    pub local: T,
}

impl<T> Figures<T> {
    /// The three, for a look at each.
    pub fn each(self) -> [T; 3] {
        [self.crypto, self.usd, self.local]
    }

    /// Makes something of each.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> Figures<U> {
        Figures {
            crypto: make(self.crypto),
            usd: make(self.usd),
            local: make(self.local),
        }
    }

    /// Pairs the three with three others.
    pub fn zip<U>(self, other: Figures<U>) -> Figures<(T, U)> {
        Figures {
            crypto: (self.crypto, other.crypto),
            usd: (self.usd, other.usd),
            local: (self.local, other.local),
        }
    }
}

/// One answer about an invoice: every member as the service wrote it, absent where it wrote none.
///
/// Source: payment-service.md, "Invoice status record".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When the answer arrived.
    pub observed_at: Timestamp,
    /// The whole answer, byte for byte.
    pub raw: String,
    /// Whether the service knows the invoice. When it says that there is none, nothing else is said.
    pub is_known: bool,
    /// The invoice it speaks of.
    pub invoice_id: Option<String>,
    /// `transaction_status`.
    pub status: Option<String>,
    /// What the service asks for.
    pub asked: Figures<Option<String>>,
    /// What the service received.
    pub received: Figures<Option<String>>,
    /// Currency of the local figures.
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
