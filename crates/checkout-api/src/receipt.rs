//! Receipts of paid orders.

use serde::{Deserialize, Serialize};

use crate::Environment;

/// What a receipt states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// The proxy that gave it: its `public_url`.
    pub iss: String,
    /// `test`, or `production` for real money.
    pub environment: Environment,
    /// The store's id.
    pub store: String,
    /// The store's name.
    pub store_name: String,
    /// `ord_…`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^ord_[0-9a-f]{32}$")))]
    pub order_id: String,
    /// The store's own name for the order.
    pub reference: String,
    /// What was sold.
    pub title: String,
    /// The price that was credited.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount: String,
    /// Its currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// When it was credited: RFC 3339, UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub paid_at: String,
    /// The asset of the payment; absent when it was picked on the gateway's page and is not
    /// reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crypto_code: Option<String>,
    /// The asset's symbol: `USDT`; absent for an asset that is not known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asset: Option<String>,
    /// The network: `Tron`; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What arrived, in the asset.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_crypto: String,
    /// Where it was paid to; absent when that was on the gateway's own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The transaction, where the gateway named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_hash: Option<String>,
}

/// A receipt with what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignedReceipt {
    /// What it states.
    pub receipt: Receipt,
    /// The same, signed: a JSON Web Token, HS256. Absent for a store without a webhook, which has no key to check it with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Eight groups of five letters and digits, for print. Absent like `token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
