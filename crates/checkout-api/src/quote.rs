//! Quotes: the cost of an order in one asset now.

use florin_money::AmountText;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// One line of the asset choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quote {
    /// The gateway's code: `USDTTRC20`.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::CryptoCode"))]
    pub crypto_code: String,
    /// The asset's symbol: `USDT`, at most 24 letters and digits, `_` and `-`. Of an asset that
    /// Florin does not know (`unknown_asset`) it is the name in the gateway's list of currencies,
    /// else the code itself.
    pub asset: String,
    /// The asset's name: `Tether`, at most 60 characters; of an unknown asset by the same list, else its symbol.
    pub asset_name: String,
    /// The network: `Tron`, at most 60 characters; of an unknown asset by the same list, else empty.
    pub network: String,
    /// What to send; absent when the gateway gave no usable price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_in_crypto: Option<AmountText>,
    /// The same in US dollars; absent with `amount_in_crypto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_in_usd: Option<AmountText>,
    /// The least that can be sent, in the asset; absent when the gateway states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<AmountText>,
    /// The most that can be sent, in the asset; absent when the gateway states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<AmountText>,
    /// `true` if it can be chosen.
    pub available: bool,
    /// Why it cannot be chosen; present exactly when `available` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Unavailable>,
    /// What the limit that rules the asset out is worth at this price, in the order's currency; present only with
    /// `below_minimum` (the least that would do, rounded up) and `above_maximum` (the most, rounded down).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_in_order_currency: Option<AmountText>,
    /// Handed back with the choice: it pins the price that was shown. The gateway gives it out: 1 to 128 visible ASCII
    /// characters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[!-~]{1,128}$")))]
    pub quote_id: String,
    /// How long the price holds: 0 to 600, by `gateway.quote_ttl_seconds` of the proxy's configuration.
    #[cfg_attr(feature = "schema", schemars(range(max = 600)))]
    pub valid_for_seconds: u32,
}

/// Why an asset cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unavailable {
    /// The price is less than the asset's minimum.
    BelowMinimum,
    /// The price is more than the asset's maximum.
    AboveMaximum,
    /// The gateway states no usable price for it at present.
    NotPriced,
    /// Florin does not know this asset's network and would have to guess.
    UnknownAsset,
}
