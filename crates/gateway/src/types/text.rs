//! Texts of the gateway: identifiers, words of a list that it may extend, and members that may be missing or of another
//! type.
//!
//! Use the `lenient_…` functions with `#[serde(default, deserialize_with = "…")]`: what is not a string is absent, and
//! stays visible as absent.

use core::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

pub(super) use words;

/// A string; `None` for a member of any other type.
pub(super) fn lenient_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// A string as one of a list of words; `None` for a member of any other type.
pub(super) fn lenient_word<'de, D, W>(deserializer: D) -> Result<Option<W>, D::Error>
where
    D: Deserializer<'de>,
    W: From<String>,
{
    Ok(lenient_text(deserializer)?.map(W::from))
}

/// The strings of a list; empty for a member of any other type.
pub(super) fn lenient_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    let Value::Array(items) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let texts = items.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}
