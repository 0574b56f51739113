//! The checks that an invoice of the service must pass before a customer sees it.

use checkout_api::Environment;
use jiff::{SignedDuration, Timestamp};
use ledger::{CustomAsk, Place};
use money::{Amount, Asset, InvalidAmount};
use service_api::{AddressError, Network, PaymentTarget, UriError};

/// Texts that are shown to a customer.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING_CHARS: usize = 1000;

/// Why an invoice is not shown. Money sent to it could be lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Suspicious {
    /// Our own table has no such asset.
    #[error("the asset is unknown")]
    UnknownAsset,
    /// The invoice is for something else than was asked for.
    #[error("{field} is {found:?}, and {expected:?} was asked for")]
    Other {
        /// Which member.
        field: &'static str,
        /// What was asked for.
        expected: String,
        /// What the invoice says.
        found: String,
    },
    /// An amount that is none.
    #[error("{0}: {1}")]
    Amount(&'static str, InvalidAmount),
    /// The address is not one of the asset's network, or its checksum is wrong.
    #[error("deposit_address: {0}")]
    Address(#[from] AddressError),
    /// The QR code names another payment, or carries a parameter that is not expected.
    #[error("qr_string: {0}")]
    Uri(#[from] UriError),
    /// The lifetime is no number of minutes.
    #[error("invoice_expired_in is {0:?}: no usable number of minutes")]
    Lifetime(String),
    /// The service's id does not have the shape of an id.
    #[error("{0}")]
    Id(#[from] ledger::InvalidId),
}

/// Turns the service's answer into an invoice that may be shown.
pub(crate) fn check(
    ask: &CustomAsk,
    answer: &service_api::Invoice,
    environment: Environment,
    now: Timestamp,
) -> Result<ledger::Invoice, Suspicious> {
    let asset = Asset::of(&ask.crypto_code).ok_or(Suspicious::UnknownAsset)?;
    same(
        "deposit_crypto",
        ask.crypto_code.as_str(),
        &answer.deposit_crypto,
    )?;
    let asked = &ask.asked;
    same_amount(
        "invoice_amount_in_crypto",
        asked.figures.crypto,
        &answer.invoice_amount_in_crypto,
    )?;
    same_amount(
        "invoice_amount_in_usd",
        asked.figures.usd,
        &answer.invoice_amount_in_usd,
    )?;
    same_amount(
        "local_currency_amount",
        asked.figures.local,
        &answer.local_currency_amount,
    )?;
    same(
        "local_currency_code",
        asked.local_currency.as_str(),
        &answer.local_currency_code,
    )?;
    let address = &answer.deposit_address;
    service_api::address::check(asset, address, network(environment))?;
    target(asset, ask, address, &answer.qr_string, environment)?;
    let id = ledger::InvoiceId::parse(answer.invoice_id.as_str())?;
    let place = Place::Address {
        address: answer.deposit_address.clone(),
        qr_string: answer.qr_string.clone(),
        warnings: warnings(&answer.warning_messages),
    };
    let minutes = &answer.invoice_expired_in;
    let lifetime = answer
        .lifetime()
        .and_then(|lifetime| SignedDuration::try_from(lifetime).ok())
        .ok_or_else(|| Suspicious::Lifetime(minutes.chars().take(40).collect()))?;
    Ok(ledger::Invoice::opened(id, place, now, now + lifetime))
}

/// Where the invoice is paid, by what the gateway's QR code says. The row keeps that text; customers are shown what the
/// target writes.
pub(crate) fn target(
    asset: Asset,
    ask: &CustomAsk,
    address: &str,
    qr_string: &str,
    environment: Environment,
) -> Result<PaymentTarget, UriError> {
    let amount = ask.asked.figures.crypto;
    PaymentTarget::check(asset, qr_string, address, amount, network(environment))
}

fn network(environment: Environment) -> Network {
    match environment {
        Environment::Test => Network::Test,
        Environment::Production => Network::Main,
    }
}

fn warnings(texts: &[String]) -> Vec<String> {
    let cut = |text: &String| text.chars().take(MAX_WARNING_CHARS).collect();
    texts.iter().take(MAX_WARNINGS).map(cut).collect()
}

fn same(field: &'static str, expected: &str, found: &str) -> Result<(), Suspicious> {
    if expected == found {
        return Ok(());
    }
    let found = found.chars().take(80).collect();
    Err(Suspicious::Other {
        field,
        expected: expected.to_owned(),
        found,
    })
}

fn same_amount(field: &'static str, expected: Amount, found: &str) -> Result<(), Suspicious> {
    let amount = Amount::parse(found).map_err(|error| Suspicious::Amount(field, error))?;
    if amount == expected {
        Ok(())
    } else {
        same(field, &expected.to_string(), found)
    }
}
