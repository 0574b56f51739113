//! Requests of a browser: open an order, open an attempt, report a payment. None of them names a
//! price, except the amount of a donation.

use core::error::Error;
use core::fmt;

use florin_money::AmountText;
use serde::{Deserialize, Serialize};

use crate::{ErrorBody, OrderView, QrCode};

/// Body of `POST /v1/checkout`: exactly one of the ways to open an order from a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawOpenOrder", untagged)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(!try_from, deny_unknown_fields)
)]
pub enum OpenOrderRequest {
    /// A product of the store's catalogue, which names the price.
    Product {
        /// The store's id.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["demo"])))]
        store: String,
        /// The product's `sku`.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["ebook"])))]
        product: String,
        /// How many; 1 when absent. The proxy knows the most it sells at once.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        quantity: Option<u32>,
        /// The asset chosen, with its quote: an attempt is opened with the order.
        #[serde(flatten)]
        choice: Option<OpenAttempt>,
    },
    /// A donation that the store declared: the only request in which a customer names a price,
    /// within its bounds.
    Donation {
        /// The store's id.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["demo"])))]
        store: String,
        /// The donation's `id`.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["coffee"])))]
        donation: String,
        /// What the customer gives, in the store's currency.
        amount: AmountText,
        /// As for a product.
        #[serde(flatten)]
        choice: Option<OpenAttempt>,
    },
    /// A token that the store's server signed; it names store, price and reference.
    OrderToken {
        /// A JSON Web Token of at most 8192 characters, see docs/reference/order-tokens.md.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJzdG9yZSI6ImRlbW8ifQ.c2lnbmF0dXJl"])))]
        order_token: String,
        /// As for a product.
        #[serde(flatten)]
        choice: Option<OpenAttempt>,
    },
}

impl OpenOrderRequest {
    /// The asset chosen, and its quote.
    pub fn choice(&self) -> Option<&OpenAttempt> {
        let (Self::Product { choice, .. }
        | Self::Donation { choice, .. }
        | Self::OrderToken { choice, .. }) = self;
        choice.as_ref()
    }
}

impl TryFrom<RawOpenOrder> for OpenOrderRequest {
    type Error = String;

    fn try_from(any: RawOpenOrder) -> Result<Self, String> {
        let RawOpenOrder {
            store,
            product,
            quantity,
            donation,
            amount,
            order_token,
            crypto_code,
            quote_id,
        } = any;
        let choice = match (crypto_code, quote_id) {
            (None, None) => None,
            (crypto_code, quote_id) => Some(OpenAttempt {
                crypto_code: required(crypto_code, "crypto_code")?,
                quote_id: required(quote_id, "quote_id")?,
            }),
        };
        let no_quantity = (quantity.is_some(), "quantity");
        let no_amount = (amount.is_some(), "amount");
        match (product, donation, order_token) {
            (Some(product), None, None) => {
                reject_unknown(&[no_amount])?;
                Ok(Self::Product {
                    store: required(store, "store")?,
                    product,
                    quantity,
                    choice,
                })
            }
            (None, Some(donation), None) => {
                reject_unknown(&[no_quantity])?;
                Ok(Self::Donation {
                    store: required(store, "store")?,
                    donation,
                    amount: required(amount, "amount")?,
                    choice,
                })
            }
            (None, None, Some(order_token)) => {
                reject_unknown(&[(store.is_some(), "store"), no_quantity, no_amount])?;
                Ok(Self::OrderToken {
                    order_token,
                    choice,
                })
            }
            _ => Err(ONE_SOURCE.to_owned()),
        }
    }
}

/// Body of `POST /v1/checkout/attempt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenAttempt {
    /// The asset chosen.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::CryptoCode"))]
    pub crypto_code: String,
    /// The quote it was chosen by: its `quote_id`, as it came.
    #[cfg_attr(feature = "schema", schemars(extend("examples" = ["conv_0123456789abcdef"])))]
    pub quote_id: String,
}

/// What [`crate::looks_like_email`] takes, or nothing, as a regular expression.
#[cfg(feature = "schema")]
const EMAIL_OR_NONE: &str =
    r"^$|^[^@\s\x00-\x1f\x7f-\x9f]+@[^\s\x00-\x1f\x7f-\x9f]*\.[^\s\x00-\x1f\x7f-\x9f]*$";

/// Body of `POST /v1/checkout/paid`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkPaid {
    /// Where the gateway sends a receipt; absent or empty for the address that is kept with the order, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            length(max = 254),
            regex(pattern = EMAIL_OR_NONE),
            extend("examples" = ["buyer@shop.example"])
        )
    )]
    pub email: Option<String>,
    /// The transaction by which the customer's wallet has sent the payment: 64 hexadecimal digits, with or without
    /// `0x` before them. It is kept with the order as a hint, in place of an earlier one, and proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            regex(pattern = "^(0x)?[0-9A-Fa-f]{64}$"),
            extend("examples" = ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"])
        )
    )]
    pub transaction_hash: Option<String>,
    /// The `address` of the attempt that this transaction pays; absent for the current one. A transaction for an earlier
    /// attempt is kept with that one, and does not mark the current one as paid. Read beside `transaction_hash` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            regex(pattern = "^[!-~]{26,90}$"),
            extend("examples" = ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"])
        )
    )]
    pub address: Option<String>,
}

/// Body of `POST /v1/checkout/email`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiptEmail {
    /// Where the gateway sends a receipt with the customer's report, or when the payment is found; empty to
    /// remove the stored address.
    #[cfg_attr(
        feature = "schema",
        schemars(
            length(max = 254),
            regex(pattern = EMAIL_OR_NONE),
            extend("examples" = ["buyer@shop.example"])
        )
    )]
    pub email: String,
}

/// Body of `POST /v1/checkout/refund-address`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefundAddress {
    /// The customer's own address, of the asset in the order's `owed_in`.
    #[cfg_attr(
        feature = "schema",
        schemars(
            regex(pattern = "^[!-~]{26,90}$"),
            extend("examples" = ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"])
        )
    )]
    pub address: String,
}

/// Answer of `POST /v1/checkout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Opened {
    /// 64 hexadecimal digits. It grants access to this one order: to see and pay it.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub client_token: String,
    /// The order.
    pub order: OrderView,
    /// Why the order has no attempt although an asset was chosen: `POST /v1/checkout/attempt` opens one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<ErrorBody>,
    /// The code of the attempt's `qr_string`, drawn; present while the payment is awaited. A page shows it without a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qr_code: Option<QrCode>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOpenOrder {
    store: Option<String>,
    product: Option<String>,
    quantity: Option<u32>,
    donation: Option<String>,
    amount: Option<AmountText>,
    order_token: Option<String>,
    crypto_code: Option<String>,
    quote_id: Option<String>,
}

const ONE_SOURCE: &str =
    "name exactly one of: store and product, store, donation and amount, or order_token";

fn required<T>(member: Option<T>, name: &str) -> Result<T, String> {
    member.ok_or_else(|| format!("missing field `{name}`"))
}

/// A field of another way is unknown like any other.
fn reject_unknown(members: &[(bool, &str)]) -> Result<(), String> {
    match members.iter().find(|(is_there, _)| *is_there) {
        Some((_, name)) => Err(format!(
            "unknown field `{name}` in this way to open an order"
        )),
        None => Ok(()),
    }
}

/// Source: RFC 5321, section 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
const MAX_EMAIL_BYTES: usize = 254;

/// Returns `true` if a text has the shape of an email address. Page and proxy use the same check.
pub fn looks_like_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.split_once('@');
    let shaped =
        parts.is_some_and(|(name, host)| !name.is_empty() && host.bytes().any(|b| b == b'.'));
    text.len() <= MAX_EMAIL_BYTES && plain && shaped
}

/// Most characters of a title.
pub const MAX_TITLE_CHARS: usize = 120;

/// A title that is empty or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTitle;

impl fmt::Display for InvalidTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a title has 1 to {MAX_TITLE_CHARS} characters")
    }
}

impl Error for InvalidTitle {}

/// Returns the title if it has 1 to 120 characters.
///
/// # Errors
/// [`InvalidTitle`] if it is empty or too long.
pub fn check_title(title: String) -> Result<String, InvalidTitle> {
    if (1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
        Ok(title)
    } else {
        Err(InvalidTitle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_an_address_is_a_name_and_a_host_in_one_word() {
        let longest = ["a".repeat(MAX_EMAIL_BYTES - 10), "@b.example".into()].concat();
        for address in [
            "me@shop.example",
            "a@b.c",
            "o'neil+box@mail.shop.example",
            &longest,
        ] {
            assert!(looks_like_email(address), "{address}");
        }
        let too_long = ["a", &longest].concat();
        for text in [
            "",
            "me",
            "me@shop",
            "@shop.example",
            "me and you@shop.example",
            "me@shop.example\r\nBcc: you@shop.example",
            "me\u{7}@shop.example",
            &too_long,
        ] {
            assert!(!looks_like_email(text), "{text:?}");
        }
    }

    #[test]
    fn a_title_has_1_to_120_characters_whatever_their_bytes() {
        for (length, is_title) in [(0, false), (1, true), (120, true), (121, false)] {
            let title = "é".repeat(length);
            assert_eq!(check_title(title).is_ok(), is_title, "{length}");
        }
    }
}
