//! What a browser may ask: to open an order, to open an attempt, to say "I have paid". None of it names a price, but for
//! the amount of a donation.

#[cfg(feature = "server")]
mod any_door;

use money::AmountText;

#[cfg(feature = "server")]
use self::any_door::AnyDoor;
use crate::fields::Reader;
use crate::json::Object;
use crate::{Fields, OrderView, Unreadable};

/// Body of `POST /v1/checkout`: exactly one of the doors that a browser may open an order by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "server",
    derive(serde::Deserialize),
    serde(try_from = "AnyDoor")
)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(!try_from, untagged, deny_unknown_fields)
)]
pub enum Door {
    /// A product of the store's catalogue, which names the price.
    Product {
        /// The store's id.
        store: String,
        /// The product's `sku`.
        product: String,
        /// How many; 1 when absent. The proxy knows the most it sells at once.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        quantity: Option<u32>,
    },
    /// A donation that the store declared: the one door through which a customer names a price, within its bounds.
    Donation {
        /// The store's id.
        store: String,
        /// The donation's `id`.
        donation: String,
        /// What the customer gives, in the store's currency.
        amount: AmountText,
    },
    /// A token that the store's server signed; it names store, price and reference.
    OrderToken {
        /// A JSON Web Token of at most 2048 characters, see docs/embedding.md.
        order_token: String,
    },
}

/// Body of `POST /v1/checkout/attempt`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "server",
    derive(serde::Deserialize),
    serde(deny_unknown_fields)
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenAttempt {
    /// The asset chosen.
    #[cfg_attr(feature = "schema", schemars(with = "money::CryptoCode"))]
    pub crypto_code: String,
    /// The quote it was chosen by: its `quote_id`, as it came.
    pub quote_id: String,
}

/// Body of `POST /v1/checkout/paid`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "server",
    derive(serde::Deserialize),
    serde(deny_unknown_fields)
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkPaid {
    /// Where the service sends a receipt; absent when the customer wants none.
    #[cfg_attr(
        feature = "schema",
        schemars(
            length(max = 254),
            regex(
                pattern = r"^$|^[^@\s\x00-\x1f\x7f-\x9f]+@[^\s\x00-\x1f\x7f-\x9f]*\.[^\s\x00-\x1f\x7f-\x9f]*$"
            )
        )
    )]
    pub email: Option<String>,
}

/// Answer of `POST /v1/checkout`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Opened {
    /// 64 hexadecimal digits: whoever holds it may see and pay this one order, nothing else.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub client_token: String,
    /// The order.
    pub order: OrderView,
}

impl Door {
    /// The request's body.
    pub fn to_json(&self) -> String {
        match self {
            Self::Product {
                store,
                product,
                quantity,
            } => {
                let body = Object::new().text("store", store).text("product", product);
                match quantity {
                    Some(quantity) => body.number("quantity", *quantity),
                    None => body,
                }
            }
            Self::Donation {
                store,
                donation,
                amount,
            } => Object::new()
                .text("store", store)
                .text("donation", donation)
                .text("amount", amount.as_str()),
            Self::OrderToken { order_token } => Object::new().text("order_token", order_token),
        }
        .end()
    }
}

impl OpenAttempt {
    /// The request's body.
    pub fn to_json(&self) -> String {
        Object::new()
            .text("crypto_code", &self.crypto_code)
            .text("quote_id", &self.quote_id)
            .end()
    }
}

impl MarkPaid {
    /// The request's body.
    pub fn to_json(&self) -> String {
        Object::new()
            .maybe_text("email", self.email.as_deref())
            .end()
    }
}

impl Opened {
    /// Reads the answer.
    ///
    /// # Errors
    /// [`Unreadable`] names the first member that is missing or not of its type.
    pub fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        let order = fields.object("order").ok_or(Unreadable("order"))?;
        let read = Reader::new(fields);
        let opened = Self {
            order: OrderView::read(&order)?,
            client_token: read.text("client_token"),
        };
        read.end(opened)
    }
}
