//! Orders opened by a declared donation, whose amount the customer chooses within bounds.

use reqwest::Method;
use serde_json::{Value, json};
use support::{Customer, World, pay_in_full};

use crate::helpers::event_types;

fn coffee(amount: &Value) -> Value {
    json!({ "store": "demo", "donation": "coffee", "amount": amount })
}

#[tokio::test]
async fn a_donation_is_paid_and_reported_only_as_a_donation() {
    let world = World::start().await;
    let opened = world
        .customer()
        .request_order(&coffee(&json!("35.5")))
        .await
        .with(201);
    assert_eq!(opened.text_at("/order/amount"), "35.50");
    assert_eq!(opened.text_at("/order/title"), "A coffee for the shop");
    let checkout = world.customer().checkout_of(&opened);
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    let events = world.store().events_of(&checkout.order).await;
    let kinds = event_types(&events);
    assert_eq!(kinds.first(), Some(&"donation.created"));
    assert_eq!(kinds.last(), Some(&"donation.paid"));
    assert!(
        kinds.iter().all(|kind| kind.starts_with("donation.")),
        "{kinds:?}"
    );
    assert_eq!(world.webhooks.event_types(&checkout.order), kinds);
    let deliveries = world.store().get("/v1/deliveries").await.with(200);
    let first = deliveries.text_at("/deliveries/0/type");
    assert_eq!(first, "donation.paid");
    for event in &events {
        assert_eq!(event["data"]["order"]["price_source"], "customer");
        assert_eq!(
            event["data"]["order"]["metadata"],
            json!({ "donation": "coffee" })
        );
    }
    // The shop ships on `order.paid`, which is never sent for a donation.
    let known = world.shop_orders().await;
    assert!(
        known.iter().all(|order| order["paid_by"].is_null()),
        "{known:?}"
    );
    world.end().await;
}

#[tokio::test]
async fn a_page_of_the_store_reads_the_bounds_of_a_donation() {
    let world = World::start().await;
    let request = async |customer: &Customer, query: &str| {
        let path = format!("/v1/checkout/donation?{query}");
        customer.send(Method::GET, &path, None, None).await
    };
    let customer = world.customer();
    let shown = request(&customer, "store=demo&donation=coffee")
        .await
        .with(200);
    assert_eq!(
        shown.body,
        json!({
            "environment": "test",
            "store": {
                "id": "demo", "name": "Quiet Goods", "theme": "auto",
                "support_url": "mailto:help@quiet-goods.example",
            },
            "title": "A coffee for the shop", "currency": "USD",
            "min": "2.00", "max": "500.00", "suggested": ["3.00", "5.00", "10.00"],
        })
    );
    for (query, status, code) in [
        ("store=demo&donation=tea", 404, "unknown_donation"),
        ("store=unknown&donation=coffee", 404, "unknown_store"),
        ("store=demo", 400, "invalid_request"),
        (
            "store=demo&donation=coffee&amount=1",
            400,
            "invalid_request",
        ),
    ] {
        request(&customer, query).await.refused(status, code);
    }
    let stranger = customer.from_page_of("https://evil.example");
    let refused = request(&stranger, "store=demo&donation=coffee").await;
    refused.refused(403, "origin_not_allowed");
    world.end().await;
}

#[tokio::test]
async fn an_amount_outside_the_bounds_is_rejected_with_the_bounds() {
    let world = World::start().await;
    for amount in ["1.99", "500.01", "0", "999999999999", "3.005", "3.0001"] {
        let response = world
            .customer()
            .request_order(&coffee(&json!(amount)))
            .await;
        let response = response
            .refused(422, "donation_out_of_range")
            .naming("amount");
        let message = response.text_at("/error/message");
        assert!(message.contains("2.00 to 500.00 USD"), "{message}");
    }
    for amount in [
        json!(3),
        json!(3.5),
        json!("3e0"),
        json!("-3"),
        json!("03"),
        json!("3,50"),
        json!("NaN"),
        json!(""),
        Value::Null,
    ] {
        let response = world.customer().request_order(&coffee(&amount)).await;
        response.refused(400, "invalid_request");
    }
    for amount in ["2", "500", "2.00"] {
        world
            .customer()
            .request_order(&coffee(&json!(amount)))
            .await
            .with(201);
    }
    world.end().await;
}

#[tokio::test]
async fn an_undeclared_donation_is_rejected() {
    let world = World::start().await;
    for (store, donation, code) in [
        ("demo", "yacht", "unknown_donation"),
        ("demo", "ebook", "unknown_donation"),
        ("unknown", "coffee", "unknown_store"),
    ] {
        let request = json!({ "store": store, "donation": donation, "amount": "3" });
        world
            .customer()
            .request_order(&request)
            .await
            .refused(404, code);
    }
    let product = json!({ "store": "demo", "product": "coffee" });
    world
        .customer()
        .request_order(&product)
        .await
        .refused(404, "unknown_product");
    world.end().await;
}
