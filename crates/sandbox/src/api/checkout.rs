//! POST /checkout

use florin_money::{Amount, AmountText, Currency};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::error::ApiError;
use super::request::{Call, Members};
use crate::asset::per_usd;
use crate::session::SessionRequest;
use crate::state::{Sandbox, State};
use crate::wire::CreatedSession;

/// Opens a hosted checkout, whose page is the sandbox's own.
pub(super) fn open(
    sandbox: &Sandbox,
    state: &mut State,
    call: &Call,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let members = call.members()?;
    let code = members.text("client_preferred_fiat_currency")?;
    let currency = Currency::parse(code).ok().and_then(|currency| {
        let per_usd = per_usd(&sandbox.settings, currency)?;
        Some((currency, per_usd))
    });
    let (currency, per_usd) = currency.ok_or_else(|| {
        ApiError::invalid(format!(
            "client_preferred_fiat_currency {code:?} is no currency that we take"
        ))
    })?;
    let request = SessionRequest {
        email: email(&members)?,
        currency,
        per_usd,
        amount: amount(&members, currency)?,
        merchant_id: merchant_id(&members)?,
        website: members.url("merchant_website")?,
        callback_url: members.url("invoice_callback_url")?,
    };
    if let Some(amount) = &request.amount {
        let quotes = state.prices.quotes(amount, per_usd, currency);
        if !quotes.iter().any(|quote| quote.is_within_limits) {
            return Err(ApiError::invalid(format!(
                "amount {amount} {currency} is outside the limits of every asset"
            )));
        }
    }
    let session = state.open_session(request, now);
    let created = CreatedSession {
        session_id: session.id.clone(),
        payment_process_url: format!("{}/checkout?id={}", sandbox.public_url, session.id),
    };
    Ok(json!(created))
}

/// `Assumed:` an email address is something, an `@`, something.
fn email(members: &Members) -> Result<String, ApiError> {
    let email = members.text("client_email_id")?;
    let parts = email.split_once('@');
    match parts.filter(|(name, host)| !name.is_empty() && !host.is_empty() && email.len() <= 254) {
        Some(_) => Ok(email.to_owned()),
        None => Err(ApiError::invalid(
            "client_email_id must be an email address",
        )),
    }
}

fn amount(members: &Members, currency: Currency) -> Result<Option<AmountText>, ApiError> {
    if members.optional_text("amount")?.is_none() {
        return Ok(None);
    }
    let text = members.amount("amount")?;
    let amount = Amount::from(&text);
    if amount.is_zero() {
        return Err(ApiError::invalid("amount must be more than zero"));
    }
    if amount.decimals() > currency.decimals() {
        return Err(ApiError::invalid(format!(
            "amount {text} has more decimals than {currency} has ({})",
            currency.decimals()
        )));
    }
    Ok(Some(text))
}

/// `Assumed:` any text names a merchant.
fn merchant_id(members: &Members) -> Result<Option<String>, ApiError> {
    match members.optional_text("merchant_id")? {
        Some("") => Err(ApiError::invalid("merchant_id must not be empty")),
        id => Ok(id.map(ToOwned::to_owned)),
    }
}
