//! Receipts: shown to the customer, verified by the store.

use serde_json::{Value, json};
use support::{Checkout, World, pay_in_full};

async fn paid_order(world: &World) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(world, &checkout).await;
    checkout
}

/// Verifies a shown receipt as its store.
async fn verified(world: &World, shown: &str) -> Value {
    let presented = json!({ "receipt": shown });
    let response = world.store().post("/v1/receipts/verify", &presented).await;
    response.with(200).body
}

#[tokio::test]
async fn a_paid_order_has_a_receipt_that_its_store_can_verify() {
    let world = World::start().await;
    let checkout = paid_order(&world).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    let path = format!("/v1/orders/{}/receipt", checkout.order);
    assert_eq!(world.store().get(&path).await.with(200).body, issued);

    let order = world.store().order(&checkout.order).await;
    let receipt = &issued["receipt"];
    for (stated, known) in [
        ("order_id", &order["id"]),
        ("reference", &order["reference"]),
        ("amount", &order["amount"]),
        ("currency", &order["currency"]),
        ("paid_at", &order["settled_at"]),
        ("address", &order["attempt"]["address"]),
        (
            "received_in_crypto",
            &order["attempt"]["received_in_crypto"],
        ),
        ("transaction_hash", &order["attempt"]["transaction_hash"]),
    ] {
        assert!(known.is_string(), "{stated}");
        assert_eq!(&receipt[stated], known, "{stated}");
    }
    assert_eq!(receipt["environment"], "test");
    assert_eq!(receipt["store_name"], "Quiet Goods");

    for shown in ["token", "code"] {
        let shown = issued[shown].as_str().unwrap();
        let verified_receipt = verified(&world, shown).await;
        assert_eq!(
            verified_receipt,
            json!({ "valid": true, "order": order }),
            "{shown}"
        );
    }
    world.end().await;
}

#[tokio::test]
async fn a_changed_receipt_or_one_of_another_store_is_invalid() {
    let world = World::start().await;
    let (one, other) = (paid_order(&world).await, paid_order(&world).await);
    let one = one.get("/receipt").await.with(200).body;
    let other = other.get("/receipt").await.with(200).body;
    let (token, code) = (
        one["token"].as_str().unwrap(),
        one["code"].as_str().unwrap(),
    );
    // The proof of one receipt with the data of another.
    let (head, signature) = (token.split('.').next().unwrap(), token.rsplit('.').next());
    let facts = other["token"].as_str().unwrap().split('.').nth(1).unwrap();
    let mixed_token = format!("{head}.{facts}.{}", signature.unwrap());
    let mixed_code = [&other["code"].as_str().unwrap()[..24], &code[24..]].concat();
    let untouched = verified(&world, code).await;
    assert_eq!(untouched["valid"], true);
    for forged in [mixed_token.as_str(), &mixed_code, "", "x", &code[1..]] {
        let verified_receipt = verified(&world, forged).await;
        assert_eq!(verified_receipt, json!({ "valid": false }), "{forged}");
    }
    for shown in [token, code] {
        let presented = json!({ "receipt": shown });
        let other_store = world.other_store();
        let response = other_store.post("/v1/receipts/verify", &presented).await;
        assert_eq!(response.with(200).body, json!({ "valid": false }));
    }
    world.end().await;
}

#[tokio::test]
async fn an_order_that_is_not_paid_has_no_receipt() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.get("/receipt").await.refused(409, "not_paid");
    checkout.choose("BTC").await;
    checkout.get("/receipt").await.refused(409, "not_paid");
    let path = format!("/v1/orders/{}/receipt", checkout.order);
    world.store().get(&path).await.refused(409, "not_paid");
    let foreign = world.other_store().get(&path).await;
    foreign.refused(404, "not_found");
    world.end().await;
}

#[tokio::test]
async fn a_product_asks_for_an_address_and_the_store_delivers_to_it() {
    let world = World::start().await;
    let checkout = world.customer().open("guide").await;
    checkout.choose("BTC").await;
    assert_eq!(checkout.view().await["email_required"], true);
    let email = json!({ "email": "ada@example.org" });
    let view = checkout.post("/email", &email).await.with(200).body;
    assert_eq!(view.get("email_required"), None);
    pay_in_full(&world, &checkout).await;
    let events = world.store().events_of(&checkout.order).await;
    let paid = events.iter().find(|event| event["type"] == "order.paid");
    let order = &paid.unwrap()["data"]["order"];
    assert_eq!(order["receipt_email"], "ada@example.org");
    world.end().await;
}

#[tokio::test]
async fn an_address_that_is_named_after_the_payment_is_an_event() {
    let world = World::start().await;
    let checkout = paid_order(&world).await;
    for _ in 0..2 {
        let email = json!({ "email": "ada@example.org" });
        checkout.post("/email", &email).await.with(200);
    }
    let events = world.store().events_of(&checkout.order).await;
    let kinds: Vec<_> = events.iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(
        kinds[kinds.len() - 2..],
        ["order.paid", "order.email_added"]
    );
    let order = &events.last().unwrap()["data"]["order"];
    assert_eq!(order["receipt_email"], "ada@example.org");
    world.end().await;
}
