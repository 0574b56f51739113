//! POST /checkout

use florin_money::{Amount, AmountText, Currency};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::body::Members;
use super::{Call, Refusal};
use crate::fiat;
use crate::session::Request;
use crate::state::{Sandbox, State};

/// Opens a hosted checkout, whose page is the sandbox's own.
pub(super) fn answer(
    sandbox: &Sandbox,
    state: &mut State,
    call: &Call,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let members = Members::of(call)?;
    let request = Request {
        email: email(&members)?,
        merchant_id: merchant_id(&members, state)?,
        website: members.url("merchant_website")?,
        callback_url: members.url("invoice_callback_url")?,
        ..money(&members, sandbox)?
    };
    if let Some(amount) = &request.amount {
        let quotes = state
            .prices
            .quotes(amount, request.per_usd, request.currency);
        if !quotes.iter().any(|quote| quote.fits) {
            return Err(Refusal::request(format!(
                "amount {amount} {} is outside the limits of every asset",
                request.currency
            )));
        }
    }
    let session = state
        .sessions
        .open(request, state.rules.invoice_minutes, now);
    Ok(json!({
        "session_id": session.id,
        "payment_process_url": format!("{}/checkout?id={}", sandbox.public_url, session.id),
    }))
}

/// `Assumed:` what makes an email address: something, an `@`, something.
fn email(members: &Members) -> Result<String, Refusal> {
    let email = members.text("client_email_id")?;
    let parts = email.split_once('@');
    match parts.filter(|(name, host)| !name.is_empty() && !host.is_empty() && email.len() <= 254) {
        Some(_) => Ok(email.to_owned()),
        None => Err(Refusal::request("client_email_id must be an email address")),
    }
}

/// Currency, its rate and the amount in it; the rest of the request is left empty.
fn money(members: &Members, sandbox: &Sandbox) -> Result<Request, Refusal> {
    let code = members.text("client_preferred_fiat_currency")?;
    let known = Currency::parse(code).ok().and_then(|currency| {
        let per_usd = fiat::per_usd(&sandbox.settings, currency)?;
        Some((currency, per_usd))
    });
    let (currency, per_usd) = known.ok_or_else(|| {
        Refusal::request(format!(
            "client_preferred_fiat_currency {code:?} is no currency that we take"
        ))
    })?;
    let amount = match members.maybe_text("amount")? {
        None => None,
        Some(text) => Some(amount(text, currency)?),
    };
    Ok(Request {
        email: String::new(),
        currency,
        per_usd,
        amount,
        merchant_id: None,
        website: String::new(),
        callback_url: String::new(),
    })
}

fn amount(text: &str, currency: Currency) -> Result<AmountText, Refusal> {
    let written = AmountText::parse(text);
    let written = written.map_err(|error| Refusal::request(format!("amount: {error}")))?;
    let amount = Amount::from(&written);
    if amount.is_zero() {
        return Err(Refusal::request("amount must be more than nothing"));
    }
    if amount.decimals() > currency.decimals() {
        return Err(Refusal::request(format!(
            "amount {text} has more decimals than {currency} has ({})",
            currency.decimals()
        )));
    }
    Ok(written)
}

/// Any text will do for an account that is no platform's; a platform names a merchant that it has onboarded.
fn merchant_id(members: &Members, state: &State) -> Result<Option<String>, Refusal> {
    let id = members.maybe_text("merchant_id")?;
    match id {
        None if state.rules.platform => Err(Refusal::request(
            "merchant_id is missing: this account is a platform's",
        )),
        Some(id) if state.rules.platform && !state.platform.knows(id) => Err(Refusal::request(
            format!("merchant_id {id:?} is none of your merchants"),
        )),
        Some("") => Err(Refusal::request("merchant_id must not be empty")),
        id => Ok(id.map(ToOwned::to_owned)),
    }
}
