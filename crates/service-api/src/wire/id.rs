//! Identifiers that the service gives out.

use core::fmt;

/// Longest identifier taken from the service.
const MAX_ID_CHARS: usize = 128;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// Shape: 1 to 128 visible ASCII characters. `Assumed:` an identifier of the service that is refused here
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

            /// The identifier as the service wrote it.
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
#[error("{0:?} is not an identifier of the payment service")]
pub struct InvalidId(pub String);

fn check(text: &str) -> Result<(), InvalidId> {
    let fits = (1..=MAX_ID_CHARS).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(InvalidId(text.chars().take(40).collect()))
    }
}
