//! The store API: orders, events, deliveries.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, Reply, World, eventually, pause, pay_in_full, secrets};

use crate::helpers::{event_types, sequences, skip_until};

fn lamp() -> Value {
    json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp" })
}

async fn open_order(world: &World, order: &Value) -> Checkout {
    let opened = world.store().open(order).await.with(201);
    world.customer().checkout_of(&opened)
}

#[tokio::test]
async fn an_order_of_the_stores_server_is_paid_and_reported() {
    let world = World::start().await;
    let opened = world.store().open(&lamp()).await.with(201);
    let token = opened.text_at("/client_token");
    let page = format!("{}/pay?store=demo#client_token={token}", world.proxy_url());
    assert_eq!(opened.text_at("/checkout_url"), page);
    assert_eq!(opened.text_at("/order/reference"), "lamp-1");
    assert_eq!(opened.text_at("/order/price_source"), "store_server");
    let checkout = world.customer().checkout_of(&opened);
    checkout.choose("USDTTRC20").await;
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    let paid = world.webhooks.accepted(&checkout.order).pop().unwrap();
    assert_eq!(paid.kind, "order.paid");
    assert_eq!(paid.body["data"]["order"]["reference"], "lamp-1");
    assert_eq!(paid.body["data"]["order"]["amount"], "42.00");
    world.wait_until_paid_in_shop(&checkout.order).await;
    world.end().await;
}

#[tokio::test]
async fn the_same_reference_returns_the_same_order_with_a_fresh_token() {
    let world = World::start().await;
    let first = world.store().open(&lamp()).await.with(201);
    let again = world.store().open(&lamp()).await.with(200);
    assert_eq!(first.text_at("/order/id"), again.text_at("/order/id"));
    let (old, new) = (
        first.text_at("/client_token"),
        again.text_at("/client_token"),
    );
    assert_ne!(old, new);
    for token in [old, new] {
        let checkout = world.customer().with_token(&token, "");
        assert_eq!(checkout.view().await["id"], first.body["order"]["id"]);
    }
    world.end().await;
}

#[tokio::test]
async fn the_same_reference_at_another_price_is_rejected_and_logged_as_an_error() {
    let world = World::start().await;
    world.expect_error("a reference came again at another price");
    world.store().open(&lamp()).await.with(201);
    for (field, other) in [("amount", "42.01"), ("currency", "EUR")] {
        let mut order = lamp();
        order[field] = json!(other);
        let response = world.store().open(&order).await;
        response.refused(409, "order_conflict");
    }
    let kept = world
        .store()
        .get("/v1/orders?reference=lamp-1")
        .await
        .with(200);
    assert_eq!(kept.text_at("/orders/0/amount"), "42.00");
    world.end().await;
}

#[tokio::test]
async fn a_reference_of_an_order_that_ended_is_named_and_calls_no_person() {
    let world = World::start().await;
    let first = world.store().open(&lamp()).await.with(201);
    assert_eq!(first.body.get("notice"), None);
    let cancel = format!("/v1/orders/{}/cancel", first.text_at("/order/id"));
    world.store().post(&cancel, &json!({})).await.with(200);
    let again = world.store().open(&lamp()).await.with(200);
    assert!(again.text_at("/notice").contains("use a new reference"));
    let mut order = lamp();
    order["amount"] = json!("42.01");
    let refused = world.store().open(&order).await;
    refused.refused(409, "order_conflict");
    order["reference"] = json!("lamp-1-2");
    world.store().open(&order).await.with(201);
    world.end().await;
}

#[tokio::test]
async fn an_invalid_order_is_rejected_by_its_field() {
    let world = World::start().await;
    for (field, value) in [
        ("amount", json!("0")),
        ("amount", json!("1.999")),
        ("reference", json!("")),
        ("return_url", json!("https://evil.example/")),
        ("cancel_url", json!("https://evil.example/")),
        ("expires_in_seconds", json!(1)),
        ("title", json!("x".repeat(121))),
        ("price", json!("1")),
    ] {
        let mut order = lamp();
        order[field] = value;
        let response = world.store().open(&order).await;
        response.refused(400, "invalid_request").naming(field);
    }
    world.end().await;
}

#[tokio::test]
async fn without_the_secret_key_every_request_is_rejected() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
    let order = format!("/v1/orders/{}", checkout.order);
    for (key, sentence) in [
        ("", "Send the store's `secret_key`"),
        (
            "wrong",
            "No store has this key. Send the store's `secret_key`",
        ),
        (secrets::WEBHOOK, "It looks like a webhook secret"),
        (secrets::TOKEN_KEY, "It looks like a token key"),
        ("tk_0123456789", "It looks like a token key"),
        (
            "sk_0123456789",
            "It looks like a secret key of another proxy",
        ),
        (checkout.token(), "It looks like a client token"),
        (
            "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
            "It looks like an order token",
        ),
    ] {
        let stranger = world.store().with_key(key);
        let refused = stranger.open(&lamp()).await.refused(401, "unauthorized");
        let message = refused.text_at("/error/message");
        assert!(message.contains(sentence), "{key}: {message}");
        for path in [
            &order,
            "/v1/orders",
            "/v1/events",
            "/v1/deliveries?event=evt_1",
        ] {
            stranger.get(path).await.refused(401, "unauthorized");
        }
        let cancel = stranger.post(&format!("{order}/cancel"), &json!({})).await;
        cancel.refused(401, "unauthorized");
    }
    world.end().await;
}

#[tokio::test]
async fn an_order_of_another_store_is_not_found() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
    world.wait_for_deliveries().await;
    let event = world.webhooks.accepted(&checkout.order).remove(0).id;
    let other = world.other_store();
    let order = format!("/v1/orders/{}", checkout.order);
    let found = other.get(&order).await.refused(404, "not_found");
    let absent = other
        .get("/v1/orders/ord_00000000000000000000000000000000")
        .await;
    assert_eq!(found.without_request_id(), absent.without_request_id());
    let cancel = other.post(&format!("{order}/cancel"), &json!({})).await;
    cancel.refused(404, "not_found");
    let tries = other.get(&format!("/v1/deliveries?event={event}")).await;
    tries.refused(404, "not_found");
    let again = other
        .post(&format!("/v1/events/{event}/redeliver"), &json!({}))
        .await;
    again.refused(404, "not_found");
    assert_eq!(
        other.get("/v1/orders").await.with(200).body["orders"],
        json!([])
    );
    assert_eq!(
        other.get("/v1/events").await.with(200).body["events"],
        json!([])
    );
    world.end().await;
}

#[tokio::test]
async fn orders_are_listed_newest_first_page_by_page() {
    let world = World::start().await;
    let mut opened = Vec::new();
    for number in 0..5 {
        let mut order = lamp();
        order["reference"] = json!(format!("lamp-{number}"));
        opened.push(open_order(&world, &order).await.order);
    }
    opened.reverse();
    let (mut listed, mut path) = (Vec::new(), "/v1/orders?limit=2".to_owned());
    loop {
        let page = world.store().get(&path).await.with(200).body;
        let orders = page["orders"].as_array().unwrap();
        assert!(orders.len() <= 2);
        listed.extend(
            orders
                .iter()
                .map(|order| order["id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/orders?limit=2&after={next}");
    }
    assert_eq!(listed, opened);
    let response = world.store().get("/v1/orders?limit=101").await;
    response.refused(400, "invalid_request").naming("limit");
    let response = world.store().get("/v1/orders?status=happy").await;
    response.refused(400, "invalid_request").naming("status");
    world.end().await;
}

#[tokio::test]
async fn events_are_read_in_order_after_a_position() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    let all = world.store().events_of(&checkout.order).await;
    let numbers: Vec<u64> = (1..).take(all.len()).collect();
    assert_eq!(sequences(&all), numbers);
    let (mut pulled, mut path) = (Vec::new(), "/v1/events?limit=1".to_owned());
    loop {
        let page = world.store().get(&path).await.with(200).body;
        pulled.extend(page["events"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/events?limit=1&after={next}");
    }
    assert_eq!(pulled, all);
    world.end().await;
}

#[tokio::test]
async fn an_event_is_redelivered_on_request() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
    world.wait_for_deliveries().await;
    let created = world.webhooks.accepted(&checkout.order).remove(0);
    let path = format!("/v1/events/{}/redeliver", created.id);
    world.store().post(&path, &json!({})).await.with(202);
    let twice = eventually("the event is delivered again", async || {
        Some(world.webhooks.accepted(&checkout.order)).filter(|taken| taken.len() == 2)
    })
    .await;
    assert_eq!(
        (&twice[0].id, &twice[0].body),
        (&twice[1].id, &twice[1].body)
    );
    let path = format!("/v1/deliveries?event={}", created.id);
    let tries = eventually("both deliveries are listed", async || {
        let tries = world.store().get(&path).await.with(200).body;
        Some(tries["deliveries"].as_array()?.clone()).filter(|tries| tries.len() == 2)
    })
    .await;
    for one in tries {
        assert_eq!(one["http_status"], 204, "{one}");
    }
    world.end().await;
}

#[tokio::test]
async fn only_an_unpaid_order_is_cancelled() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
    checkout.choose("BTC").await;
    let cancel = format!("/v1/orders/{}/cancel", checkout.order);
    let cancelled = world.store().post(&cancel, &json!({})).await.with(200);
    assert_eq!(cancelled.text_at("/status"), "cancelled");
    assert_eq!(checkout.view().await["status"], "cancelled");
    checkout.get("/quotes").await.refused(409, "order_closed");

    let paid = world.customer().open("ebook").await;
    paid.choose("BTC").await;
    pay_in_full(&world, &paid).await;
    let cancel = format!("/v1/orders/{}/cancel", paid.order);
    let refused = world.store().post(&cancel, &json!({})).await;
    refused.refused(409, "order_closed");
    paid.wait_for("paid").await;
    world.end().await;
}

#[tokio::test]
async fn an_order_offers_only_the_assets_of_its_request() {
    let world = World::start().await;
    let mut order = lamp();
    order["assets"] = json!(["LTC", "ETH"]);
    let checkout = open_order(&world, &order).await;
    let quotes = checkout.quotes().await;
    let codes: Vec<_> = quotes
        .iter()
        .map(|quote| quote["crypto_code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["ETH", "LTC"]);
    let id = quotes[0]["quote_id"].clone();
    let choice = json!({ "crypto_code": "BTC", "quote_id": id });
    let response = checkout.post("/attempt", &choice).await;
    response.refused(422, "asset_unavailable");
    world.end().await;
}

#[tokio::test]
async fn a_410_stops_deliveries_until_the_endpoint_is_enabled() {
    let world = World::start().await;
    world.expect_error("a store's endpoint says that it is gone");
    world.webhooks.reply_with(Reply::Status(410));
    let first = open_order(&world, &lamp()).await;
    let store = world.store();
    eventually("the endpoint is disabled", async || {
        let webhook = store.get("/v1/webhook").await.with(200).body;
        (webhook["state"] == "disabled").then_some(())
    })
    .await;
    world.webhooks.reply_with(Reply::Accept);
    let mut second = lamp();
    second["reference"] = json!("lamp-2");
    let second = open_order(&world, &second).await;
    world.skip(Duration::from_hours(80));
    // Time for a delivery that must not be sent.
    pause(Duration::from_millis(200)).await;
    assert_eq!(world.webhooks.deliveries().len(), 1);
    // Nothing is lost meanwhile: the store reads the event log, and receives everything after enabling the endpoint.
    let events = store.events_of(&first.order).await;
    assert_eq!(event_types(&events)[0], "order.created");
    let enabled = store.post("/v1/webhook/enable", &json!({})).await;
    let enabled = enabled.with(200).body;
    assert_eq!(enabled["state"], "enabled");
    assert!(enabled["events_waiting"].as_u64() > Some(0), "{enabled}");
    world.wait_for_deliveries().await;
    for order in [&first.order, &second.order] {
        assert_eq!(world.webhooks.event_types(order)[0], "order.created");
    }
    let webhook = store.get("/v1/webhook").await.with(200).body;
    assert_eq!(webhook, json!({ "state": "enabled", "events_waiting": 0 }));
    let other = world.other_store().get("/v1/webhook").await.with(200).body;
    assert_eq!(other["state"], "none");
    world.end().await;
}

#[tokio::test]
async fn deliveries_are_listed_with_the_stores_responses() {
    let world = World::start().await;
    world.webhooks.reply_with(Reply::Status(503));
    let checkout = open_order(&world, &lamp()).await;
    skip_until(&world, Duration::from_secs(4), "a second delivery", || {
        world.webhooks.deliveries().len() >= 2
    })
    .await;
    world.webhooks.reply_with(Reply::Accept);
    skip_until(&world, Duration::from_mins(4), "it is accepted", || {
        !world.webhooks.accepted(&checkout.order).is_empty()
    })
    .await;
    world.wait_for_deliveries().await;
    let store = world.store();
    let mut tries = Vec::new();
    let mut path = "/v1/deliveries?limit=1".to_owned();
    loop {
        let page = store.get(&path).await.with(200).body;
        tries.extend(page["deliveries"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/deliveries?limit=1&after={next}");
    }
    let all = store.get("/v1/deliveries").await.with(200).body;
    assert_eq!(all["deliveries"], json!(tries));
    let first = tries.last().unwrap();
    assert_eq!(first["type"], "order.created");
    assert_eq!(first["http_status"], 503);
    assert_eq!(first["note"], "answered 503: not today");
    assert_eq!(tries[0]["http_status"], 204);
    assert_eq!(tries[0]["note"], "answered 204");
    for refused in ["?since=1", "?after=dlv_1", "?limit=0", "?event=order.paid"] {
        let response = store.get(&format!("/v1/deliveries{refused}")).await;
        response.refused(400, "invalid_request");
    }
    let unknown = format!("?after={}9", tries[0]["id"].as_str().unwrap());
    let response = store.get(&format!("/v1/deliveries{unknown}")).await;
    response.refused(404, "not_found");
    world.end().await;
}

#[tokio::test]
async fn the_gateways_rejection_of_a_hosted_order_is_passed_on() {
    let world = World::start().await;
    let mut order = lamp();
    order["flow"] = "hosted".into();
    let response = world.store().open(&order).await;
    response
        .refused(400, "invalid_request")
        .naming("customer_email");
    order["customer_email"] = "ann@buyer.example".into();
    // The Angolan kwanza, which the sandbox's hosted page does not support.
    order["currency"] = "AOA".into();
    let response = world.store().open(&order).await;
    let response = response.refused(422, "gateway_refused");
    assert_eq!(response.body["error"]["gateway"]["status"], 400);
    let message = response.text_at("/error/gateway/message");
    assert!(message.contains("AOA"), "{message}");
    world.end().await;
}
