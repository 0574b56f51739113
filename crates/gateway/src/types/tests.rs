use core::time::Duration;

use florin_money::{CryptoCode, Currency};
use serde_json::json;

use super::*;

fn price(rate: &str) -> serde_json::Value {
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

fn invoice() -> serde_json::Value {
    json!({
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
        "later": null,
    })
}

#[test]
fn prices_that_are_written_are_the_same_when_they_are_read() {
    let wire = json!({"BTC": price("65000"), "USDT-ERC20": price("1"), "?": price("1")});
    let read: Prices = serde_json::from_value(wire).unwrap();
    let written = serde_json::to_string(&read).unwrap();
    let again: Prices = serde_json::from_str(&written).unwrap();
    assert_eq!(again.entries, read.entries);
    assert_eq!(again.entries.len(), 2);
}

#[test]
fn one_unreadable_price_costs_one_asset() {
    let mut number = price("1");
    number["rates"]["amount_in_usd"] = json!(1);
    let prices: Prices = serde_json::from_value(json!({
        "BTC": price("64250.13"), "NEWCOIN": price("2"), "ETH": number, "bad code": price("1"),
    }))
    .unwrap();
    let codes: Vec<_> = prices.entries.keys().map(CryptoCode::as_str).collect();
    assert_eq!(codes, ["BTC", "NEWCOIN"]);
    let btc = &prices.entries[&CryptoCode::parse("BTC").unwrap()];
    assert_eq!(btc.rates.amount_in_usd, "64250.13");
    assert_eq!(
        (btc.limits.min.as_str(), btc.limits.max.as_str()),
        ("0.0001", "")
    );
    assert_eq!(btc.conversion_id.as_str(), "c1");
    let skipped: Vec<_> = prices
        .skipped
        .iter()
        .map(|skipped| skipped.key.as_str())
        .collect();
    assert_eq!(skipped, ["ETH", "bad code"]);
    assert!(
        prices.skipped[0]
            .reason
            .contains("invalid type: integer `1`")
    );
}

#[test]
fn an_invoice_keeps_the_texts_of_the_service() {
    let invoice: Invoice = serde_json::from_value(invoice()).unwrap();
    assert_eq!(invoice.invoice_id, InvoiceId::parse("inv_1").unwrap());
    assert_eq!(invoice.invoice_amount_in_usd, "19.90");
    assert_eq!(invoice.warning_messages, ["Send only BTC."]);
}

#[test]
fn an_invoice_without_an_address_is_none() {
    for member in [
        "invoice_id",
        "deposit_address",
        "qr_string",
        "invoice_amount_in_crypto",
    ] {
        let mut json = invoice();
        json[member] = json!(null);
        let error = serde_json::from_value::<Invoice>(json)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("invalid type: null"), "{member}: {error}");
    }
}

#[test]
fn a_lifetime_is_read_only_from_plain_minutes() {
    let mut invoice: Invoice = serde_json::from_value(invoice()).unwrap();
    assert_eq!(invoice.lifetime(), Some(Duration::from_mins(15)));
    for text in ["", "-1", "+5", "15.5", "15 min", "99999", "١٥"] {
        text.clone_into(&mut invoice.invoice_expired_in);
        assert_eq!(invoice.lifetime(), None, "{text:?}");
    }
}

#[test]
fn a_missing_or_foreign_member_of_a_status_is_absent_and_fails_nothing() {
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
}

#[test]
fn an_unknown_status_is_kept_and_one_that_is_no_text_is_absent() {
    let read = |json| {
        serde_json::from_value::<InvoiceStatus>(json)
            .unwrap()
            .transaction_status
    };
    assert_eq!(
        read(json!({"transaction_status": "REFUNDED"})),
        Some(TransactionStatus::Other("REFUNDED".into()))
    );
    assert_eq!(
        read(json!({"transaction_status": "completed"})),
        Some(TransactionStatus::Other("completed".into()))
    );
    assert_eq!(read(json!({"transaction_status": true})), None);
    assert_eq!(read(json!({})), None);
}

#[test]
fn a_duplicate_member_is_refused() {
    let twice = r#"{"transaction_status":"CHECKING","transaction_status":"COMPLETED"}"#;
    let error = serde_json::from_str::<InvoiceStatus>(twice)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("duplicate field `transaction_status`"),
        "{error}"
    );
}

#[test]
fn confirmations_are_two_numbers_or_none() {
    let read = |text: &str| {
        let blockchain_confirmations = Some(text.to_owned());
        InvoiceStatus {
            blockchain_confirmations,
            ..InvoiceStatus::default()
        }
        .confirmations()
    };
    assert_eq!(
        read("1/3"),
        Some(Confirmations {
            count: 1,
            required: 3
        })
    );
    assert_eq!(
        read("12/3"),
        Some(Confirmations {
            count: 12,
            required: 3
        })
    );
    for text in ["", "3", "/", "1/", "+1/3", "1/3/5", "a/b", "4294967296/3"] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn a_confirm_request_marks_as_paid_and_omits_a_missing_email() {
    let invoice = InvoiceId::parse("inv_1").unwrap();
    assert_eq!(
        serde_json::to_string(&ConfirmRequest::new(invoice.clone(), None)).unwrap(),
        r#"{"marked_as_paid":true,"invoice_id":"inv_1"}"#
    );
    assert_eq!(
        serde_json::to_value(ConfirmRequest::new(invoice, Some("a@b.example".into()))).unwrap(),
        json!({"marked_as_paid": true, "invoice_id": "inv_1", "email_address": "a@b.example"})
    );
}

#[test]
fn any_confirm_response_is_accepted() {
    let read = |json| serde_json::from_value::<Confirmed>(json).unwrap();
    let confirmed = read(json!({"message": "OK", "merchant_website_redirect_url": 5}));
    assert_eq!(confirmed.message.as_deref(), Some("OK"));
    assert_eq!(confirmed.merchant_website_redirect_url, None);
}

#[test]
fn a_checkout_request_omits_a_missing_amount() {
    let request = CheckoutRequest {
        client_email_id: "a@b.example".into(),
        client_preferred_fiat_currency: Currency::USD,
        amount: None,
        merchant_id: None,
        merchant_website: "https://shop.example/thanks".into(),
        invoice_callback_url: "https://pay.shop.example/callbacks/t".into(),
    };
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({
            "client_email_id": "a@b.example", "client_preferred_fiat_currency": "USD",
            "merchant_website": "https://shop.example/thanks",
            "invoice_callback_url": "https://pay.shop.example/callbacks/t",
        })
    );
}

#[test]
fn a_callback_keeps_an_unknown_word_and_ignores_other_members() {
    let callback: Callback =
        serde_json::from_value(json!({"invoice_id": "inv_1", "status": "REFUNDED", "x": 1}))
            .unwrap();
    assert_eq!(callback.status, CallbackStatus::Other("REFUNDED".into()));
    assert_eq!(callback.invoice_id.as_str(), "inv_1");
}

#[test]
fn both_shapes_of_a_refusal_are_read() {
    let body = br#"{"error":"out of range","code":"AMOUNT_OUT_OF_RANGE","message":"at least 10"}"#;
    let general = GatewayError::from_body(body);
    assert_eq!(general.code, Some(ErrorCode::AmountOutOfRange));
    assert_eq!(general.summary.as_deref(), Some("out of range"));
    assert_eq!(general.message.as_deref(), Some("at least 10"));
    let checkout = GatewayError::from_body(br#"{"error":true,"message":"no email"}"#);
    assert_eq!((checkout.summary, checkout.code), (None, None));
    assert_eq!(checkout.message.as_deref(), Some("no email"));
}

#[test]
fn a_refusal_without_an_explanation_is_still_one() {
    for body in [
        &b""[..],
        b"<html>",
        b"[]",
        b"[\"a\",\"b\",\"c\"]",
        b"null",
        b"\xff",
        b"{}",
    ] {
        assert_eq!(GatewayError::from_body(body), GatewayError::default());
    }
}

#[test]
fn an_identifier_is_short_visible_ascii() {
    for text in ["inv_1", "a/b?c&d=%", &"x".repeat(128)] {
        assert_eq!(InvoiceId::parse(text).unwrap().as_str(), text);
    }
    for text in ["", "a b", "a\n", "é", &"x".repeat(129)] {
        let refused = text.chars().take(40).collect();
        assert_eq!(InvoiceId::parse(text), Err(InvalidId(refused)));
    }
}
