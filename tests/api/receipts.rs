//! Receipts: shown to the customer, verified by the store, and sent to the address that the customer names.

use serde_json::{Value, json};
use support::{World, eventually, pay_in_full};

/// Verifies a shown receipt as its store.
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
    // Every change is in `proxy/src/receipts.rs`, and another store's receipt in `store_isolation.rs`.
    let code = issued["code"].as_str().unwrap();
    for forged in ["", "x", &code[1..]] {
        let verified = verified(&world, forged).await;
        assert_eq!(verified, json!({ "valid": false }), "{forged}");
    }
    world.end().await;
}

/// Waits until the gateway has this address for the order's receipt.
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
    // Corrected, with the button "I have paid".
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
