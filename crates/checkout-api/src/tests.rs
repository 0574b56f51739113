//! Both directions of the contract against each other; run with the feature `server`.
#![cfg(feature = "server")]

mod gallery;

use money::AmountText;
use serde_json::Value;

use super::*;

impl Fields for Value {
    fn text(&self, key: &'static str) -> Option<String> {
        self.get(key)?.as_str().map(str::to_owned)
    }
    fn number(&self, key: &'static str) -> Option<u32> {
        self.get(key)?.as_u64()?.try_into().ok()
    }
    fn flag(&self, key: &'static str) -> Option<bool> {
        self.get(key)?.as_bool()
    }
    fn object(&self, key: &'static str) -> Option<Self> {
        self.get(key).filter(|value| value.is_object()).cloned()
    }
    fn texts(&self, key: &'static str) -> Option<Vec<String>> {
        self.get(key)?
            .as_array()?
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect()
    }
}

fn amount(text: &str) -> AmountText {
    AmountText::parse(text).unwrap()
}

fn order(attempt: Option<AttemptView>) -> OrderView {
    OrderView {
        id: "ord_00112233445566778899aabbccddeeff".into(),
        version: 7,
        environment: Environment::Test,
        store: StoreView {
            id: "demo".into(),
            name: "Demo \"shop\" <b>".into(),
            support_url: Some("mailto:help@shop.example".into()),
            theme: "paper".into(),
            theme_tokens: ThemeTokens(vec![("accent", "#0b6e52".into()), ("radius", "0px".into())]),
        },
        title: "An e-book".into(),
        amount: amount("19.90"),
        currency: "USD".into(),
        status: Status::AwaitingPayment,
        flow: Flow::Custom,
        payment_process_url: None,
        reverted: false,
        late_payment: None,
        attempt,
        return_url: None,
        can_open_attempt: true,
        delayed: false,
        next_poll_seconds: Some(3),
        checked_seconds_ago: None,
        as_of: "2026-11-21T09:00:00Z".into(),
    }
}

fn attempt() -> AttemptView {
    AttemptView {
        crypto_code: "BTC".into(),
        asset: "BTC".into(),
        network: "Bitcoin".into(),
        address: "tb1q".into(),
        qr_string: "bitcoin:tb1q?amount=0.00030973".into(),
        amount_in_crypto: amount("0.00030973"),
        amount_in_usd: amount("19.90"),
        amount_in_local_currency: amount("19.90"),
        local_currency_code: "USD".into(),
        expires_in_seconds: 899,
        lifetime_seconds: 900,
        warnings: vec!["Send only BTC.".into()],
        marked_as_paid: false,
        received_in_crypto: amount("0"),
        remaining_in_crypto: amount("0.00030973"),
        excess_in_crypto: None,
        confirmations: Some(Confirmations {
            count: 1,
            required: 3,
        }),
        transaction_hash: None,
        explorer_url: None,
    }
}

#[test]
fn the_browser_reads_what_the_proxy_writes() {
    for view in [order(None), order(Some(attempt()))] {
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(OrderView::read(&json), Ok(view.clone()));
        let opened = Opened {
            client_token: "t".into(),
            order: view,
        };
        assert_eq!(
            Opened::read(&serde_json::to_value(&opened).unwrap()),
            Ok(opened)
        );
    }
}

#[test]
fn what_came_late_survives_the_wire_by_its_word() {
    let mut view = order(None);
    for (kind, word) in LatePayment::ALL {
        view.late_payment = Some(kind);
        let mut json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["late_payment"], word);
        assert_eq!(OrderView::read(&json), Ok(view.clone()));
        json["late_payment"] = "third".into();
        assert_eq!(OrderView::read(&json), Err(Unreadable("late_payment")));
    }
}

#[test]
fn a_quote_survives_the_wire_with_and_without_a_price() {
    let mut quote = Quote {
        crypto_code: "USDTTRC20".into(),
        asset: "USDT".into(),
        asset_name: "Tether".into(),
        network: "Tron".into(),
        amount_in_crypto: Some(amount("19.900000")),
        amount_in_usd: Some(amount("19.90")),
        min: Some(amount("10")),
        max: None,
        available: true,
        reason: None,
        quote_id: "c1".into(),
        valid_for_seconds: 60,
    };
    assert_eq!(
        Quote::read(&serde_json::to_value(&quote).unwrap()),
        Ok(quote.clone())
    );
    quote.available = false;
    quote.amount_in_crypto = None;
    for (reason, word) in Unavailable::ALL {
        quote.reason = Some(reason);
        let json = serde_json::to_value(&quote).unwrap();
        assert_eq!(json["reason"], word);
        assert_eq!(Quote::read(&json), Ok(quote.clone()));
    }
}

#[test]
fn a_donation_survives_the_wire_with_every_suggestion() {
    let mut view = DonationView {
        environment: Environment::Test,
        store: order(None).store,
        title: "A coffee".into(),
        currency: "USD".into(),
        min: amount("2.00"),
        max: amount("500.00"),
        suggested: vec![amount("3.00"), amount("10.00")],
    };
    let json = serde_json::to_value(&view).unwrap();
    assert_eq!(DonationView::read(&json), Ok(view.clone()));
    view.suggested.clear();
    let mut json = serde_json::to_value(&view).unwrap();
    assert_eq!(DonationView::read(&json), Ok(view));
    json["suggested"] = serde_json::json!(["3.00", "much"]);
    assert_eq!(DonationView::read(&json), Err(Unreadable("suggested")));
}

#[test]
fn the_proxy_reads_what_the_browser_writes() {
    for door in [
        Door::Product {
            store: "demo\"\n\\\u{1f}".into(),
            product: "é\u{202e}<".into(),
            quantity: Some(2),
        },
        Door::Donation {
            store: "demo".into(),
            donation: "coffee".into(),
            amount: amount("3.50"),
        },
        Door::OrderToken {
            order_token: "e30.e30.e30".into(),
        },
    ] {
        assert_eq!(serde_json::from_str::<Door>(&door.to_json()).unwrap(), door);
    }
    let open = OpenAttempt {
        crypto_code: "BTC".into(),
        quote_id: "c1".into(),
    };
    assert_eq!(
        serde_json::from_str::<OpenAttempt>(&open.to_json()).unwrap(),
        open
    );
    for paid in [
        MarkPaid { email: None },
        MarkPaid {
            email: Some("a@b.example".into()),
        },
    ] {
        assert_eq!(
            serde_json::from_str::<MarkPaid>(&paid.to_json()).unwrap(),
            paid
        );
    }
}

#[track_caller]
fn refused_door(json: &str) -> String {
    serde_json::from_str::<Door>(json).unwrap_err().to_string()
}

#[test]
fn a_door_takes_no_price_but_a_donations() {
    for json in [
        r#"{"store":"demo","product":"ebook","amount":"0.01"}"#,
        r#"{"order_token":"e30.e30.e30","amount":"0.01"}"#,
    ] {
        assert!(refused_door(json).starts_with("unknown field `amount`"));
    }
    let number = r#"{"store":"demo","donation":"coffee","amount":3}"#;
    assert!(refused_door(number).contains("invalid type: integer"));
}

#[test]
fn an_order_is_opened_by_exactly_one_door() {
    for json in [
        "{}",
        r#"{"store":"demo"}"#,
        r#"{"store":"demo","product":"ebook","donation":"coffee"}"#,
        r#"{"store":"demo","product":"ebook","order_token":"e30.e30.e30"}"#,
    ] {
        assert!(
            refused_door(json).starts_with("name exactly one door"),
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
        assert!(refused_door(json).starts_with(member), "{json}");
    }
}

#[test]
fn a_missing_member_is_named() {
    let mut json = serde_json::to_value(order(Some(attempt()))).unwrap();
    json["attempt"]["address"] = Value::Null;
    assert_eq!(OrderView::read(&json), Err(Unreadable("address")));
    json["status"] = "delighted".into();
    assert_eq!(OrderView::read(&json), Err(Unreadable("status")));
}

#[test]
fn what_is_no_amount_is_named() {
    let whole = serde_json::to_value(order(Some(attempt()))).unwrap();
    for (of_attempt, member) in [
        (false, "amount"),
        (true, "remaining_in_crypto"),
        (true, "excess_in_crypto"),
    ] {
        let mut json = whole.clone();
        let place = if of_attempt {
            &mut json["attempt"]
        } else {
            &mut json
        };
        place[member] = "19,90".into();
        assert_eq!(OrderView::read(&json), Err(Unreadable(member)));
    }
}

#[test]
fn of_several_members_the_first_is_named() {
    let mut json = serde_json::to_value(attempt()).unwrap();
    json["warnings"] = Value::Null;
    json["network"] = Value::Null;
    assert_eq!(AttemptView::read(&json), Err(Unreadable("network")));
}

#[test]
fn every_status_is_written_as_its_word() {
    for (status, word) in Status::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), word);
        assert_eq!(status.as_str(), word);
    }
}

#[test]
fn a_refusal_is_read_with_its_code() {
    for code in ErrorCode::ALL {
        let json = serde_json::json!({"error": {"code": code.as_str(), "message": "m", "request_id": "r"}});
        let body = ErrorBody::read(&json).unwrap();
        assert_eq!(
            (body.code, body.request_id.as_deref()),
            (Some(*code), Some("r"))
        );
    }
    let json = serde_json::json!({"error": {"code": "later", "message": "m"}});
    assert_eq!(ErrorBody::read(&json).unwrap().code, None);
}
