//! Quotes, the choice of an asset, and payments from the customer's page to the store's backend: exact and reverted ones; the
//! transaction that a wallet names; and receipts. The simulation has invoices that must not be shown, and checks every view.
//!
//! How an observation is assessed and what follows from it is in `crates/orders` and in the contract of `crates/storage`.
//! The simulation compares each link with the amount due.

use std::time::Duration;

use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use support::{Checkout, World, eventually, pause, pay_in_full};

use crate::helpers::{Stream, delivered_events};
use crate::operators_pages::assert_time_line;

const MINUTE: Duration = Duration::from_mins(1);
/// A settled attempt is polled after ten minutes, then at doubling intervals.
const FIRST_LOOK: Duration = Duration::from_mins(11);

#[tokio::test]
async fn a_product_is_paid_and_the_shop_accepts_the_signed_webhook() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let early = checkout.post("/paid", &json!({})).await;
    early.refused(409, "nothing_to_pay");
    let view = checkout.choose("BTC").await;
    let price = (&view["amount"], &view["currency"]);
    assert_eq!(price, (&json!("19.90"), &json!("USD")));
    assert_eq!(checkout.report_paid().await["status"], "checking");

    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    let view = checkout.wait_for("processing").await;
    let confirmations = json!({ "count": 1, "required": 3 });
    assert_eq!(view["attempt"]["confirmations"], confirmations);
    assert_eq!(view["can_open_attempt"], false);
    checkout.get("/quotes").await.refused(409, "order_closed");

    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_crypto"], "0.00000000");
    world.wait_until_paid_in_shop(&checkout.order).await;
    let mut events = delivered_events(&world, &checkout.order).await;
    // A poll between the payment and its first block is not guaranteed.
    events.retain(|kind| kind != "order.payment_seen");
    assert_eq!(
        events,
        [
            "order.created",
            "order.attempt_opened",
            "order.processing",
            "order.paid"
        ]
    );
    let cancel = format!("/v1/orders/{}/cancel", checkout.order);
    let refused = world.store().post(&cancel, &json!({})).await;
    refused.refused(409, "order_closed");
    let record = world.store().order(&checkout.order).await;
    assert_eq!(record["status"], "paid");
    assert!(record["settled_at"].is_string(), "{record}");
    let attempt = &record["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    let entries = [
        "Credited</strong> <span>$19.90",
        "/3 confirmations",
        "Payment seen",
        "Address shown",
        "Order opened",
    ];
    assert_time_line(&world, &checkout.order, &entries).await;
    world.end().await;
}

/// Ten thousand open pages of paid orders end their streams and requests.
#[tokio::test]
async fn a_paid_order_is_updated_for_an_hour() {
    let world = World::start().await;
    let checkout = world.customer().open_with("ebook", "BTC").await;
    pay_in_full(&world, &checkout).await;
    let mut stream = Stream::open(&checkout).await;
    assert_eq!(stream.status("paid").await["next_poll_seconds"], 60);
    let tag = checkout.get("").await.with(200).headers[ETAG].clone();
    world.wait_for_deliveries().await;
    world.skip(59 * MINUTE);
    assert_eq!(checkout.view().await["next_poll_seconds"], 60);
    world.skip(MINUTE);
    // The last view announces that it is the last, also for a conditional request.
    let last = stream
        .until(|view| view["next_poll_seconds"].is_null())
        .await;
    assert!(last.is_some(), "the last view says so");
    assert_eq!(stream.until(|_| true).await, None);
    let after = checkout.get("").await.with(200);
    assert_ne!(after.headers[ETAG], tag);
    assert_eq!(after.body["next_poll_seconds"], Value::Null);
    world.end().await;
}

/// Each press of a button and each repetition would be a call to the gateway.
#[tokio::test]
async fn simultaneous_requests_of_a_page_send_one_confirmation() {
    let world = World::start().await;
    let email = json!({ "email": "buyer@shop.example" });
    let requests = [("/paid", json!({}), false), ("/email", email, true)];
    for (sent, (path, body, is_paid)) in requests.into_iter().enumerate() {
        let checkout = world.customer().open_with("ebook", "BTC").await;
        if is_paid {
            pay_in_full(&world, &checkout).await;
        }
        let requests = (0..20).map(|_| checkout.post(path, &body));
        for response in futures_util::future::join_all(requests).await {
            response.with(200);
        }
        let confirmations = async || world.sandbox().count("POST", "/confirm").await;
        eventually("POST /confirm is sent", async || {
            (confirmations().await > sent).then_some(())
        })
        .await;
        // Time for a second one, which must not be sent.
        pause(Duration::from_millis(500)).await;
        assert_eq!(confirmations().await, sent + 1, "{path}");
    }
    world.end().await;
}

async fn wait_for_reverted(world: &World, checkout: &Checkout, expected: &Value) {
    let what = format!("reverted is {expected} for {}", checkout.order);
    eventually(&what, async || {
        let order = world.store().order(&checkout.order).await;
        (order["reverted"]["payment_state"] == *expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_payment_lost_in_a_reorganisation_is_reported_once_and_stays_credited() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let checkout = world.customer().open_with("ebook", "BTC").await;
    pay_in_full(&world, &checkout).await;
    assert_eq!(checkout.view().await["reverted"], false);
    world.wait_for_deliveries().await;
    world.sandbox().reorg(9).await;
    world.skip(FIRST_LOOK);
    wait_for_reverted(&world, &checkout, &json!("detected")).await;
    let view = checkout.view().await;
    let shown = (&view["status"], &view["reverted"]);
    assert_eq!(shown, (&json!("paid"), &json!(true)));
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events[events.len() - 2..], ["order.paid", "order.reverted"]);
    checkout.get("/receipt").await.refused(409, "not_paid");

    // The payment's return ends it without an event.
    world.sandbox().mine(9).await;
    world.skip(4 * FIRST_LOOK);
    wait_for_reverted(&world, &checkout, &Value::Null).await;
    assert_eq!(checkout.view().await["reverted"], false);
    checkout.get("/receipt").await.with(200);
    assert_eq!(delivered_events(&world, &checkout.order).await, events);
    world.end().await;
}

/// A transaction that a customer's wallet names. That it credits nothing, and gives way to what the gateway has seen, is in
/// `crates/storage/src/contract/attempts.rs`; what the wallet is asked for is in `crates/address`.
#[tokio::test]
async fn a_hint_moves_the_page() {
    const HASH: &str = "0xA1B2c3d4e5f60718293a4b5c6d7e8f90A1B2c3d4e5f60718293a4b5c6d7e8f90";
    let world = World::start().await;
    let checkout = world.customer().open_with("ebook", "USDTERC20").await;
    let short = json!({ "transaction_hash": &HASH[..65] });
    let refused = checkout.post("/paid", &short).await;
    let refused = refused.refused(400, "invalid_request");
    refused.naming("transaction_hash");
    let paid = json!({ "transaction_hash": HASH });
    let view = checkout.post("/paid", &paid).await.with(200).body;
    assert_eq!(view["status"], "checking");
    assert_eq!(view["attempt"]["transaction_hint"], HASH.to_lowercase());
    assert_eq!(view["attempt"]["transaction_hash"], Value::Null);
    world.end().await;
}

async fn verified(world: &World, shown: &str) -> Value {
    let presented = json!({ "receipt": shown });
    let response = world.store().post("/v1/receipts/verify", &presented).await;
    response.with(200).body
}

#[tokio::test]
async fn a_paid_order_has_a_receipt_that_its_store_can_verify() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let path = format!("/v1/orders/{}/receipt", checkout.order);
    checkout.choose("BTC").await;
    checkout.get("/receipt").await.refused(409, "not_paid");
    world.store().get(&path).await.refused(409, "not_paid");
    pay_in_full(&world, &checkout).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    assert_eq!(world.store().get(&path).await.with(200).body, issued);

    let order = world.store().order(&checkout.order).await;
    let (receipt, attempt) = (&issued["receipt"], &order["attempt"]);
    for (stated, known) in [
        ("order_id", &order["id"]),
        ("reference", &order["reference"]),
        ("amount", &order["amount"]),
        ("currency", &order["currency"]),
        ("paid_at", &order["settled_at"]),
        ("address", &attempt["address"]),
        ("received_in_crypto", &attempt["received_in_crypto"]),
        ("transaction_hash", &attempt["transaction_hash"]),
    ] {
        assert!(known.is_string(), "{stated}");
        assert_eq!(&receipt[stated], known, "{stated}");
    }
    assert_eq!(receipt["environment"], "test");
    assert_eq!(receipt["store_name"], "Quiet Goods");
    for form in ["token", "code"] {
        let verified = verified(&world, issued[form].as_str().unwrap()).await;
        assert_eq!(verified, json!({ "valid": true, "order": order }), "{form}");
    }
    // Every change is in `proxy/src/receipts.rs`, and another store's receipt in `isolation.rs`.
    let code = issued["code"].as_str().unwrap();
    for forged in ["", "x", &code[1..]] {
        let verified = verified(&world, forged).await;
        assert_eq!(verified, json!({ "valid": false }), "{forged}");
    }
    world.end().await;
}

async fn wait_until_sent(world: &World, email: &str) {
    let what = format!("the gateway knows {email}");
    eventually(&what, async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == email).then_some(())
    })
    .await;
}

/// What is kept, replaced and removed is in `crates/storage/src/contract/orders.rs`.
#[tokio::test]
async fn an_address_is_stored_at_once_and_sent_with_the_payment() {
    let world = World::start().await;
    // A product that asks for it.
    let checkout = world.customer().open("guide").await;
    let send = async |path: &str, email: &str| {
        let email = json!({ "email": email });
        checkout.post(path, &email).await
    };
    checkout.choose("BTC").await;
    let view = checkout.view().await;
    let asks = (&view["email_kept"], &view["email_required"]);
    assert_eq!(asks, (&json!(false), &json!(true)));
    for path in ["/email", "/paid"] {
        let refused = send(path, "me").await;
        refused.refused(400, "invalid_request").naming("email");
    }
    let view = send("/email", "typo@example.org").await.with(200).body;
    assert_eq!(view.get("email_required"), None);
    let reloaded = checkout.get("").await.with(200);
    assert_eq!(reloaded.body["email_kept"], true);
    let is_shown = reloaded.text.contains("example.org");
    assert!(!is_shown, "a link can be shared");
    // Corrected, with the button "I've sent it".
    send("/paid", "last@example.org").await.with(200);
    wait_until_sent(&world, "last@example.org").await;
    pay_in_full(&world, &checkout).await;
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["receipt_email"], "last@example.org");
    // A link to the order does not allow sending the receipt elsewhere, not even by clearing the address first.
    for email in ["late@example.org", ""] {
        send("/email", email).await.refused(409, "order_closed");
    }
    world.end().await;
}

/// When money is owed is in `crates/orders/src/aggregate.rs`.
#[tokio::test]
async fn a_refund_address_is_checked_and_the_store_and_the_operator_read_it() {
    const MINE: &str = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    const ADDED: &str = "order.refund_address_added";
    let world = World::start().await;
    let checkout = world.customer().open_with("mug", "BTC").await;
    let name = async |address: &str| {
        let named = json!({ "address": address });
        checkout.post("/refund-address", &named).await
    };
    name(MINE).await.refused(409, "nothing_owed");
    let paid_to = checkout.address().await;
    world.sandbox().settle(&checkout, "double").await;
    let mut stream = Stream::open(&checkout).await;
    let view = stream.status("overpaid").await;
    assert_eq!(
        view["owed_in"],
        json!({ "asset": "BTC", "network": "Bitcoin" })
    );
    for wrong in ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", &paid_to] {
        let refused = name(wrong).await.refused(400, "invalid_request");
        refused.naming("address");
    }
    let view = name(MINE).await.with(200).body;
    assert_eq!(view["refund_address"], MINE);
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["refund_address"], MINE);
    world.wait_for_deliveries().await;
    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(events.last().unwrap(), ADDED);
    assert_time_line(&world, &checkout.order, &[ADDED, MINE]).await;
    world.end().await;
}

async fn invoices(world: &World) -> usize {
    world.sandbox().count("POST", "/invoice").await
}

#[tokio::test]
async fn the_same_asset_is_the_same_invoice_until_its_last_minute() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("ETH").await;
    let time_left = async || {
        let left = checkout.view().await["attempt"]["expires_in_seconds"].as_u64();
        left.unwrap()
    };
    // Some seconds to spare for the test itself.
    world.skip(Duration::from_secs(time_left().await - 75));
    let again = checkout.choose("ETH").await;
    assert_eq!(again["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(invoices(&world).await, 1);
    world.skip(Duration::from_secs(time_left().await - 59));
    let second = checkout.choose("ETH").await;
    assert_ne!(second["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(invoices(&world).await, 2);
    // One that the customer says to have paid is kept until it expires.
    checkout.report_paid().await;
    world.skip(Duration::from_secs(14 * 60 + 30));
    let kept = checkout.request_attempt("ETH").await.with(200).body;
    assert_eq!(kept["status"], "checking", "{kept}");
    assert_eq!(kept["attempt"]["address"], second["attempt"]["address"]);
    assert_eq!(invoices(&world).await, 2);
    world.end().await;
}

#[tokio::test]
async fn a_page_with_the_current_view_gets_304_without_a_body() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let tag = checkout.get("").await.with(200).headers[ETAG].clone();
    let conditional_get = async || {
        let url = format!("{}/v1/checkout", world.proxy_url());
        let request = world.http().get(url).bearer_auth(checkout.token());
        request.header(IF_NONE_MATCH, &tag).send().await.unwrap()
    };
    let same = conditional_get().await;
    assert_eq!(same.status(), 304);
    assert_eq!(same.headers()[ETAG], tag);
    assert_eq!(same.headers()["cache-control"], "no-store");
    assert_eq!(same.text().await.unwrap(), "");
    checkout.choose("BTC").await;
    let changed = conditional_get().await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()[ETAG], tag);
    world.end().await;
}
