//! That no code pays elsewhere is a property of the address crate. Here every member of a response is compared.

use florin_orders::InvoiceTerms;
use florin_orders::fixtures::{ADDRESS, new_attempt};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// What a correct gateway answers to the terms of the fixtures.
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

fn checked(response: Value, environment: Environment) -> Result<Invoice, InvoiceMismatch> {
    let InvoiceTerms::Custom(terms) = new_attempt(1).invoice else {
        panic!("the fixture is an attempt with an address");
    };
    let response = serde_json::from_value(response).unwrap();
    check_invoice(&terms, &response, environment, NOW)
}

#[test]
fn a_correct_invoice_is_kept_with_bounded_warnings() {
    let invoice = checked(response(), Environment::Test).unwrap();
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
    for (member, value, reason) in [
        (
            "invoice_amount_in_crypto",
            "0.00030972",
            "invoice_amount_in_crypto",
        ),
        (
            "invoice_amount_in_crypto",
            "0.00030974",
            "invoice_amount_in_crypto",
        ),
        (
            "invoice_amount_in_crypto",
            "1e3",
            "invoice_amount_in_crypto",
        ),
        ("invoice_amount_in_usd", "19.89", "invoice_amount_in_usd"),
        ("local_currency_amount", "19.91", "local_currency_amount"),
        ("local_currency_code", "EUR", "local_currency_code"),
        ("deposit_crypto", "LTC", "deposit_crypto"),
        ("deposit_address", other_address, "qr_string"),
        (
            "deposit_address",
            &ADDRESS.replace('w', "q"),
            "deposit_address",
        ),
        (
            "qr_string",
            &format!("bitcoin:{other_address}?amount=0.00030973"),
            "qr_string",
        ),
        (
            "qr_string",
            &format!("bitcoin:{ADDRESS}?amount=0.00030974"),
            "qr_string",
        ),
        ("invoice_expired_in", "soon", "invoice_expired_in"),
    ] {
        let mut response = response();
        response[member] = json!(value);
        let refused = checked(response, Environment::Test)
            .unwrap_err()
            .to_string();
        assert!(refused.starts_with(reason), "{member} {value}: {refused}");
    }
    let elsewhere = checked(response(), Environment::Production).unwrap_err();
    assert!(
        matches!(elsewhere, InvoiceMismatch::Address(_)),
        "{elsewhere}"
    );
}

fn session(page: &str, base: &str) -> Result<Invoice, SessionMismatch> {
    let response = HostedSession {
        session_id: florin_gateway::InvoiceId::parse("ses_1").unwrap(),
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
    let base = "https://checkout.example/pay";
    for page in [
        "http://checkout.example/pay?id=ses_1",
        "javascript:alert(1)",
        "/?id=ses_1",
        "",
    ] {
        let refused = session(page, base);
        assert!(
            matches!(refused, Err(SessionMismatch::NotEncrypted(_))),
            "{page}"
        );
    }
    for page in [
        "https://checkout.example.evil.example/pay?id=ses_1",
        "https://checkout.example@evil.example/pay?id=ses_1",
        "https://me:secret@checkout.example/pay?id=ses_1",
        "https://checkout.example:444/pay?id=ses_1",
        "https://checkout.example/payment?id=ses_1",
        "https://checkout.example/?id=ses_1",
    ] {
        let refused = session(page, base);
        assert!(
            matches!(refused, Err(SessionMismatch::Elsewhere { .. })),
            "{page}"
        );
    }
    for query in [
        "",
        "?id=",
        "?id=ses_2",
        "?id=ses_1&id=ses_2",
        "?ID=ses_1",
        "#?id=ses_1",
    ] {
        let refused = session(&format!("{base}{query}"), base);
        assert!(
            matches!(refused, Err(SessionMismatch::OtherSession { .. })),
            "{query}"
        );
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
