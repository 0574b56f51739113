//! The contract as it is on the wire: what the proxy writes, to the letter, and what is read from others.

mod gallery;
mod requests;

use core::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strum::VariantArray;

use super::*;

fn read<T: DeserializeOwned>(json: &Value) -> Result<T, String> {
    serde_json::from_value(json.clone()).map_err(|error| error.to_string())
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// This JSON is read and written again to the letter. The same with a member that is not known here is read as well.
#[track_caller]
fn on_the_wire<T>(json: &Value) -> T
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let value: T = read(json).unwrap();
    assert_eq!(written(&value), *json);
    let mut newer = json.clone();
    newer["a_member_of_tomorrow"] = json!({ "of": ["any", "shape"] });
    assert_eq!(read::<T>(&newer).as_ref(), Ok(&value));
    value
}

#[test]
fn a_browser_obeys_control_characters_and_those_that_turn_text() {
    let obeyed: String = (0..=0x3000)
        .filter_map(char::from_u32)
        .filter(|c| is_obeyed(*c))
        .collect();
    let control = ('\0'..='\x1f').chain('\x7f'..='\u{9f}');
    let turning = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
    assert_eq!(obeyed, control.chain(turning).collect::<String>());
}

/// The variants of a closed list, each with its word.
#[track_caller]
fn words_of<T: VariantArray + Copy>(words: &str) -> impl Iterator<Item = (T, &str)> {
    assert_eq!(T::VARIANTS.len(), words.split(' ').count());
    T::VARIANTS.iter().copied().zip(words.split(' '))
}

fn with(mut json: Value, members: &Value) -> Value {
    let members = members.as_object().unwrap().clone();
    json.as_object_mut().unwrap().extend(members);
    json
}

fn attempt() -> Value {
    json!({
        "crypto_code": "BTC",
        "asset": "BTC",
        "network": "Bitcoin",
        "address": "tb1q",
        "qr_string": "bitcoin:tb1q?amount=0.00030973",
        "verified": true,
        "amount_in_crypto": "0.00030973",
        "amount_in_usd": "19.90",
        "amount_in_local_currency": "19.90",
        "local_currency_code": "USD",
        "expires_in_seconds": 899,
        "lifetime_seconds": 900,
        "warnings": [{ "kind": "only_this_asset", "text": "Send only BTC." }],
        "marked_as_paid": false,
        "received_in_crypto": "0",
        "remaining_in_crypto": "0.00030973",
    })
}

fn store() -> Value {
    json!({ "id": "demo", "name": "Demo \"shop\" <b>", "theme": "paper" })
}

fn order() -> Value {
    json!({
        "id": "ord_00112233445566778899aabbccddeeff",
        "version": 7,
        "environment": "test",
        "store": store(),
        "title": "An e-book",
        "amount": "19.90",
        "currency": "USD",
        "status": "awaiting_payment",
        "flow": "custom",
        "reverted": false,
        "email_kept": false,
        "can_open_attempt": true,
        "delayed": false,
        "as_of": "2026-11-21T09:00:00Z",
    })
}

#[test]
fn an_order_is_on_the_wire_and_a_member_of_a_newer_proxy_is_passed_over() {
    let order = with(order(), &json!({ "attempt": attempt() }));
    on_the_wire::<OrderView>(&order);
}
