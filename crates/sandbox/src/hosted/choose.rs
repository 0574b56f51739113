//! POST /checkout/choose: the customer picks an asset, and the QR code is shown.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Extract;
use florin_money::{Amount, AmountText};
use serde::Deserialize;

use super::view::View;
use super::{Refusal, read};
use crate::invoice::Hosted;
use crate::invoices::Wanted;
use crate::journal::Event;
use crate::session::Session;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choose {
    id: String,
    crypto_code: String,
    /// In the session's currency; needed when the merchant named no amount, and refused otherwise.
    amount: Option<String>,
}

/// Opens the invoice; the session's id is its id.
pub(super) async fn choose(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<View>, Refusal> {
    let choice: Choose = read(&body)?;
    let Choose { id, .. } = &choice;
    sandbox.act(|state, now| {
        let session = state
            .sessions
            .find_mut(id)
            .ok_or_else(Refusal::no_session)?;
        if !session.is_choosing(now) {
            return Err(Refusal::conflict(
                "This checkout has ended, or its asset is chosen.",
            ));
        }
        let amount = amount(session, choice.amount.as_deref())?;
        let quotes = state
            .prices
            .quotes(&amount, session.per_usd, session.currency);
        let quote = quotes
            .into_iter()
            .find(|quote| quote.coin.code.as_str() == choice.crypto_code);
        let quote = quote.ok_or_else(|| Refusal::bad_request("This asset is not offered."))?;
        if !quote.fits {
            return Err(Refusal::bad_request(
                "This amount is outside the limits of the asset.",
            ));
        }
        session.choose();
        let hosted = Hosted {
            website: session.website.clone(),
            callback_url: session.callback_url.clone(),
        };
        let wanted = Wanted {
            coin: quote.coin,
            terms: quote.terms,
            local_currency: session.currency,
            minutes: state.rules.invoice_minutes,
            session: Some((session.id.clone(), session.email.clone(), hosted)),
        };
        let invoice = state.invoices.open(wanted, now);
        let chosen = Event::Chosen {
            invoice_id: invoice.id.clone(),
            crypto_code: invoice.coin.code.to_string(),
            amount: invoice.terms.crypto.to_string(),
        };
        state.journal.add(now, chosen);
        View::of(state, id, now)
            .map(Json)
            .ok_or_else(Refusal::no_session)
    })
}

/// What is to be paid: the merchant's amount, or else the customer's.
fn amount(session: &Session, named: Option<&str>) -> Result<AmountText, Refusal> {
    match (&session.amount, named) {
        (Some(amount), None) => Ok(amount.clone()),
        (Some(_), Some(_)) => Err(Refusal::bad_request("The shop has set the amount.")),
        (None, None) => Err(Refusal::bad_request("Say how much you want to pay.")),
        (None, Some(named)) => {
            let text = AmountText::parse(named).ok();
            let decimals = session.currency.decimals();
            let usable = |text: &AmountText| {
                let amount = Amount::from(text);
                !amount.is_zero() && amount.decimals() <= decimals
            };
            text.filter(usable).ok_or_else(|| {
                let currency = session.currency;
                Refusal::bad_request(format!("Write an amount in {currency}, such as 20."))
            })
        }
    }
}
