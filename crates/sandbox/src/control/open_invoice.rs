//! POST /sandbox/invoices: an invoice without a merchant, to try the page and its scenarios on.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use florin_money::AmountText;
use jiff::Timestamp;
use serde::Deserialize;

use super::invoices::{InvoiceView, unknown, view};
use super::{ControlError, read};
use crate::invoices::Wanted;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Open {
    crypto_code: String,
    /// In the account's local currency.
    amount: String,
}

impl Default for Open {
    /// Twenty, in an asset that everybody knows.
    fn default() -> Self {
        Self {
            crypto_code: "BTC".to_owned(),
            amount: "20.00".to_owned(),
        }
    }
}

pub(super) async fn open(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<InvoiceView>, ControlError> {
    let wanted: Open = read(&body)?;
    sandbox.act(|state, now| {
        let id = open_in(&sandbox, state, &wanted, now)?;
        let invoice = state.invoices.find(&id).ok_or_else(|| unknown(&id))?;
        Ok(Json(view(invoice, now)))
    })
}

/// Opens an invoice, and says its id.
pub(super) fn open_in(
    sandbox: &Sandbox,
    state: &mut crate::state::State,
    wanted: &Open,
    now: Timestamp,
) -> Result<String, ControlError> {
    let Open {
        crypto_code,
        amount,
    } = wanted;
    let amount = AmountText::parse(amount)
        .map_err(|error| ControlError::BadRequest(format!("The amount: {error}.")))?;
    let currency = sandbox.settings.local_currency;
    let per_usd = sandbox.settings.local_per_usd;
    let mut quotes = state.prices.quotes(&amount, per_usd, currency).into_iter();
    let quote = quotes.find(|quote| quote.coin.code.as_str() == crypto_code);
    let quote = quote.ok_or_else(|| {
        let codes = state.prices.codes();
        ControlError::BadRequest(format!(
            "The crypto_code {crypto_code:?} is not one of {codes}."
        ))
    })?;
    if !quote.fits {
        return Err(ControlError::BadRequest(format!(
            "{} {crypto_code} is outside the limits.",
            quote.terms.crypto
        )));
    }
    let wanted = Wanted {
        coin: quote.coin,
        terms: quote.terms,
        local_currency: currency,
        minutes: state.rules.invoice_minutes,
        session: None,
    };
    Ok(state.invoices.open(wanted, now).id.clone())
}
