//! Requests and refusals on the wire, closed lists of words, and what is not read.

use core::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use strum::VariantArray;

use super::*;

#[test]
fn a_request_with_an_unknown_member_is_refused_by_its_name() {
    let json = json!({ "crypto_code": "BTC", "quote_id": "c1", "amount": "0.01" });
    let refused = read::<OpenAttempt>(&json).unwrap_err();
    assert!(refused.starts_with("unknown field `amount`"), "{refused}");
    let refused = read::<MarkPaid>(&json!({ "mail": "a@b.example" })).unwrap_err();
    assert!(refused.starts_with("unknown field `mail`"), "{refused}");
}

/// A request that opens no order, and why.
const NO_ORDER: &str = r#"
{} name exactly one of: store
{"store":"demo"} name exactly one of: store
{"store":"demo","product":"ebook","donation":"coffee"} name exactly one of: store
{"store":"demo","product":"ebook","order_token":"e30.e30.e30"} name exactly one of: store
{"product":"ebook"} missing field `store`
{"store":"demo","donation":"coffee"} missing field `amount`
{"store":"demo","order_token":"x"} unknown field `store`
{"store":"demo","donation":"coffee","amount":"3","quantity":2} unknown field `quantity`
{"store":"demo","product":"ebook","amount":"0.01"} unknown field `amount`
{"order_token":"e30.e30.e30","amount":"0.01"} unknown field `amount`
{"store":"demo","donation":"coffee","amount":3} invalid type: integer
"#;

#[test]
fn an_order_is_opened_from_exactly_one_source_and_only_a_donation_takes_a_price() {
    for line in NO_ORDER.trim().lines() {
        let (json, refusal) = line.split_once(' ').unwrap();
        let json = serde_json::from_str(json).unwrap();
        let refused = read::<OpenOrderRequest>(&json).unwrap_err();
        assert!(refused.starts_with(refusal), "{json}: {refused}");
    }
}

#[test]
fn what_is_missing_or_of_another_type_is_named() {
    let whole = with(order(), &json!({ "attempt": attempt() }));
    let mut json = whole.clone();
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
fn is_closed_list<T>(words: &str)
where
    T: VariantArray + Copy + PartialEq + Debug + Serialize + DeserializeOwned,
{
    for (variant, word) in words_of::<T>(words) {
        assert_eq!(written(&variant), word);
        assert_eq!(read::<T>(&word.into()), Ok(variant));
    }
}

#[test]
fn every_word_of_a_closed_list_is_the_contracts() {
    is_closed_list::<Status>(
        "open awaiting_payment checking processing paid overpaid underpaid failed cancelled expired \
         blocked",
    );
    is_closed_list::<BlockedReason>("invoice_rejected address_changed");
    is_closed_list::<FailureReason>("nothing_received not_completed");
    is_closed_list::<LatePayment>("counted second");
    is_closed_list::<Unavailable>("below_minimum above_maximum not_priced unknown_asset");
}

#[test]
fn a_warning_is_on_the_wire_and_one_of_an_unknown_kind_keeps_its_text() {
    let words = "only_this_asset wrong_network confirmations expiry network_fee late_price other";
    for (kind, word) in words_of(words) {
        let json = json!({ "kind": word, "text": "3 confirmations are required.", "number": 3 });
        assert_eq!(on_the_wire::<Warning>(&json).kind, kind);
    }
    let json = json!({ "kind": "of_tomorrow", "text": "Mind the gap." });
    let warning: Warning = read(&json).unwrap();
    assert_eq!(warning.kind, WarningKind::Other);
    assert_eq!(warning.text, "Mind the gap.");
}

/// A page that is older than its proxy shows nothing rather than a screen that is not the order's.
#[test]
fn a_word_that_is_not_on_its_list_is_refused() {
    let members = "status failure_reason blocked_reason flow environment late_payment";
    for member in members.split(' ') {
        let mut json = order();
        json[member] = "delighted".into();
        let refused = read::<OrderView>(&json).unwrap_err();
        assert!(
            refused.starts_with("unknown variant `delighted`"),
            "{refused}"
        );
    }
}

#[test]
fn a_refusal_is_on_the_wire_with_its_code() {
    for code in ErrorCode::ALL {
        let json = json!({ "error": {
            "code": code.as_str(), "message": "m", "field": "email", "request_id": "r",
        }});
        let refusal = on_the_wire::<Refusal>(&json);
        assert_eq!(refusal.error.code, Some(*code));
    }
    let json = json!({ "error": { "code": "later", "message": "m" } });
    let refusal: Refusal = read(&json).unwrap();
    assert_eq!(refusal.error.code, None);
    assert_eq!(refusal.error.request_id, None);
}
