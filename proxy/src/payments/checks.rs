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

/// Why an invoice is not shown. Money sent to it could be lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvoiceMismatch {
    /// Our own table has no such asset.
    #[error("the asset is unknown")]
    UnknownAsset,
    /// The invoice differs from what was requested.
    #[error("{field} is {found:?}, and {expected:?} was requested")]
    Field {
        /// Which member.
        field: &'static str,
        /// What was requested.
        expected: String,
        /// What the invoice says.
        found: String,
    },
    /// An invalid amount.
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
    /// The gateway's id does not have the shape of an id.
    #[error("{0}")]
    Id(#[from] florin_orders::InvalidId),
}

/// Turns the gateway's response into an invoice that may be shown.
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
    /// No web address, or one that is not encrypted.
    #[error("payment_process_url is {0:?}: no https address")]
    NotEncrypted(String),
    /// Not on the configured checkout address.
    #[error("payment_process_url is {found:?}, which is not on gateway.checkout_url {expected}")]
    Elsewhere {
        /// Where it leads.
        found: String,
        /// Where the gateway's page is.
        expected: String,
    },
    /// It names another session, or none, or several.
    #[error("payment_process_url is {found:?}, whose id is not the session_id {expected:?}")]
    OtherSession {
        /// The address.
        found: String,
        /// The session that was opened.
        expected: String,
    },
    /// The gateway's id does not have the shape of an id.
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
mod property_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(page: &str, base: &str) -> Result<Invoice, SessionMismatch> {
        let response = HostedSession {
            session_id: florin_gateway::InvoiceId::parse("ses_1").unwrap(),
            payment_process_url: page.into(),
        };
        check_session(&response, &Url::parse(base).unwrap(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_page_at_the_checkout_address_is_taken_as_it_is() {
        for (page, base) in [
            (
                "https://checkout.example/?id=ses_1",
                "https://checkout.example",
            ),
            (
                "https://checkout.example/pay?lang=de&id=ses_1",
                "https://checkout.example/pay",
            ),
            (
                "https://checkout.example/pay/de?id=ses_1",
                "https://checkout.example/pay/",
            ),
            (
                "http://127.0.0.1:8090/checkout?id=ses_1",
                "http://127.0.0.1:8090/checkout",
            ),
        ] {
            let session = checked(page, base).unwrap();
            let url = session.page().map(Url::as_str);
            assert_eq!((url, session.id.as_str()), (Some(page), "ses_1"));
        }
    }

    #[test]
    fn a_page_that_is_not_encrypted_is_refused() {
        for page in [
            "http://checkout.example/?id=ses_1",
            "javascript:alert(1)",
            "/?id=ses_1",
            "",
        ] {
            let refused = checked(page, "https://checkout.example");
            assert!(
                matches!(refused, Err(SessionMismatch::NotEncrypted(_))),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_elsewhere_is_refused() {
        for page in [
            "https://checkout.example.evil.example/pay?id=ses_1",
            "https://checkout.example@evil.example/pay?id=ses_1",
            "https://me:secret@checkout.example/pay?id=ses_1",
            "https://checkout.example:444/pay?id=ses_1",
            "https://checkout.example/payment?id=ses_1",
            "https://checkout.example/?id=ses_1",
        ] {
            let refused = checked(page, "https://checkout.example/pay");
            assert!(
                matches!(refused, Err(SessionMismatch::Elsewhere { .. })),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_is_handed_out_as_it_was_parsed() {
        for (page, parsed) in [
            (
                "  https://checkout.example/\t?id=ses_1\n",
                "https://checkout.example/?id=ses_1",
            ),
            (
                "HTTPS://CHECKOUT.example:443\\pay\\..\\?id=ses_1",
                "https://checkout.example/?id=ses_1",
            ),
            (
                "https://checkout.example/?id=ses_1&x=\"><script>",
                "https://checkout.example/?id=ses_1&x=%22%3E%3Cscript%3E",
            ),
        ] {
            let session = checked(page, "https://checkout.example").unwrap();
            assert_eq!(session.page().map(Url::as_str), Some(parsed));
        }
    }

    #[test]
    fn a_stored_page_is_handed_out_only_while_it_is_the_gateways() {
        let base = Url::parse("https://checkout.example/pay").unwrap();
        for (page, is_shown) in [
            ("https://checkout.example/pay?id=ses_1", true),
            ("http://checkout.example/pay?id=ses_1", false),
            ("https://other.example/pay?id=ses_1", false),
            ("https://checkout.example/other?id=ses_1", false),
            ("https://me@checkout.example/pay?id=ses_1", false),
            ("javascript:alert(1)", false),
        ] {
            let url = Url::parse(page).unwrap();
            assert_eq!(is_gateways_page(&url, &base), is_shown, "{page}");
        }
    }

    #[test]
    fn a_page_of_another_session_is_refused() {
        for query in [
            "",
            "?id=",
            "?id=ses_2",
            "?id=ses_1&id=ses_2",
            "?ID=ses_1",
            "#?id=ses_1",
        ] {
            let page = format!("https://checkout.example/{query}");
            let refused = checked(&page, "https://checkout.example");
            assert!(
                matches!(refused, Err(SessionMismatch::OtherSession { .. })),
                "{page}"
            );
        }
    }
}
