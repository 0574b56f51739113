//! GET /prices: what each asset costs now, and within which limits.

use std::collections::BTreeMap;

use florin_money::CryptoCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ConversionId;

/// Answer of GET /prices: one entry per asset, known to us or not.
///
/// One unreadable entry costs that asset, not the whole answer; it is reported in [`Prices::skipped`].
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
    /// What is wrong with it.
    pub reason: String,
}

/// What one asset costs. Amounts are decimal strings as the gateway wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PriceEntry {
    /// The price.
    pub rates: Rates,
    /// What may be deposited.
    pub limits: Limits,
    /// Identifies this price in POST /invoice.
    pub conversion_id: ConversionId,
}

/// A price: `amount_in_crypto` of the asset costs the two other amounts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Rates {
    /// Price in the gateway's local currency.
    pub amount_in_local_currency: String,
    /// Quantity that the price is for.
    pub amount_in_crypto: String,
    /// Price in US dollars.
    pub amount_in_usd: String,
    /// Code of the local currency.
    pub local_currency_code: String,
}

/// The least and the most that may be deposited; an empty string: no such limit.
///
/// `Assumed:` both are in the asset, not in fiat: limits that no order could meet would disprove it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Limits {
    /// The least.
    pub min: String,
    /// The most.
    pub max: String,
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
