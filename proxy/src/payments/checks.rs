//! The checks that an invoice or a hosted session must pass before a customer sees it.

use florin_address::{AddressError, Network, PaymentTarget, UriError};
use florin_checkout_api::Environment;
use florin_gateway::HostedSession;
use florin_money::{Amount, Asset, InvalidAmount};
use florin_orders::{CustomTerms, Destination, Invoice, InvoiceId};
use jiff::{SignedDuration, Timestamp};
use url::Url;

use crate::config::is_encrypted_or_loopback;

/// Warnings that are shown to a customer, and the length of each.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING_CHARS: usize = 1000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InvoiceMismatch {
    #[error("the asset is unknown")]
    UnknownAsset,
    #[error("{field} is {found:?}, and {expected:?} was requested")]
    Field {
        field: &'static str,
        expected: String,
        found: String,
    },
    #[error("{0}: {1}")]
    Amount(&'static str, InvalidAmount),
    /// The address is not one of the asset's network, or its checksum is wrong.
    #[error("deposit_address: {0}")]
    Address(#[from] AddressError),
    /// The QR code names another payment, or carries a parameter that is not expected.
    #[error("qr_string: {0}")]
    Uri(#[from] UriError),
    #[error("invoice_expired_in is {0:?}: no usable number of minutes")]
    Lifetime(String),
    #[error("{0}")]
    Id(#[from] florin_orders::InvalidId),
}

pub(crate) fn check_invoice(
    terms: &CustomTerms,
    response: &florin_gateway::Invoice,
    environment: Environment,
    now: Timestamp,
) -> Result<florin_orders::Invoice, InvoiceMismatch> {
    let asset = Asset::of(&terms.crypto_code).ok_or(InvoiceMismatch::UnknownAsset)?;
    expect_equal(
        "deposit_crypto",
        terms.crypto_code.as_str(),
        &response.deposit_crypto,
    )?;
    let requested = &terms.requested;
    expect_amount(
        "invoice_amount_in_crypto",
        requested.amounts.crypto,
        &response.invoice_amount_in_crypto,
    )?;
    expect_amount(
        "invoice_amount_in_usd",
        requested.amounts.usd,
        &response.invoice_amount_in_usd,
    )?;
    expect_amount(
        "local_currency_amount",
        requested.amounts.local,
        &response.local_currency_amount,
    )?;
    expect_equal(
        "local_currency_code",
        requested.local_currency.as_str(),
        &response.local_currency_code,
    )?;
    let address = &response.deposit_address;
    florin_address::check(asset, address, network(environment))?;
    target(asset, terms, address, &response.qr_string, environment)?;
    let id = florin_orders::InvoiceId::parse(response.invoice_id.as_str())?;
    let place = Destination::Address {
        address: response.deposit_address.clone(),
        qr_string: response.qr_string.clone(),
        warnings: warnings(&response.warning_messages),
    };
    let minutes = &response.invoice_expired_in;
    let lifetime = response
        .lifetime()
        .and_then(|lifetime| SignedDuration::try_from(lifetime).ok())
        .ok_or_else(|| InvoiceMismatch::Lifetime(minutes.chars().take(40).collect()))?;
    Ok(florin_orders::Invoice::opened(
        id,
        place,
        now,
        now + lifetime,
    ))
}

/// The target of the payment, parsed from the gateway's QR code. The row keeps the gateway's text; customers see the text that
/// the target writes.
pub(crate) fn target(
    asset: Asset,
    terms: &CustomTerms,
    address: &str,
    qr_string: &str,
    environment: Environment,
) -> Result<PaymentTarget, UriError> {
    let amount = terms.requested.amounts.crypto;
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

fn expect_equal(field: &'static str, expected: &str, found: &str) -> Result<(), InvoiceMismatch> {
    if expected == found {
        return Ok(());
    }
    let found = found.chars().take(80).collect();
    Err(InvoiceMismatch::Field {
        field,
        expected: expected.to_owned(),
        found,
    })
}

fn expect_amount(
    field: &'static str,
    expected: Amount,
    found: &str,
) -> Result<(), InvoiceMismatch> {
    let amount = Amount::parse(found).map_err(|error| InvoiceMismatch::Amount(field, error))?;
    if amount == expected {
        Ok(())
    } else {
        expect_equal(field, &expected.to_string(), found)
    }
}

/// How long a session is offered. `Assumed:` the specification states no lifetime; an hour is longer than customers take
/// and shorter than prices hold. A page that still shows a code later would disprove it, at no cost: what is paid there
/// is found and credited as a late payment.
const SESSION_LIFETIME: SignedDuration = SignedDuration::from_hours(1);

/// Why a customer is not sent to a session's page: that page takes the customer's money.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionMismatch {
    #[error("payment_process_url is {0:?}: no https address")]
    NotEncrypted(String),
    #[error("payment_process_url is {found:?}, which is not on gateway.checkout_url {expected}")]
    Elsewhere { found: String, expected: String },
    #[error("payment_process_url is {found:?}, whose id is not the session_id {expected:?}")]
    OtherSession { found: String, expected: String },
    #[error("{0}")]
    Id(#[from] florin_orders::InvalidId),
}

/// Turns the gateway's response into a session that a customer may be sent to.
///
/// Source: payment-service.md, "Checkout session": the address ends in a query parameter `id` equal to `session_id`, and
/// the page is at the gateway's checkout address.
pub(crate) fn check_session(
    response: &HostedSession,
    checkout_url: &Url,
    now: Timestamp,
) -> Result<Invoice, SessionMismatch> {
    let id = InvoiceId::parse(response.session_id.as_str())?;
    let found = || response.payment_process_url.chars().take(200).collect();
    let url = Url::parse(&response.payment_process_url).ok();
    let url = url.filter(is_encrypted_or_loopback);
    let url = url.ok_or_else(|| SessionMismatch::NotEncrypted(found()))?;
    if !is_gateways_page(&url, checkout_url) {
        return Err(SessionMismatch::Elsewhere {
            found: found(),
            expected: checkout_url.to_string(),
        });
    }
    let mut ids = url.query_pairs().filter(|(name, _)| name == "id");
    let (first, second) = (ids.next(), ids.next());
    if second.is_some() || first.is_none_or(|(_, value)| value != id.as_str()) {
        return Err(SessionMismatch::OtherSession {
            found: found(),
            expected: id.to_string(),
        });
    }
    Ok(Invoice::opened(
        id,
        Destination::Page { url },
        now,
        now + SESSION_LIFETIME,
    ))
}

/// Returns `true` if a customer may be sent to a page: it is encrypted, and on the gateway's checkout address. It is asked
/// again when a stored page is shown, because the address may have been configured anew.
pub(crate) fn is_gateways_page(url: &Url, checkout_url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    is_encrypted_or_loopback(url)
        && !has_user
        && url.origin() == checkout_url.origin()
        && is_below(url, checkout_url)
}

/// Returns `true` if a path is the checkout address's own, or below it.
fn is_below(url: &Url, checkout_url: &Url) -> bool {
    let base = checkout_url.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(base);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
