//! GET /prices

use florin_money::Amount;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::prices::{Offer, Prices};

/// An entry for each asset, with a fresh `conversion_id`. `Assumed:` the rates are for one unit.
pub(super) fn answer(prices: &mut Prices, now: Timestamp) -> Value {
    let currency = prices.local_currency();
    let offers = prices.offer(now).into_iter();
    let entries: Map<String, Value> = offers
        .map(|offer| (offer.code.to_string(), entry(&offer, currency.as_str())))
        .collect();
    Value::Object(entries)
}

fn entry(offer: &Offer, local_currency_code: &str) -> Value {
    json!({
        "rates": {
            "amount_in_local_currency": offer.local.to_string(),
            "amount_in_crypto": "1",
            "amount_in_usd": offer.usd.to_string(),
            "local_currency_code": local_currency_code,
        },
        "limits": {
            "min": limit(offer.limits.min),
            "max": limit(offer.limits.max),
        },
        "conversion_id": offer.conversion_id,
    })
}

/// "May be an empty string."
fn limit(amount: Option<Amount>) -> String {
    amount.map(|amount| amount.to_string()).unwrap_or_default()
}
