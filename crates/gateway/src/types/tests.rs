use core::time::Duration;

use florin_money::{CryptoCode, Currency};
use serde_json::json;

use super::*;

fn price(rate: &str) -> Value {
    json!({
        "rates": {
            "amount_in_local_currency": rate, "amount_in_crypto": "1",
            "amount_in_usd": rate, "local_currency_code": "USD",
        },
        "limits": {"min": "0.0001", "max": ""},
        "conversion_id": "c1",
        "later": [1],
    })
}

#[test]
fn one_unreadable_price_costs_one_asset_and_the_others_are_written_as_they_were_read() {
    let mut number = price("1");
    number["rates"]["amount_in_usd"] = json!(1);
    let wire = json!({
        "BTC": price("64250.13"), "NEWCOIN": price("2"), "ETH": number, "bad code": price("1"),
    });
    let prices: Prices = serde_json::from_value(wire).unwrap();
    let codes: Vec<_> = prices.entries.keys().map(CryptoCode::as_str).collect();
    assert_eq!(codes, ["BTC", "NEWCOIN"]);
    let btc = &prices.entries[&CryptoCode::parse("BTC").unwrap()];
    assert_eq!(btc.rates.amount_in_usd, "64250.13");
    let Limits { min, max } = &btc.limits;
    assert_eq!((min.as_str(), max.as_str()), ("0.0001", ""));
    let skipped: Vec<_> = prices.skipped.iter().map(|price| &price.key).collect();
    assert_eq!(skipped, ["ETH", "bad code"]);
    let reason = &prices.skipped[0].reason;
    assert!(reason.contains("invalid type: integer `1`"), "{reason}");
    let written = serde_json::to_string(&prices).unwrap();
    let again: Prices = serde_json::from_str(&written).unwrap();
    assert_eq!(again.entries, prices.entries);
}

fn invoice(member: &str, value: Value) -> Result<Invoice, serde_json::Error> {
    let mut json = json!({
        "invoice_id": "inv_1",
        "invoice_expired_in": "15",
        "deposit_crypto": "BTC",
        "deposit_address": "tb1q",
        "qr_string": "bitcoin:tb1q?amount=0.0003",
        "invoice_amount_in_crypto": "0.0003",
        "invoice_amount_in_usd": "19.90",
        "local_currency_amount": "19.90",
        "local_currency_code": "USD",
        "warning_messages": ["Send only BTC.", 7],
    });
    json[member] = value;
    serde_json::from_value(json)
}

#[test]
fn an_invoice_keeps_the_texts_of_the_gateway_and_needs_its_address() {
    let read = invoice("later", json!(null)).unwrap();
    assert_eq!(read.invoice_amount_in_usd, "19.90");
    assert_eq!(read.warning_messages, ["Send only BTC."]);
    for member in [
        "invoice_id",
        "deposit_address",
        "qr_string",
        "invoice_amount_in_crypto",
    ] {
        let error = invoice(member, json!(null)).unwrap_err().to_string();
        assert!(error.starts_with("invalid type: null"), "{member}: {error}");
    }
}

#[test]
fn a_lifetime_is_read_only_from_plain_minutes() {
    for (text, minutes) in [
        ("15", Some(15)),
        ("10080", Some(10_080)),
        ("0", None),
        ("10081", None),
        ("", None),
        ("-1", None),
        ("+5", None),
        ("15.5", None),
        ("15 min", None),
        ("\u{661}\u{665}", None),
    ] {
        let invoice = invoice("invoice_expired_in", json!(text)).unwrap();
        let expected = minutes.map(Duration::from_mins);
        assert_eq!(invoice.lifetime(), expected, "{text:?}");
    }
}

#[test]
fn a_missing_or_foreign_member_of_a_status_is_absent_and_an_unknown_word_is_kept() {
    let status: InvoiceStatus = serde_json::from_value(json!({
        "invoice_id": 17, "transaction_status": "COMPLETED", "received_amount_in_usd": 19.9,
        "transaction_hash": "", "history": [{}],
    }))
    .unwrap();
    let expected = InvoiceStatus {
        transaction_status: Some(TransactionStatus::Completed),
        transaction_hash: Some(String::new()),
        ..InvoiceStatus::default()
    };
    assert_eq!(status, expected);
    let other = |word: &str| Some(TransactionStatus::Other(word.to_owned()));
    for (word, expected) in [
        (json!("REFUNDED"), other("REFUNDED")),
        (json!("completed"), other("completed")),
        (json!(true), None),
    ] {
        let json = json!({ "transaction_status": word });
        let status: InvoiceStatus = serde_json::from_value(json).unwrap();
        assert_eq!(status.transaction_status, expected);
    }
    let twice = r#"{"transaction_status":"CHECKING","transaction_status":"COMPLETED"}"#;
    let error = serde_json::from_str::<InvoiceStatus>(twice).unwrap_err();
    assert!(error.to_string().starts_with("duplicate field"), "{error}");
    let callback = json!({"invoice_id": "inv_1", "status": "REFUNDED", "x": 1});
    let callback: Callback = serde_json::from_value(callback).unwrap();
    assert_eq!(callback.status, CallbackStatus::Other("REFUNDED".into()));
}

#[test]
fn confirmations_are_two_numbers_or_none() {
    for (text, expected) in [
        ("1/3", Some((1, 3))),
        ("12/3", Some((12, 3))),
        ("", None),
        ("3", None),
        ("/", None),
        ("1/", None),
        ("+1/3", None),
        ("1/3/5", None),
        ("a/b", None),
        ("4294967296/3", None),
    ] {
        let status = InvoiceStatus {
            blockchain_confirmations: Some(text.to_owned()),
            ..InvoiceStatus::default()
        };
        let expected = expected.map(|(count, required)| Confirmations { count, required });
        assert_eq!(status.confirmations(), expected, "{text:?}");
    }
}

#[test]
fn a_request_omits_what_is_not_given() {
    let invoice = || InvoiceId::parse("inv_1").unwrap();
    let mail = "a@b.example".to_owned();
    let checkout = CheckoutRequest {
        client_email_id: mail.clone(),
        client_preferred_fiat_currency: Currency::USD,
        amount: None,
        merchant_id: None,
        merchant_website: "https://shop.example/thanks".into(),
        invoice_callback_url: "https://pay.shop.example/callbacks/t".into(),
    };
    for (request, expected) in [
        (
            json!(ConfirmRequest::new(invoice(), None)),
            json!({"marked_as_paid": true, "invoice_id": "inv_1"}),
        ),
        (
            json!(ConfirmRequest::new(invoice(), Some(mail.clone()))),
            json!({"marked_as_paid": true, "invoice_id": "inv_1", "email_address": mail}),
        ),
        (
            json!(checkout),
            json!({
                "client_email_id": mail, "client_preferred_fiat_currency": "USD",
                "merchant_website": "https://shop.example/thanks",
                "invoice_callback_url": "https://pay.shop.example/callbacks/t",
            }),
        ),
    ] {
        assert_eq!(request, expected);
    }
}

#[test]
fn both_shapes_of_a_refusal_are_read_and_any_other_body_explains_nothing() {
    let body = br#"{"error":"out of range","code":"AMOUNT_OUT_OF_RANGE","message":"at least 10"}"#;
    let general = GatewayError::from_body(body);
    assert_eq!(general.code, Some(ErrorCode::AmountOutOfRange));
    assert_eq!(general.summary.as_deref(), Some("out of range"));
    assert_eq!(general.message.as_deref(), Some("at least 10"));
    let checkout = GatewayError::from_body(br#"{"error":true,"message":"no email"}"#);
    assert_eq!((checkout.summary, checkout.code), (None, None));
    assert_eq!(checkout.message.as_deref(), Some("no email"));
    for body in [
        &b""[..],
        b"<html>",
        b"[\"a\",\"b\"]",
        b"null",
        b"\xff",
        b"{}",
    ] {
        assert_eq!(GatewayError::from_body(body), GatewayError::default());
    }
    let confirmed = json!({"message": "OK", "merchant_website_redirect_url": 5});
    let confirmed: Confirmed = serde_json::from_value(confirmed).unwrap();
    assert_eq!(confirmed.message.as_deref(), Some("OK"));
    assert_eq!(confirmed.merchant_website_redirect_url, None);
}

#[test]
fn an_identifier_is_short_visible_ascii() {
    for text in ["inv_1", "a/b?c&d=%", &"x".repeat(128)] {
        assert_eq!(InvoiceId::parse(text).unwrap().as_str(), text);
    }
    for text in ["", "a b", "a\n", "\u{e9}", &"x".repeat(129)] {
        let refused = text.chars().take(40).collect();
        assert_eq!(InvoiceId::parse(text), Err(InvalidId(refused)));
    }
}
