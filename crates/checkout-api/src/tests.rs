//! The contract as it is on the wire: what the proxy writes, to the letter, and what is read from others.

mod gallery;
mod requests;

use std::collections::BTreeMap;

use florin_money::AmountText;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strum::VariantArray;

use super::*;

fn amount(text: &str) -> AmountText {
    AmountText::parse(text).unwrap()
}

fn read<T: DeserializeOwned>(json: &Value) -> Result<T, String> {
    from_json(&json.to_string()).map_err(|error| error.to_string())
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// The value is written as this JSON and read from it, and from the same with a member that is not known here.
#[track_caller]
fn is_on_the_wire<T>(value: &T, json: &Value)
where
    T: Serialize + DeserializeOwned + PartialEq + core::fmt::Debug,
{
    assert_eq!(written(value), *json);
    assert_eq!(read::<T>(json).as_ref(), Ok(value));
    let mut newer = json.clone();
    newer["a_member_of_tomorrow"] = json!({ "of": ["any", "shape"] });
    assert_eq!(read::<T>(&newer).as_ref(), Ok(value));
}

/// The variants of a closed list, each with its word.
#[track_caller]
fn words_of<T: VariantArray + Copy, const N: usize>(
    words: [&'static str; N],
) -> impl Iterator<Item = (T, &'static str)> {
    assert_eq!(T::VARIANTS.len(), N);
    T::VARIANTS.iter().copied().zip(words)
}

fn attempt() -> (AttemptView, Value) {
    let attempt = AttemptView {
        crypto_code: "BTC".into(),
        asset: "BTC".into(),
        network: "Bitcoin".into(),
        address: "tb1q".into(),
        qr_string: "bitcoin:tb1q?amount=0.00030973".into(),
        evm_transaction: None,
        tron_transaction: None,
        verified: true,
        amount_in_crypto: amount("0.00030973"),
        amount_in_usd: amount("19.90"),
        amount_in_local_currency: amount("19.90"),
        local_currency_code: "USD".into(),
        rate_in_local_currency: Some(amount("64249.51")),
        expires_in_seconds: 899,
        lifetime_seconds: 900,
        warnings: vec![Warning {
            kind: WarningKind::OnlyThisAsset,
            text: "Send only BTC.".into(),
            number: None,
        }],
        marked_as_paid: false,
        transaction_hint: None,
        received_in_crypto: amount("0"),
        remaining_in_crypto: amount("0.00030973"),
        received_in_local_currency: None,
        remaining_in_local_currency: None,
        excess_in_crypto: None,
        excess_in_local_currency: None,
        confirmations: Some(Confirmations {
            count: 1,
            required: 3,
        }),
        transaction_hash: None,
        explorer_url: None,
    };
    let json = json!({
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
        "rate_in_local_currency": "64249.51",
        "expires_in_seconds": 899,
        "lifetime_seconds": 900,
        "warnings": [{ "kind": "only_this_asset", "text": "Send only BTC." }],
        "marked_as_paid": false,
        "received_in_crypto": "0",
        "remaining_in_crypto": "0.00030973",
        "confirmations": { "count": 1, "required": 3 },
    });
    (attempt, json)
}

fn store() -> (StoreView, Value) {
    let tokens = [("accent", "#0b6e52"), ("radius", "0px")];
    let store = StoreView {
        id: "demo".into(),
        name: "Demo \"shop\" <b>".into(),
        support_url: Some("mailto:help@shop.example".into()),
        logo_url: Some("https://shop.example/logo.svg".into()),
        theme: "paper".into(),
        theme_tokens: tokens
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
    };
    let json = json!({
        "id": "demo",
        "name": "Demo \"shop\" <b>",
        "support_url": "mailto:help@shop.example",
        "logo_url": "https://shop.example/logo.svg",
        "theme": "paper",
        "theme_tokens": { "accent": "#0b6e52", "radius": "0px" },
    });
    (store, json)
}

fn order() -> (OrderView, Value) {
    let (store, store_json) = store();
    let order = OrderView {
        id: "ord_00112233445566778899aabbccddeeff".into(),
        version: 7,
        environment: Environment::Test,
        store,
        title: "An e-book".into(),
        lines: Vec::new(),
        amount: amount("19.90"),
        currency: "USD".into(),
        status: Status::AwaitingPayment,
        failure_reason: None,
        blocked_reason: None,
        flow: Flow::Custom,
        payment_process_url: None,
        paid_at: None,
        reverted: false,
        late_payment: None,
        attempt: None,
        email_kept: false,
        email_required: false,
        return_url: None,
        can_open_attempt: true,
        delayed: false,
        next_poll_seconds: Some(3),
        checked_seconds_ago: None,
        as_of: "2026-11-21T09:00:00Z".into(),
    };
    let json = json!({
        "id": "ord_00112233445566778899aabbccddeeff",
        "version": 7,
        "environment": "test",
        "store": store_json,
        "title": "An e-book",
        "amount": "19.90",
        "currency": "USD",
        "status": "awaiting_payment",
        "flow": "custom",
        "reverted": false,
        "email_kept": false,
        "can_open_attempt": true,
        "delayed": false,
        "next_poll_seconds": 3,
        "as_of": "2026-11-21T09:00:00Z",
    });
    (order, json)
}

#[test]
fn an_order_is_on_the_wire_with_what_it_has() {
    let (mut view, mut json) = order();
    is_on_the_wire(&view, &json);
    let (attempt, attempt_json) = attempt();
    view.attempt = Some(AttemptView {
        received_in_local_currency: Some(amount("9.95")),
        remaining_in_local_currency: Some(amount("9.95")),
        excess_in_crypto: Some(amount("0.1")),
        excess_in_local_currency: Some(amount("6.43")),
        transaction_hash: Some("ab".into()),
        transaction_hint: Some("0xab".into()),
        evm_transaction: Some(WalletTransaction {
            chain_id: "0x1".into(),
            to: "0x12".into(),
            value: "0x0".into(),
            data: "0x".into(),
        }),
        tron_transaction: Some(WalletTransaction {
            chain_id: "0x2b6653dc".into(),
            to: "T12".into(),
            value: "0x1".into(),
            data: "0x".into(),
        }),
        explorer_url: Some("https://explorer.example/ab".into()),
        ..attempt
    });
    json["attempt"] = attempt_json;
    json["attempt"]["received_in_local_currency"] = "9.95".into();
    json["attempt"]["remaining_in_local_currency"] = "9.95".into();
    json["attempt"]["excess_in_crypto"] = "0.1".into();
    json["attempt"]["excess_in_local_currency"] = "6.43".into();
    json["attempt"]["transaction_hash"] = "ab".into();
    json["attempt"]["transaction_hint"] = "0xab".into();
    json["attempt"]["evm_transaction"] =
        json!({ "chain_id": "0x1", "to": "0x12", "value": "0x0", "data": "0x" });
    json["attempt"]["tron_transaction"] =
        json!({ "chain_id": "0x2b6653dc", "to": "T12", "value": "0x1", "data": "0x" });
    json["attempt"]["explorer_url"] = "https://explorer.example/ab".into();
    view.environment = Environment::Production;
    json["environment"] = "production".into();
    view.flow = Flow::Hosted;
    json["flow"] = "hosted".into();
    view.payment_process_url = Some("https://pay.example/?id=1".into());
    json["payment_process_url"] = "https://pay.example/?id=1".into();
    view.return_url = Some("https://shop.example/".into());
    json["return_url"] = "https://shop.example/".into();
    view.lines = vec![
        LineView {
            title: "An e-book".into(),
            quantity: 2,
            unit_amount: Some(amount("9.95")),
            amount: Some(amount("19.90")),
            image_url: Some("https://cdn.example/ebook.jpg".into()),
        },
        LineView {
            title: "A card".into(),
            quantity: 1,
            unit_amount: None,
            amount: None,
            image_url: None,
        },
    ];
    json["lines"] = json!([
        {
            "title": "An e-book",
            "quantity": 2,
            "unit_amount": "9.95",
            "amount": "19.90",
            "image_url": "https://cdn.example/ebook.jpg",
        },
        { "title": "A card", "quantity": 1 },
    ]);
    view.email_kept = true;
    json["email_kept"] = true.into();
    view.email_required = true;
    json["email_required"] = true.into();
    view.failure_reason = Some(FailureReason::NothingReceived);
    json["failure_reason"] = "nothing_received".into();
    view.blocked_reason = Some(BlockedReason::AddressChanged);
    json["blocked_reason"] = "address_changed".into();
    view.checked_seconds_ago = Some(4);
    json["checked_seconds_ago"] = 4.into();
    is_on_the_wire(&view, &json);
    let mut opened = Opened {
        client_token: "t".into(),
        order: view,
        quotes: None,
    };
    is_on_the_wire(&opened, &json!({ "client_token": "t", "order": json }));
    opened.quotes = Some(Vec::new());
    is_on_the_wire(
        &opened,
        &json!({ "client_token": "t", "order": json, "quotes": [] }),
    );
}

#[test]
fn a_store_without_tokens_of_its_own_has_no_such_member() {
    let (mut store, mut json) = store();
    store.theme_tokens = BTreeMap::new();
    store.support_url = None;
    store.logo_url = None;
    json.as_object_mut().unwrap().remove("theme_tokens");
    json.as_object_mut().unwrap().remove("support_url");
    json.as_object_mut().unwrap().remove("logo_url");
    is_on_the_wire(&store, &json);
}

#[test]
fn a_quote_is_on_the_wire_with_and_without_a_price() {
    let mut quote = Quote {
        crypto_code: "USDTTRC20".into(),
        asset: "USDT".into(),
        asset_name: "Tether".into(),
        network: "Tron".into(),
        amount_in_crypto: Some(amount("19.900000")),
        amount_in_usd: Some(amount("19.90")),
        min: Some(amount("10")),
        max: Some(amount("5000")),
        available: true,
        reason: None,
        limit_in_order_currency: None,
        quote_id: "c1".into(),
        valid_for_seconds: 60,
    };
    let mut json = json!({
        "crypto_code": "USDTTRC20",
        "asset": "USDT",
        "asset_name": "Tether",
        "network": "Tron",
        "amount_in_crypto": "19.900000",
        "amount_in_usd": "19.90",
        "min": "10",
        "max": "5000",
        "available": true,
        "quote_id": "c1",
        "valid_for_seconds": 60,
    });
    is_on_the_wire(&quote, &json);
    quote.available = false;
    json["available"] = false.into();
    quote.amount_in_crypto = None;
    json.as_object_mut().unwrap().remove("amount_in_crypto");
    let words = [
        "below_minimum",
        "above_maximum",
        "not_priced",
        "unknown_asset",
    ];
    for (reason, word) in words_of(words) {
        quote.reason = Some(reason);
        json["reason"] = word.into();
        is_on_the_wire(&quote, &json);
    }
    quote.limit_in_order_currency = Some(amount("6.43"));
    json["limit_in_order_currency"] = "6.43".into();
    is_on_the_wire(&quote, &json);
}

#[test]
fn a_donation_is_on_the_wire_with_every_suggestion() {
    let (store, store_json) = store();
    let view = DonationView {
        environment: Environment::Test,
        store,
        title: "A coffee".into(),
        currency: "USD".into(),
        min: amount("2.00"),
        max: amount("500.00"),
        suggested: vec![amount("3.00"), amount("10.00")],
    };
    let mut json = json!({
        "environment": "test",
        "store": store_json,
        "title": "A coffee",
        "currency": "USD",
        "min": "2.00",
        "max": "500.00",
        "suggested": ["3.00", "10.00"],
    });
    is_on_the_wire(&view, &json);
    json["suggested"] = json!(["3.00", "much"]);
    assert!(
        read::<DonationView>(&json)
            .unwrap_err()
            .contains("\"much\" is not an amount")
    );
}

#[test]
fn a_receipt_is_on_the_wire_with_what_is_known() {
    let receipt = Receipt {
        iss: "https://pay.shop.example".into(),
        environment: Environment::Production,
        store: "demo".into(),
        store_name: "Demo shop".into(),
        order_id: "ord_00112233445566778899aabbccddeeff".into(),
        reference: "cart-1234".into(),
        title: "Two mugs".into(),
        amount: "42.00".into(),
        currency: "USD".into(),
        paid_at: "2026-11-21T12:00:00Z".into(),
        crypto_code: None,
        asset: None,
        network: None,
        received_in_crypto: "0.00042".into(),
        address: Some("bc1q".into()),
        transaction_hash: None,
    };
    let signed = SignedReceipt {
        receipt,
        token: None,
        code: Some("B9D5M".into()),
    };
    let json = json!({
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
    });
    is_on_the_wire(&signed, &json);
}
