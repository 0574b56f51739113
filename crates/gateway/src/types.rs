//! Every resource of the gateway, as it is on the wire, and its error responses.
//!
//! Source: payment-service.md, "Resources and their fields" and "Endpoints".

mod invoice;

use core::fmt;
use std::collections::BTreeMap;

use florin_money::CryptoCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "client")]
pub(crate) use invoice::InvoiceLookup;
pub use invoice::{
    Callback, CallbackStatus, CheckoutRequest, ConfirmRequest, Confirmations, Confirmed,
    HostedSession, Invoice, InvoiceRequest, InvoiceStatus, TransactionStatus,
};

/// Longest identifier taken from the gateway.
const MAX_ID_CHARS: usize = 128;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// Shape: 1 to 128 visible ASCII characters. `Assumed:` an identifier of the gateway that is refused here
        /// would disprove it; the specification says only that it is a string.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Checks the shape.
            ///
            /// # Errors
            /// [`InvalidId`] for an empty or overlong text, and for blanks, controls and anything beyond ASCII.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                check(text).map(|()| Self(text.to_owned()))
            }

            /// The identifier as the gateway wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// An invoice, which is also a checkout session: `invoice_id`, `session_id`.
    InvoiceId;
    /// A price that POST /invoice is asked to honour: `conversion_id` of GET /prices.
    ConversionId;
}

/// A text that cannot be an identifier: its first 40 characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an identifier of the gateway")]
pub struct InvalidId(pub String);

fn check(text: &str) -> Result<(), InvalidId> {
    let fits = (1..=MAX_ID_CHARS).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(InvalidId(text.chars().take(40).collect()))
    }
}

/// An enum of known words that keeps an unknown one as it came.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$word_doc])* $variant,)+
            /// A word that the specification does not list, as it came.
            Other(String),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

use words;

words! {
    /// `code` of a refusal.
    ///
    /// Source: payment-service.md, "Errors". Which code comes with which status is not stated there.
    ErrorCode {
        InvalidApiKey = "INVALID_API_KEY",
        InvalidSignature = "INVALID_SIGNATURE",
        /// The invoice does not exist or has expired.
        InvalidInvoiceId = "INVALID_INVOICE_ID",
        AmountOutOfRange = "AMOUNT_OUT_OF_RANGE",
        UnsupportedCryptoCode = "UNSUPPORTED_CRYPTO_CODE",
    }
}

/// Both shapes of a refusal in one: `{error: "…", code, message}`, and POST /checkout's `{error: true, message}`.
///
/// A refusal is one by its HTTP status; its body only explains. So nothing is required here, and a body that is no
/// JSON at all is the empty explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GatewayError {
    /// Short description; absent in the shape of POST /checkout, whose `error` is the boolean `true`.
    #[serde(default, rename = "error", deserialize_with = "lenient_text")]
    pub summary: Option<String>,
    /// For machines; absent in the shape of POST /checkout.
    #[serde(default, deserialize_with = "lenient_word")]
    pub code: Option<ErrorCode>,
    /// For people. Never shown to customers unchanged.
    #[serde(default, deserialize_with = "lenient_text")]
    pub message: Option<String>,
}

impl GatewayError {
    /// Reads the body of an error response; any body is accepted.
    pub fn from_body(body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(value @ Value::Object(_)) => Self::deserialize(value).unwrap_or_default(),
            _ => Self::default(),
        }
    }
}

/// Answer of GET /prices: one entry per asset, known to us or not.
///
/// One unreadable entry costs that asset, not the whole response; it is reported in [`Prices::skipped`].
///
/// Source: payment-service.md, "Price entry (response of GET /prices)".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// By asset code.
    pub entries: BTreeMap<CryptoCode, PriceEntry>,
    /// What could not be read, for the operator.
    pub skipped: Vec<SkippedPrice>,
}

/// An entry of GET /prices that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPrice {
    /// Its key, the first 40 characters.
    pub key: String,
    pub reason: String,
}

/// What one asset costs. Amounts are decimal strings as the gateway wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PriceEntry {
    pub rates: Rates,
    pub limits: Limits,
    /// Identifies this price in POST /invoice.
    pub conversion_id: ConversionId,
}

/// A price: `amount_in_crypto` of the asset costs the two other amounts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Rates {
    pub amount_in_local_currency: String,
    /// Quantity that the price is for.
    pub amount_in_crypto: String,
    pub amount_in_usd: String,
    pub local_currency_code: String,
}

/// The least and the most that may be deposited; an empty string: no such limit.
///
/// `Assumed:` both are in the asset, not in fiat: limits that no order could meet would disprove it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Limits {
    pub min: String,
    pub max: String,
}

/// As the gateway writes them, without what could not be read.
impl Serialize for Prices {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries.iter();
        serializer.collect_map(entries.map(|(code, entry)| (code.as_str(), entry)))
    }
}

impl<'de> Deserialize<'de> for Prices {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut prices = Self::default();
        for (key, value) in Map::<String, Value>::deserialize(deserializer)? {
            match read(&key, value) {
                Ok((code, entry)) => {
                    prices.entries.insert(code, entry);
                }
                Err(reason) => prices.skipped.push(SkippedPrice {
                    key: key.chars().take(40).collect(),
                    reason,
                }),
            }
        }
        Ok(prices)
    }
}

fn read(key: &str, value: Value) -> Result<(CryptoCode, PriceEntry), String> {
    let code = CryptoCode::parse(key).map_err(|error| error.to_string())?;
    let entry = PriceEntry::deserialize(value).map_err(|error| error.to_string())?;
    Ok((code, entry))
}

/// A string; `None` for a member of any other type.
fn lenient_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// A string as one of a list of words; `None` for a member of any other type.
fn lenient_word<'de, D, W>(deserializer: D) -> Result<Option<W>, D::Error>
where
    D: Deserializer<'de>,
    W: From<String>,
{
    Ok(lenient_text(deserializer)?.map(W::from))
}

/// The strings of a list; empty for a member of any other type.
fn lenient_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(items) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let texts = items.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}

#[cfg(test)]
mod tests;
