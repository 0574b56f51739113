//! GET and POST /sandbox/prices: shows and moves prices and limits. Promises that were made keep the old ones, until
//! they are told to lapse.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Extract;
use florin_money::{Amount, CryptoCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::state::{Sandbox, State};

/// An asset with what one of it costs and what can be paid in it.
#[derive(Debug, Serialize)]
pub(super) struct PriceView {
    crypto_code: String,
    asset: &'static str,
    network: &'static str,
    usd: String,
    /// Empty when there is none.
    min: String,
    max: String,
}

pub(super) async fn list(Extract(sandbox): Extract<Arc<Sandbox>>) -> Json<Vec<PriceView>> {
    Json(sandbox.act(|state, _| views(state)))
}

pub(super) fn views(state: &State) -> Vec<PriceView> {
    let text =
        |amount: Option<Amount>| amount.map_or_else(String::new, |amount| amount.to_string());
    let listed = state.prices.listed();
    let views = listed.map(|(coin, usd)| PriceView {
        crypto_code: coin.code.to_string(),
        asset: coin.symbol,
        network: coin.network,
        usd: usd.with_min_decimals(2).to_string(),
        min: text(coin.limits.min),
        max: text(coin.limits.max),
    });
    views.collect()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    crypto_code: String,
    /// Dollars for one.
    usd: Option<String>,
    /// In the asset; empty for none.
    min: Option<String>,
    max: Option<String>,
}

pub(super) async fn set(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let change: Change = read(&body)?;
    if (&change.usd, &change.min, &change.max) == (&None, &None, &None) {
        return Err(ControlError::BadRequest(
            "Name what changes: usd, min or max.".to_owned(),
        ));
    }
    sandbox.act(|state, _| apply(state, &change))?;
    let Change {
        crypto_code,
        usd,
        min,
        max,
    } = change;
    Ok(Json(
        json!({"crypto_code": crypto_code, "usd": usd, "min": min, "max": max}),
    ))
}

fn apply(state: &mut State, change: &Change) -> Result<(), ControlError> {
    let code = CryptoCode::parse(&change.crypto_code).ok();
    let code = code
        .filter(|code| state.prices.offers(code))
        .ok_or_else(|| {
            ControlError::BadRequest(format!(
                "The crypto_code {:?} is not one of {}.",
                change.crypto_code,
                state.prices.codes()
            ))
        })?;
    let usd = change.usd.as_deref().map(|usd| amount("price in usd", usd));
    let min = change.min.as_deref().map(limit);
    let max = change.max.as_deref().map(limit);
    let (usd, min, max) = (usd.transpose()?, min.transpose()?, max.transpose()?);
    if let Some(Some(Err(error))) = usd.map(|usd| state.prices.set(&code, usd)) {
        return Err(ControlError::BadRequest(format!(
            "The price in the local currency cannot be stated: {error}."
        )));
    }
    state.prices.limit(&code, |limits| {
        limits.min = min.unwrap_or(limits.min);
        limits.max = max.unwrap_or(limits.max);
    });
    Ok(())
}

/// An empty text means none.
fn limit(text: &str) -> Result<Option<Amount>, ControlError> {
    if text.is_empty() {
        return Ok(None);
    }
    amount("limit", text).map(Some)
}

fn amount(what: &str, text: &str) -> Result<Amount, ControlError> {
    Amount::parse(text).map_err(|error| ControlError::BadRequest(format!("The {what}: {error}.")))
}

/// POST /sandbox/prices/lapse: every promise lapses at once.
pub(super) async fn lapse(Extract(sandbox): Extract<Arc<Sandbox>>) -> Json<Value> {
    sandbox.act(|state, _| state.prices.lapse());
    Json(json!({}))
}
