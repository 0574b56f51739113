//! POST /invoice

use florin_money::CryptoCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::body::Members;
use super::{Call, Code, Refusal};
use crate::conversion::{Misfit, Terms};
use crate::invoice::Invoice;
use crate::invoices::Wanted;
use crate::prices::{NotPromised, Prices};
use crate::state::State;
use crate::warnings::warnings;

/// Opens an invoice, if its amounts keep to what was promised under its `conversion_id`.
pub(super) fn answer(state: &mut State, call: &Call, now: Timestamp) -> Result<Value, Refusal> {
    let members = Members::of(call)?;
    let conversion_id = members.text("conversion_id")?;
    let code = supported(members.text("crypto_code")?, &state.prices)?;
    let terms = Terms {
        crypto: members.amount("amount_in_crypto")?,
        usd: members.amount("amount_in_usd")?,
        local: members.amount("amount_in_local_currency")?,
    };
    let conversion = state
        .prices
        .promised(conversion_id, &code, now, state.rules.conversion_seconds)
        .map_err(|reason| not_promised(conversion_id, &reason))?;
    conversion.check(&terms).map_err(misfit)?;
    let wanted = Wanted {
        coin: conversion.coin.clone(),
        local_currency: conversion.local_currency,
        terms,
        minutes: state.rules.invoice_minutes,
        session: None,
    };
    let minutes = wanted.minutes;
    let invoice = state.invoices.open(wanted, now);
    Ok(created(invoice, minutes))
}

fn supported(text: &str, prices: &Prices) -> Result<CryptoCode, Refusal> {
    let code = CryptoCode::parse(text)
        .ok()
        .filter(|code| prices.offers(code));
    code.ok_or_else(|| {
        let codes = prices.codes();
        let message = format!("crypto_code {text:?} is not one of {codes}");
        Refusal::new(Code::UnsupportedAsset, message)
    })
}

fn not_promised(conversion_id: &str, reason: &NotPromised) -> Refusal {
    let message = match reason {
        NotPromised::Unknown => format!("no price was promised as {conversion_id:?}"),
        NotPromised::Lapsed => {
            format!("the price promised as {conversion_id} has lapsed: ask GET /prices again")
        }
        NotPromised::ForAnother(code) => format!("{conversion_id} is a price of {code}"),
    };
    Refusal::new(Code::InvalidConversionId, message)
}

fn misfit(misfit: Misfit) -> Refusal {
    match misfit {
        Misfit::OutOfRange(message) => Refusal::new(Code::AmountOutOfRange, message),
        Misfit::Wrong(message) => Refusal::request(message),
    }
}

fn created(invoice: &Invoice, minutes: u32) -> Value {
    json!({
        "invoice_id": invoice.id,
        "invoice_expired_in": minutes.to_string(),
        "deposit_crypto": invoice.coin.code.as_str(),
        "deposit_address": invoice.address,
        "qr_string": invoice.qr_string,
        "invoice_amount_in_crypto": invoice.terms.crypto.as_str(),
        "invoice_amount_in_usd": invoice.terms.usd.as_str(),
        "local_currency_amount": invoice.terms.local.as_str(),
        "local_currency_code": invoice.local_currency.as_str(),
        "warning_messages": warnings(&invoice.coin, minutes),
    })
}
