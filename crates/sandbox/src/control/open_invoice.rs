//! POST /sandbox/invoices: an invoice without a merchant, to try the page and its scenarios on.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use money::AmountText;
use serde::Deserialize;

use super::invoices::{InvoiceView, view};
use super::{ControlError, read};
use crate::invoices::Wanted;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    crypto_code: String,
    /// In the account's local currency.
    amount: String,
}

pub(super) async fn open(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<InvoiceView>, ControlError> {
    let Open {
        crypto_code,
        amount,
    } = read(&body)?;
    let amount = AmountText::parse(&amount)
        .map_err(|error| ControlError::BadRequest(format!("The amount: {error}.")))?;
    let (currency, per_usd) = (
        sandbox.settings.local_currency,
        sandbox.settings.local_per_usd,
    );
    sandbox.act(|state, now| {
        let quotes = state.prices.quotes(&amount, per_usd, currency);
        let quote = quotes
            .into_iter()
            .find(|quote| quote.coin.code.as_str() == crypto_code);
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
        Ok(Json(view(state.invoices.open(wanted, now), now)))
    })
}
