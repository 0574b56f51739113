//! Requests and refusals on the wire, closed lists of words, and what is not read.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use strum::VariantArray;

use super::*;

#[test]
fn requests_are_read_as_they_are_written() {
    let text = "demo\"\n\\\u{1f}é\u{202e}<";
    let product = OpenOrderRequest::Product {
        store: text.into(),
        product: "ebook".into(),
        quantity: Some(2),
    };
    let one = OpenOrderRequest::Product {
        store: "demo".into(),
        product: "ebook".into(),
        quantity: None,
    };
    let donation = OpenOrderRequest::Donation {
        store: "demo".into(),
        donation: "coffee".into(),
        amount: amount("3.50"),
    };
    let token = OpenOrderRequest::OrderToken {
        order_token: "e30.e30.e30".into(),
    };
    for (request, json) in [
        (
            product,
            json!({ "store": text, "product": "ebook", "quantity": 2 }),
        ),
        (one, json!({ "store": "demo", "product": "ebook" })),
        (
            donation,
            json!({ "store": "demo", "donation": "coffee", "amount": "3.50" }),
        ),
        (token, json!({ "order_token": "e30.e30.e30" })),
    ] {
        assert_eq!(written(&request), json);
        // The proxy reads what a browser sent to the letter.
        assert_eq!(
            serde_json::from_value::<OpenOrderRequest>(json).unwrap(),
            request
        );
    }
    let open = OpenAttempt {
        crypto_code: "BTC".into(),
        quote_id: "c1".into(),
    };
    let json = json!({ "crypto_code": "BTC", "quote_id": "c1" });
    assert_eq!(written(&open), json);
    assert_eq!(read(&json), Ok(open));
    let email = || Some("a@b.example".to_owned());
    for (paid, json) in [
        (MarkPaid::default(), json!({})),
        (
            MarkPaid {
                email: email(),
                transaction_hash: Some("0xab".to_owned()),
                address: Some("0xcd".to_owned()),
            },
            json!({ "email": "a@b.example", "transaction_hash": "0xab", "address": "0xcd" }),
        ),
    ] {
        assert_eq!(written(&paid), json);
        assert_eq!(read(&json), Ok(paid));
    }
    let keep = ReceiptEmail {
        email: String::new(),
    };
    let json = json!({ "email": "" });
    assert_eq!(written(&keep), json);
    assert_eq!(read(&json), Ok(keep));
}

#[test]
fn a_request_with_an_unknown_member_is_refused_by_its_name() {
    let json = json!({ "crypto_code": "BTC", "quote_id": "c1", "amount": "0.01" });
    let refused = read::<OpenAttempt>(&json).unwrap_err();
    assert!(refused.starts_with("unknown field `amount`"), "{refused}");
    let refused = read::<MarkPaid>(&json!({ "mail": "a@b.example" })).unwrap_err();
    assert!(refused.starts_with("unknown field `mail`"), "{refused}");
}

#[track_caller]
fn refused_request(json: &str) -> String {
    serde_json::from_str::<OpenOrderRequest>(json)
        .unwrap_err()
        .to_string()
}

#[test]
fn no_source_but_a_donation_takes_a_price() {
    for json in [
        r#"{"store":"demo","product":"ebook","amount":"0.01"}"#,
        r#"{"order_token":"e30.e30.e30","amount":"0.01"}"#,
    ] {
        assert!(refused_request(json).starts_with("unknown field `amount`"));
    }
    let number = r#"{"store":"demo","donation":"coffee","amount":3}"#;
    assert!(refused_request(number).contains("invalid type: integer"));
}

#[test]
fn an_order_is_opened_from_exactly_one_source() {
    for json in [
        "{}",
        r#"{"store":"demo"}"#,
        r#"{"store":"demo","product":"ebook","donation":"coffee"}"#,
        r#"{"store":"demo","product":"ebook","order_token":"e30.e30.e30"}"#,
    ] {
        assert!(
            refused_request(json).starts_with("name exactly one of: store"),
            "{json}"
        );
    }
    for (json, member) in [
        (r#"{"product":"ebook"}"#, "missing field `store`"),
        (
            r#"{"store":"demo","donation":"coffee"}"#,
            "missing field `amount`",
        ),
        (
            r#"{"store":"demo","order_token":"x"}"#,
            "unknown field `store`",
        ),
        (
            r#"{"store":"demo","donation":"coffee","amount":"3","quantity":2}"#,
            "unknown field `quantity`",
        ),
    ] {
        assert!(refused_request(json).starts_with(member), "{json}");
    }
}

#[test]
fn what_is_missing_or_of_another_type_is_named() {
    let (_, mut json) = order();
    json["attempt"] = attempt().1;
    let whole = json.clone();
    json["attempt"].as_object_mut().unwrap().remove("address");
    let refused = read::<OrderView>(&json).unwrap_err();
    assert!(refused.starts_with("missing field `address`"), "{refused}");
    for member in [
        "/amount",
        "/attempt/remaining_in_crypto",
        "/attempt/excess_in_crypto",
    ] {
        let mut json = whole.clone();
        json["attempt"]["excess_in_crypto"] = "0".into();
        *json.pointer_mut(member).unwrap() = "19,90".into();
        let refused = read::<OrderView>(&json).unwrap_err();
        assert!(
            refused.starts_with("\"19,90\" is not an amount"),
            "{member}: {refused}"
        );
    }
}

#[track_caller]
fn is_closed_list<T, const N: usize>(words: [&'static str; N])
where
    T: VariantArray + Copy + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
{
    for (variant, word) in words_of::<T, N>(words) {
        assert_eq!(written(&variant), word);
        assert_eq!(read::<T>(&word.into()), Ok(variant));
    }
}

#[test]
fn every_word_of_a_closed_list_is_the_contracts() {
    let statuses = [
        "open",
        "awaiting_payment",
        "checking",
        "processing",
        "paid",
        "overpaid",
        "underpaid",
        "failed",
        "cancelled",
        "expired",
        "blocked",
    ];
    is_closed_list::<Status, _>(statuses);
    for (status, word) in words_of::<Status, _>(statuses) {
        assert_eq!(<&str>::from(status), word);
    }
    is_closed_list::<BlockedReason, _>(["invoice_rejected", "address_changed"]);
    is_closed_list::<FailureReason, _>(["nothing_received", "not_completed"]);
    is_closed_list::<LatePayment, _>(["counted", "second"]);
}

#[test]
fn a_warning_is_on_the_wire_and_one_of_an_unknown_kind_keeps_its_text() {
    let words = [
        "only_this_asset",
        "wrong_network",
        "confirmations",
        "expiry",
        "network_fee",
        "late_price",
        "other",
    ];
    for (kind, word) in words_of(words) {
        let warning = Warning {
            kind,
            text: "3 confirmations are required.".into(),
            number: Some(3),
        };
        let json = json!({ "kind": word, "text": "3 confirmations are required.", "number": 3 });
        is_on_the_wire(&warning, &json);
    }
    let json = json!({ "kind": "of_tomorrow", "text": "Mind the gap." });
    let warning: Warning = read(&json).unwrap();
    assert_eq!(warning.kind, WarningKind::Other);
    assert_eq!(warning.text, "Mind the gap.");
}

/// A page that is older than its proxy shows nothing rather than a screen that is not the order's.
#[test]
fn a_word_that_is_not_on_its_list_is_refused() {
    for member in [
        "status",
        "failure_reason",
        "blocked_reason",
        "flow",
        "environment",
        "late_payment",
    ] {
        let (_, mut json) = order();
        json[member] = "delighted".into();
        let refused = read::<OrderView>(&json).unwrap_err();
        assert!(
            refused.starts_with("unknown variant `delighted`"),
            "{refused}"
        );
    }
}

#[test]
fn texts_are_read_without_what_a_browser_obeys() {
    let (_, mut json) = order();
    json["attempt"] = attempt().1;
    json["title"] = "E\u{202e}kooB\n 0".into();
    json["store"]["name"] = "Shop\u{2066}\u{7f}".into();
    let warning = json!({ "kind": "other", "text": "Send\u{0} only\u{202d} BTC." });
    json["attempt"]["warnings"] = json!([warning]);
    let read: OrderView = read(&json).unwrap();
    assert_eq!(read.title, "EkooB 0");
    assert_eq!(read.store.name, "Shop");
    assert_eq!(read.attempt.unwrap().warnings[0].text, "Send only BTC.");
}

#[test]
fn a_refusal_is_on_the_wire_with_its_code() {
    for code in ErrorCode::ALL {
        let error = ErrorBody {
            code: Some(*code),
            message: "m".into(),
            field: Some("email".into()),
            request_id: Some("r".into()),
        };
        let json = json!({ "error": {
            "code": code.as_str(), "message": "m", "field": "email", "request_id": "r",
        }});
        is_on_the_wire(&Refusal { error }, &json);
    }
    let json = json!({ "error": { "code": "later", "message": "m" } });
    let refusal: Refusal = read(&json).unwrap();
    assert_eq!(refusal.error.code, None);
    assert_eq!(refusal.error.request_id, None);
}
