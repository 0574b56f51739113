//! What a page shows before its customer chooses an asset.

use florin_money::AmountText;
use serde::{Deserialize, Serialize};

use crate::{Environment, LineView, Quote, StoreView};

/// Store, lines, price and quotes. It is read, never written: no order exists for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Offer {
    /// Which money moves.
    pub environment: Environment,
    /// The store.
    pub store: StoreView,
    /// What is sold.
    pub title: String,
    /// What it is made of; empty when unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineView>,
    /// The price.
    pub amount: AmountText,
    /// The price's currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// In the order in which a page lists them; absent while the proxy has no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<Vec<Quote>>,
    /// `true` if the order token's reference names an order already, which `POST /v1/checkout` with the token alone
    /// returns.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub order_exists: bool,
}
