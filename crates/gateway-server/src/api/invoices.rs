//! Prices and invoices: GET /prices, GET /currencies, POST /invoice, GET /invoice, POST /confirm, POST /checkout.

use florin_money::{Amount, AmountText, Currency};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::request::{ApiError, Call, Members};
use crate::coin::Limits;
use crate::gateway::Gateway;
use crate::invoice::{Invoice, NewInvoice};
use crate::prices::{Conversion, Terms};
use crate::session::{Session, SessionRequest};
use crate::wire::{CreatedInvoice, CreatedSession, InvoiceRecord, Status, price_entry};

/// GET /prices: an entry for each asset, with a new `conversion_id`.
pub(super) fn list_prices(gateway: &Gateway, now: Timestamp) -> Value {
    let limit = |amount: Option<Amount>| amount.map_or_else(String::new, |it| it.to_string());
    let entry = |issued: Conversion| {
        let id = gateway.prices.id(&issued);
        let price = [issued.local, issued.usd].map(|amount| amount.to_string());
        let Limits { min, max } = issued.coin.limits;
        let currency = issued.local_currency.as_str();
        let entry = price_entry(price, currency, [min, max].map(limit), &id);
        (issued.coin.code.to_string(), entry)
    };
    Value::Object(gateway.listed(now).into_iter().map(entry).collect())
}

/// GET /currencies: every asset on offer.
///
/// `Assumed:` an array of objects with these members; the specification states only that valid codes come from here.
pub(super) fn list_currencies(gateway: &Gateway) -> Value {
    let coins = gateway.prices.coins.iter();
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

/// POST /invoice: opens an invoice whose amounts match the price of its `conversion_id`.
pub(super) async fn create(
    gateway: &Gateway,
    call: &Call,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let members = call.members()?;
    let id = members.text("conversion_id")?;
    let coin = gateway.prices.coin(members.text("crypto_code")?)?;
    let terms = Terms {
        crypto: members.amount("amount_in_crypto")?,
        usd: members.amount("amount_in_usd")?,
        local: members.amount("amount_in_local_currency")?,
    };
    let conversion = gateway.prices.conversion(id, coin, now)?;
    conversion.check(&terms)?;
    let new = NewInvoice {
        coin: conversion.coin,
        local_currency: conversion.local_currency,
        terms,
        session: None,
    };
    let invoice = gateway.open_invoice(new, now).await?;
    let minutes = invoice.expires_at.duration_since(now).as_mins();
    Ok(json!(CreatedInvoice {
        invoice_id: invoice.id,
        invoice_expired_in: minutes.to_string(),
        deposit_crypto: invoice.coin.code.to_string(),
        deposit_address: invoice.address,
        qr_string: invoice.qr_string,
        invoice_amount_in_crypto: invoice.terms.crypto.to_string(),
        invoice_amount_in_usd: invoice.terms.usd.to_string(),
        local_currency_amount: invoice.terms.local.to_string(),
        local_currency_code: invoice.local_currency.to_string(),
        warning_messages: invoice
            .coin
            .warnings(invoice.required_confirmations, minutes),
        address_index: Some(invoice.address_index.to_string()),
    }))
}

/// GET /invoice: the record of one invoice, or of a hosted checkout that has none yet.
pub(super) async fn read(
    gateway: &Gateway,
    call: &Call,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let (id, with_history) = parse_query(call.query())?;
    let invoice = gateway.database().invoice(id).await?;
    let mut record = if let Some(invoice) = &invoice {
        json!(record(invoice))
    } else {
        let session = gateway.database().session(id).await?;
        let session = session.ok_or_else(|| ApiError::unknown_invoice(id))?;
        json!(session_record(&session, now))
    };
    if with_history {
        let invoice = invoice.as_ref();
        record["history"] = invoice.map_or_else(|| json!([]), history);
        record["transactions"] = invoice.map_or_else(|| json!([]), transactions);
    }
    Ok(json!({"data": record}))
}

/// The id, and whether the history is wanted. An id has only letters, digits and `_`: it is never encoded.
fn parse_query(query: &str) -> Result<(&str, bool), ApiError> {
    let (mut id, mut with_history) = (None, false);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("id", value)) if id.is_none() => id = Some(value),
            Some(("hist", value @ ("true" | "false"))) => with_history = value == "true",
            _ => {
                return Err(ApiError::invalid(format!(
                    "the query takes id once, and hist=true or hist=false; not {pair:?}"
                )));
            }
        }
    }
    let id = id.filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ApiError::invalid("the query parameter id is missing"))?;
    Ok((id, with_history))
}

/// The statuses so far. `Assumed:` this shape and the next; the specification shows none.
fn history(invoice: &Invoice) -> Value {
    let statuses = invoice.history().iter();
    statuses
        .map(|(since, status)| {
            json!({"transaction_status": status.as_str(), "time": since.as_second().to_string()})
        })
        .collect()
}

fn transactions(invoice: &Invoice) -> Value {
    let required = invoice.required_confirmations;
    let payments = invoice.payments().iter().map(|payment| {
        let confirmations = invoice.confirmations_of(payment);
        json!({
            "transaction_hash": payment.transaction_hash,
            "received_crypto_amount": payment.amount.to_string(),
            "blockchain_confirmations": format!("{confirmations}/{required}"),
            "transaction_time": payment.seen_at.as_second().to_string(),
        })
    });
    payments.collect()
}

/// A hosted checkout before the customer picks an asset: unknown values are empty.
fn session_record(session: &Session, now: Timestamp) -> InvoiceRecord {
    let request = &session.request;
    let amount = request.amount.as_ref().map_or("", |amount| amount.as_str());
    InvoiceRecord {
        invoice_id: session.id.clone(),
        transaction_status: session.status(now).as_str().to_owned(),
        invoice_amount_in_local_currency: amount.to_owned(),
        received_amount_in_local_currency: "0".to_owned(),
        received_amount_in_usd: "0".to_owned(),
        received_crypto_amount: "0".to_owned(),
        local_currency_code: request.currency.to_string(),
        invoice_creation_time: session.created_at.as_second().to_string(),
        depositor_email_id: request.email.clone(),
        ..InvoiceRecord::default()
    }
}

fn record(invoice: &Invoice) -> InvoiceRecord {
    let received = invoice.received();
    let latest = invoice.payments().last();
    let status = invoice.status();
    let on_chain = match (latest, status) {
        (None, _) => "",
        (Some(_), Status::Completed) => "CONFIRMED",
        (Some(_), _) => "PENDING",
    };
    let confirmations = invoice.confirmations();
    InvoiceRecord {
        invoice_id: invoice.id.clone(),
        transaction_status: status.as_str().to_owned(),
        invoice_amount_in_local_currency: invoice.terms.local.to_string(),
        invoice_amount_in_usd: invoice.terms.usd.to_string(),
        invoice_crypto_amount: invoice.terms.crypto.to_string(),
        received_amount_in_local_currency: received.local.to_string(),
        received_amount_in_usd: received.usd.to_string(),
        received_crypto_amount: received.crypto.to_string(),
        local_currency_code: invoice.local_currency.to_string(),
        transaction_crypto: invoice.coin.code.to_string(),
        invoice_creation_time: invoice.created_at.as_second().to_string(),
        depositor_email_id: invoice.email.clone().unwrap_or_default(),
        blockchain_transaction_status: on_chain.to_owned(),
        transaction_hash: latest
            .map(|payment| payment.transaction_hash.clone())
            .unwrap_or_default(),
        blockchain_confirmations: confirmations
            .map(|count| format!("{count}/{}", invoice.required_confirmations))
            .unwrap_or_default(),
        wallet_address: invoice.address.clone(),
        transaction_time: latest
            .map(|payment| payment.seen_at.as_second().to_string())
            .unwrap_or_default(),
    }
}

/// POST /confirm: notes that the customer reports a payment. It changes no status.
pub(super) async fn confirm(gateway: &Gateway, call: &Call) -> Result<Value, ApiError> {
    let members = call.members()?;
    if !members.flag("marked_as_paid")? {
        return Err(ApiError::invalid("marked_as_paid must be true"));
    }
    let id = members.text("invoice_id")?;
    let email = members.optional_text("email_address")?;
    let confirm = |invoice: &mut Invoice| {
        invoice.marked_as_paid = true;
        if let Some(email) = email {
            invoice.email = Some(email.to_owned());
        }
    };
    let invoice = gateway.database().change_invoice(id, confirm).await?;
    let invoice = invoice.ok_or_else(|| ApiError::unknown_invoice(id))?;
    let hosted = invoice.hosted.as_ref();
    let website = hosted.map_or(&gateway.options.merchant_website, |hosted| &hosted.website);
    Ok(json!({
        "message": "OK",
        "merchant_website_redirect_url": website,
    }))
}

/// POST /checkout: opens a hosted checkout.
pub(super) async fn open(
    gateway: &Gateway,
    call: &Call,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let members = call.members()?;
    let code = members.text("client_preferred_fiat_currency")?;
    let currency = Currency::parse(code).ok().and_then(|currency| {
        let per_usd = gateway.prices.source.per_usd(currency)?;
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
        let is_payable = |listed: &Conversion| {
            let terms = listed.quote(amount, per_usd, currency);
            terms.is_ok_and(|terms| listed.accepts(&terms))
        };
        if !gateway.listed(now).iter().any(is_payable) {
            return Err(ApiError::invalid(format!(
                "amount {amount} {currency} is outside the limits of every asset"
            )));
        }
    }
    let session = gateway.open_session(request, now).await?;
    let created = CreatedSession {
        session_id: session.id.clone(),
        payment_process_url: format!("{}/checkout?id={}", gateway.options.public_url, session.id),
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
