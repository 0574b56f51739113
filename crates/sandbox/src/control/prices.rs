//! POST /sandbox/prices: moves a price. Promises that were made keep the old one, until they are told to lapse.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use money::{Amount, CryptoCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetPrice {
    crypto_code: String,
    /// Dollars for one.
    usd: String,
}

pub(super) async fn set(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let SetPrice { crypto_code, usd } = read(&body)?;
    let price = Amount::parse(&usd)
        .map_err(|error| ControlError::BadRequest(format!("The price in usd: {error}.")))?;
    sandbox.act(|state, _| {
        let code = CryptoCode::parse(&crypto_code).ok();
        let set = code.and_then(|code| state.prices.set(&code, price));
        match set {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(ControlError::BadRequest(format!(
                "The price in the local currency cannot be stated: {error}."
            ))),
            None => Err(ControlError::BadRequest(format!(
                "The crypto_code {crypto_code:?} is not one of {}.",
                state.prices.codes()
            ))),
        }
    })?;
    Ok(Json(json!({"crypto_code": crypto_code, "usd": usd})))
}

/// POST /sandbox/prices/lapse: every promise lapses at once.
pub(super) async fn lapse(State(sandbox): State<Arc<Sandbox>>) -> Json<Value> {
    sandbox.act(|state, _| state.prices.lapse());
    Json(json!({}))
}
