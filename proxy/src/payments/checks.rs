//! The checks that an invoice or a hosted session must pass before a customer sees it.

use florin_address::{AddressError, DepositKey, Network, PaymentTarget, UriError};
use florin_gateway_client::HostedSession;
use florin_money::{Amount, Asset, InvalidAmount};
use florin_orders::{CustomTerms, Destination, Invoice, InvoiceId};
use jiff::{SignedDuration, Timestamp};
use url::Url;

use crate::config::is_encrypted_or_loopback;

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
    #[error("address_index is missing: gateway.deposit_key of this asset needs it")]
    NoIndex,
    #[error("address_index is {0:?}: no whole number below 2147483648")]
    InvalidIndex(String),
    #[error("deposit_address is not the address of index {0} of gateway.deposit_key")]
    NotDerived(u32),
    /// The QR code names another payment, or carries a parameter that is not expected.
    #[error("qr_string: {0}")]
    Uri(#[from] UriError),
    #[error("invoice_expired_in is {0:?}: no usable number of minutes")]
    Lifetime(String),
    #[error("{0}")]
    Id(#[from] florin_orders::InvalidId),
}

/// The invoice of a response, whose address a customer may be shown: asset, amounts, address and QR text are what was
/// requested, and the address is derived from the key, if there is one.
pub(crate) fn check_invoice(
    terms: &CustomTerms,
    response: &florin_gateway_client::Invoice,
    network: Network,
    deposit_key: Option<&DepositKey>,
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
    florin_address::check(asset, address, network)?;
    if let Some(key) = deposit_key {
        check_derived(key, response)?;
    }
    target(asset, terms, address, &response.qr_string, network)?;
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
    network: Network,
) -> Result<PaymentTarget, UriError> {
    let amount = terms.requested.amounts.crypto;
    PaymentTarget::check(asset, qr_string, address, amount, network)
}

/// Checks that the address is the operator's: a gateway in other hands answers with its own.
fn check_derived(
    key: &DepositKey,
    response: &florin_gateway_client::Invoice,
) -> Result<(), InvoiceMismatch> {
    let named = response.address_index.as_deref();
    let named = named.ok_or(InvoiceMismatch::NoIndex)?;
    let is_number = !named.is_empty() && named.bytes().all(|b| b.is_ascii_digit());
    let index = named.parse().ok().filter(|_| is_number);
    // Source: BIP-32: a public key derives no others.
    let index: u32 = index
        .filter(|index| *index < 1 << 31)
        .ok_or_else(|| InvoiceMismatch::InvalidIndex(named.chars().take(40).collect()))?;
    if key.derives(index, &response.deposit_address) {
        Ok(())
    } else {
        Err(InvoiceMismatch::NotDerived(index))
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

fn is_below(url: &Url, checkout_url: &Url) -> bool {
    let base = checkout_url.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(base);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    //! That no code pays elsewhere is a property of the address crate. Here every member of a response is compared.

    use florin_orders::InvoiceTerms;
    use florin_orders::fixtures::{ADDRESS, new_attempt};
    use proptest::prelude::*;
    use proptest::sample::Index;
    use serde_json::{Value, json};

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn response() -> Value {
        json!({
            "invoice_id": "inv_1",
            "invoice_expired_in": "15",
            "deposit_crypto": "BTC",
            "deposit_address": ADDRESS,
            "qr_string": format!("bitcoin:{ADDRESS}?amount=0.00030973"),
            "invoice_amount_in_crypto": "0.00030973",
            "invoice_amount_in_usd": "19.90",
            "local_currency_amount": "19.90",
            "local_currency_code": "USD",
            "warning_messages": vec!["w".repeat(2_000); 30],
        })
    }

    fn checked(response: Value, network: Network) -> Result<Invoice, InvoiceMismatch> {
        checked_by(None, response, network)
    }

    fn checked_by(
        key: Option<&DepositKey>,
        response: Value,
        network: Network,
    ) -> Result<Invoice, InvoiceMismatch> {
        let InvoiceTerms::Custom(terms) = new_attempt(1).invoice else {
            panic!("the fixture is an attempt with an address");
        };
        let response = serde_json::from_value(response).unwrap();
        check_invoice(&terms, &response, network, key, NOW)
    }

    #[test]
    fn a_correct_invoice_is_kept_with_bounded_warnings() {
        let invoice = checked(response(), Network::Test).unwrap();
        assert_eq!(invoice.expires_at, NOW + SignedDuration::from_mins(15));
        let Destination::Address {
            address,
            qr_string,
            warnings,
        } = invoice.destination
        else {
            panic!("an invoice has an address");
        };
        assert_eq!(
            (address.as_str(), json!(qr_string)),
            (ADDRESS, response()["qr_string"].clone())
        );
        assert_eq!(warnings, vec!["w".repeat(MAX_WARNING_CHARS); MAX_WARNINGS]);
    }

    #[test]
    fn an_invoice_of_another_amount_currency_or_asset_is_not_shown() {
        let other_address = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
        let qr_string = |address: &str, amount: &str| format!("bitcoin:{address}?amount={amount}");
        for (member, value) in [
            ("invoice_amount_in_crypto", "0.00030972"),
            ("invoice_amount_in_crypto", "0.00030974"),
            ("invoice_amount_in_crypto", "1e3"),
            ("invoice_amount_in_usd", "19.89"),
            ("local_currency_amount", "19.91"),
            ("local_currency_code", "EUR"),
            ("deposit_crypto", "LTC"),
            ("deposit_address", &ADDRESS.replace('w', "q")),
            ("qr_string", &qr_string(other_address, "0.00030973")),
            ("qr_string", &qr_string(ADDRESS, "0.00030974")),
            ("invoice_expired_in", "soon"),
        ] {
            let mut response = response();
            response[member] = json!(value);
            let refused = checked(response, Network::Test).unwrap_err().to_string();
            assert!(refused.starts_with(member), "{member} {value}: {refused}");
        }
        let mut other = response();
        other["deposit_address"] = json!(other_address);
        let refused = checked(other, Network::Test).unwrap_err();
        assert!(matches!(refused, InvoiceMismatch::Uri(_)), "{refused}");
        let elsewhere = checked(response(), Network::Main).unwrap_err();
        assert!(
            matches!(elsewhere, InvoiceMismatch::Address(_)),
            "{elsewhere}"
        );
    }

    /// The account of BIP-84's seed on the test network.
    const ACCOUNT: &str = "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc";
    const ADDRESS_0: &str = "tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl";
    const ADDRESS_7: &str = "tb1qfsryn6hh2yhpxpp7m9dh54x89wettyfk45jn6y";

    #[test]
    fn a_captured_gateway_redirects_no_payment() {
        let key = DepositKey::parse(Asset::BTC, Network::Test, ACCOUNT).unwrap();
        for (address, index, expected) in [
            (ADDRESS_0, json!("0"), "ok"),
            (ADDRESS_7, json!("7"), "ok"),
            (&ADDRESS_7.to_uppercase(), json!("7"), "ok"),
            (ADDRESS, json!("0"), "deposit_address"),
            (ADDRESS_7, json!("0"), "deposit_address"),
            (ADDRESS_0, json!(null), "address_index is missing"),
            (ADDRESS_0, json!(0), "address_index is missing"),
            (ADDRESS_0, json!(""), "address_index is \"\""),
            (ADDRESS_0, json!("+0"), "address_index"),
            (
                ADDRESS_0,
                json!("2147483648"),
                "address_index is \"2147483648\"",
            ),
            (ADDRESS_0, json!("4294967296"), "address_index"),
        ] {
            let mut response = response();
            response["deposit_address"] = json!(address);
            response["address_index"] = index.clone();
            response["qr_string"] = json!(format!("bitcoin:{address}?amount=0.00030973"));
            checked(response.clone(), Network::Test).expect("no key refuses it");
            let result = checked_by(Some(&key), response, Network::Test);
            let found = result.map_or_else(|refused| refused.to_string(), |_| "ok".to_owned());
            assert!(found.starts_with(expected), "{address} {index}: {found}");
        }
    }

    fn session(page: &str, base: &str) -> Result<Invoice, SessionMismatch> {
        let response = HostedSession {
            session_id: florin_gateway_client::InvoiceId::parse("ses_1").unwrap(),
            payment_process_url: page.into(),
        };
        check_session(&response, &Url::parse(base).unwrap(), NOW)
    }

    #[test]
    fn a_page_at_the_checkout_address_is_handed_out_as_it_was_parsed() {
        let base = "https://checkout.example/pay";
        for (page, base, parsed) in [
            ("https://checkout.example/pay?lang=de&id=ses_1", base, None),
            (
                "https://checkout.example/pay/de?id=ses_1",
                "https://checkout.example/pay/",
                None,
            ),
            (
                "http://127.0.0.1:8090/pay?id=ses_1",
                "http://127.0.0.1:8090/pay",
                None,
            ),
            (
                "  HTTPS://CHECKOUT.example:443\\pay\\..\\pay\t?id=ses_1&x=\"><script>\n",
                base,
                Some("https://checkout.example/pay?id=ses_1&x=%22%3E%3Cscript%3E"),
            ),
        ] {
            let invoice = session(page, base).unwrap();
            let found = (invoice.page().map(Url::as_str), invoice.id.as_str());
            assert_eq!(found, (Some(parsed.unwrap_or(page)), "ses_1"));
        }
    }

    #[test]
    fn a_page_elsewhere_or_of_another_session_is_refused() {
        for (reason, pages) in [
            (
                ": no https address",
                "http://checkout.example/pay?id=ses_1 javascript:alert(1) /?id=ses_1 ",
            ),
            (
                "which is not on gateway.checkout_url",
                "https://checkout.example.evil.example/pay?id=ses_1 \
                 https://checkout.example@evil.example/pay?id=ses_1 \
                 https://me:secret@checkout.example/pay?id=ses_1 \
                 https://checkout.example:444/pay?id=ses_1 \
                 https://checkout.example/payment?id=ses_1 https://checkout.example/?id=ses_1",
            ),
            (
                "whose id is not the session_id",
                "https://checkout.example/pay https://checkout.example/pay?id= \
                 https://checkout.example/pay?id=ses_2 https://checkout.example/pay?ID=ses_1 \
                 https://checkout.example/pay?id=ses_1&id=ses_2 \
                 https://checkout.example/pay#?id=ses_1",
            ),
        ] {
            for page in pages.split(' ') {
                let refused = session(page, "https://checkout.example/pay").unwrap_err();
                assert!(refused.to_string().contains(reason), "{page}: {refused}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

        #[test]
        fn no_session_sends_a_customer_elsewhere(
            mutations in prop::collection::vec((any::<Index>(), any::<bool>(), prop_oneof![
                proptest::char::range('!', '~'), prop::sample::select(vec!['\u{430}', '\u{202e}', '\n', '\t', '\0'])
            ]), 1..=4),
        ) {
            let mut page: Vec<char> = "https://checkout.example/pay?id=ses_1".chars().collect();
            for (at, inserts, letter) in mutations {
                let at = at.index(page.len());
                if inserts { page.insert(at, letter) } else { page[at] = letter }
            }
            let page: String = page.into_iter().collect();
            let Ok(session) = session(&page, "https://checkout.example/pay") else {
                return Ok(());
            };
            let url = session.page().unwrap().as_str();
            prop_assert!(url.starts_with("https://checkout.example/pay"), "{url}");
            let end = &url["https://checkout.example/pay".len()..];
            prop_assert!(end.starts_with(['/', '?']) && end.contains("id=ses_1"), "{url}");
            prop_assert!(url.bytes().all(|b| (b'!'..=b'~').contains(&b)), "{url:?}");
        }
    }
}
