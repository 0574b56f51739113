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
    from_json(&json.to_string()).map_err(|error| error.to_string())
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
fn an_order_is_on_the_wire_with_what_it_has() {
    let opened = json!({ "client_token": "t", "order": order() });
    on_the_wire::<Opened>(&opened);
    let attempt = with(
        attempt(),
        &json!({
            "rate_in_local_currency": "64249.51",
            "received_in_local_currency": "9.95",
            "remaining_in_local_currency": "9.95",
            "excess_in_crypto": "0.1",
            "excess_in_local_currency": "6.43",
            "confirmations": { "count": 1, "required": 3 },
            "transaction_hash": "ab",
            "transaction_hint": "0xab",
            "evm_transaction": { "chain_id": "0x1", "to": "0x12", "value": "0x0", "data": "0x" },
            "tron_transaction": { "chain_id": "0x2b6653dc", "to": "T12", "value": "0x1", "data": "0x" },
            "explorer_url": "https://explorer.example/ab",
        }),
    );
    let store = with(
        store(),
        &json!({
            "support_url": "mailto:help@shop.example",
            "logo_url": "https://shop.example/logo.svg",
            "theme_tokens": { "accent": "#0b6e52", "radius": "0px" },
        }),
    );
    let book = json!({
        "title": "An e-book",
        "quantity": 2,
        "unit_amount": "9.95",
        "amount": "19.90",
        "image_url": "https://cdn.example/ebook.jpg",
    });
    let order = with(
        order(),
        &json!({
            "store": store,
            "attempt": attempt,
            "lines": [book, { "title": "A card", "quantity": 1 }],
            "environment": "production",
            "flow": "hosted",
            "payment_process_url": "https://pay.example/?id=1",
            "paid_at": "2026-11-21T09:00:00Z",
            "late_payment": "counted",
            "return_url": "https://shop.example/",
            "email_kept": true,
            "email_required": true,
            "failure_reason": "nothing_received",
            "blocked_reason": "address_changed",
            "next_poll_seconds": 3,
            "checked_seconds_ago": 4,
        }),
    );
    let refusal = json!({ "code": "quote_expired", "message": "Choose again." });
    let opened = json!({ "client_token": "t", "order": order, "refusal": refusal });
    on_the_wire::<Opened>(&opened);
}

#[test]
fn a_quote_is_on_the_wire_with_and_without_a_price() {
    let quote = json!({
        "crypto_code": "USDTTRC20",
        "asset": "USDT",
        "asset_name": "Tether",
        "network": "Tron",
        "name": "USDT · Tron",
        "detail": "Tether",
        "available": false,
        "quote_id": "c1",
        "valid_for_seconds": 60,
    });
    on_the_wire::<Quote>(&quote);
    let priced = json!({
        "amount_in_crypto": "19.900000",
        "amount_in_usd": "19.90",
        "min": "10",
        "max": "5000",
        "limit_in_order_currency": "6.43",
        "amount_shown": "19.90 USDT",
        "limit_shown": "10 USDT",
        "badge": "TRX",
        "confirms_network": true,
        "is_folded": true,
    });
    on_the_wire::<Quote>(&with(quote.clone(), &priced));
    let words = "below_minimum above_maximum not_priced unknown_asset";
    for (reason, word) in words_of(words) {
        let quote = on_the_wire::<Quote>(&with(quote.clone(), &json!({ "reason": word })));
        assert_eq!(quote.reason, Some(reason));
    }
}

#[test]
fn a_donation_is_on_the_wire_with_every_suggestion() {
    let mut json = json!({
        "environment": "test",
        "store": store(),
        "title": "A coffee",
        "currency": "USD",
        "min": "2.00",
        "max": "500.00",
        "suggested": ["3.00", "10.00"],
    });
    on_the_wire::<DonationView>(&json);
    json["suggested"] = json!(["3.00", "much"]);
    let refused = read::<DonationView>(&json).unwrap_err();
    assert!(refused.contains("\"much\" is not an amount"), "{refused}");
}

#[test]
fn a_receipt_is_on_the_wire_with_what_is_known() {
    on_the_wire::<SignedReceipt>(&json!({
        "receipt": {
            "iss": "https://pay.shop.example",
            "environment": "production",
            "store": "demo",
            "store_name": "Demo shop",
            "order_id": "ord_00112233445566778899aabbccddeeff",
            "reference": "cart-1234",
            "title": "Two mugs",
            "amount": "42.00",
            "currency": "USD",
            "paid_at": "2026-11-21T12:00:00Z",
            "received_in_crypto": "0.00042",
            "address": "bc1q",
        },
        "code": "B9D5M",
    }));
}
