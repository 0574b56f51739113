//! GET /currencies

use serde_json::{Value, json};

use crate::prices::Prices;

/// Every asset that invoices can be opened in.
///
/// `Assumed:` an array of objects with these members; the specification says only that valid codes come from here.
pub(super) fn answer(prices: &Prices) -> Value {
    let coins = prices.coins();
    coins
        .map(|coin| {
            json!({
                "crypto_code": coin.code.as_str(),
                "asset": coin.symbol,
                "name": coin.name,
                "network": coin.network,
                "decimals": coin.decimals.to_string(),
            })
        })
        .collect()
}
