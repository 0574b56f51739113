//! The store API and the webhooks: its key, its pages of orders, events and deliveries, and an endpoint that is down or rejects
//! events; and money that is owed or was taken: refunds and settlements, also on the operator's page and from a terminal.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, Reply, World, eventually, secrets};

use crate::helpers::{delivered_events, lamp, skip_until};
use crate::idempotency::is_replayed;
use crate::operators::ada_runs;
use crate::operators_pages::{ada, hidden};

async fn open_order(world: &World, order: &Value) -> Checkout {
    let opened = world.store().open(order).await.with(201);
    world.customer().checkout_of(&opened)
}

/// Schemathesis sends every request without a key, and with a wrong one.
#[tokio::test]
async fn a_request_with_another_key_is_refused_with_a_hint() {
    let world = World::start().await;
    let checkout = open_order(&world, &lamp()).await;
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
    }
    world.end().await;
}

/// Returns a list from its pages of `limit` members.
async fn pages(world: &World, list: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/{list}?limit={limit}{after}");
        let page = world.store().get(&path).await.with(200).body;
        let members = page[list].as_array().unwrap();
        assert!(members.len() <= limit);
        all.extend(members.iter().cloned());
        let Some(next) = page["next"].as_str() else {
            return all;
        };
        after = format!("&after={next}");
    }
}

#[tokio::test]
async fn lists_are_read_page_by_page_and_the_endpoints_state_is_read_and_set() {
    let world = World::start().await;
    let mut opened = Vec::new();
    for number in 0..3 {
        let mut order = lamp();
        order["reference"] = json!(format!("lamp-{number}"));
        opened.push(open_order(&world, &order).await);
    }
    world.wait_for_deliveries().await;
    // The newest order is the first, and the oldest event.
    let orders = pages(&world, "orders", 2).await;
    let listed = orders.iter().map(|order| order["id"].as_str().unwrap());
    let newest_first = opened.iter().rev().map(|checkout| checkout.order.as_str());
    assert!(listed.eq(newest_first), "{orders:?}");
    let events = pages(&world, "events", 1).await;
    let all = world.store().get("/v1/events?limit=100").await.with(200);
    assert_eq!(json!(events), all.body["events"]);
    for (query, field) in [
        ("orders?limit=101", "limit"),
        ("orders?status=happy", "status"),
    ] {
        let refused = world.store().get(&format!("/v1/{query}")).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    // What a 410 does is in `operators_pages.rs`, where a person enables the endpoint.
    let store = world.store();
    let enabled = store.post("/v1/webhooks/enable", &json!({})).await;
    for webhook in [enabled, store.get("/v1/webhooks").await] {
        let expected = json!({ "id": "default", "state": "enabled", "events_waiting": 0 });
        assert_eq!(webhook.with(200).body["webhooks"], json!([expected]));
    }
    world.end().await;
}

#[tokio::test]
async fn deliveries_are_listed_with_the_stores_responses_and_an_event_is_redelivered_on_request() {
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
    let tries = pages(&world, "deliveries", 1).await;
    let all = store.get("/v1/deliveries").await.with(200).body;
    assert_eq!(all["deliveries"], json!(tries));
    let all_tries = tries.len();
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

    let created = world.webhooks.accepted(&checkout.order).remove(0);
    let path = format!("/v1/events/{}/redeliver", created.id);
    store.post(&path, &json!({})).await.with(202);
    let twice = eventually("the event is delivered again", async || {
        Some(world.webhooks.accepted(&checkout.order)).filter(|taken| taken.len() == 2)
    })
    .await;
    assert_eq!(
        (&twice[0].id, &twice[0].body),
        (&twice[1].id, &twice[1].body)
    );
    let path = format!("/v1/deliveries?event={}", created.id);
    eventually("all deliveries are listed", async || {
        let tries = store.get(&path).await.with(200).body;
        (tries["deliveries"].as_array()?.len() == all_tries + 1).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn a_refund_is_recorded_by_the_store_on_the_page_and_from_a_terminal() {
    let world = World::start().await;
    let checkout = world.customer().open_with("mug", "BTC").await;
    world.sandbox().settle(&checkout, "double").await;
    checkout.wait_for("overpaid").await;
    let order = checkout.order;
    let path = format!("/v1/orders/{order}/refunds");
    for (amount, transaction, field) in [
        ("0", "cafe1", "amount_in_crypto"),
        ("9", "cafe1", "amount_in_crypto"),
        ("0.00001", "a b", "transaction"),
    ] {
        let body = json!({ "amount_in_crypto": amount, "transaction": transaction });
        let refused = world.store().post(&path, &body).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    let body = json!({ "amount_in_crypto": "0.00001" });
    let foreign = world.other_store().post(&path, &body).await;
    foreign.refused(404, "not_found");
    let store = world.store().with_idempotency_key("first-refund");
    for is_again in [false, true] {
        let refunded = store.post(&path, &body).await.with(200);
        assert_eq!(is_replayed(&refunded), is_again);
        // It was owed: the store keeps the whole price.
        assert_eq!(refunded.body["refunds"][0]["amount"], "0.00");
    }
    let owed = async || {
        let known = world.operator(secrets::OPERATOR_TOKEN).order(&order).await;
        known["owed"][0]["amount_in_crypto"]
            .as_str()
            .map(str::to_owned)
    };
    let left = owed().await.unwrap();
    let mut pages = ada(&world).await;
    let path = format!("/orders/{order}");
    let sentence = format!("Owed to the customer: <strong>{left} BTC</strong>");
    let action = format!(" action=\"{path}/refunds\"");
    for place in ["/", &path] {
        let text = pages.get(place).await.with(200).text;
        for part in [&sentence, &action] {
            assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
        }
    }
    let page = pages.get("/").await.with(200);
    let (csrf, version) = (hidden(&page, "csrf"), hidden(&page, "version"));
    let form = [
        ("csrf", &*csrf),
        ("version", &version),
        ("asset", "BTC"),
        ("amount", "0.00002"),
        ("back", "/"),
    ];
    // A second press of the button, then an old page.
    for (transaction, expected, leads_to) in [
        (" cafe2 ", 303, Some("/")),
        ("0xCAFE2", 303, Some("/")),
        ("cafe3", 409, None),
    ] {
        let form = [&form[..], &[("transaction", transaction)]].concat();
        let posted = pages.post(&format!("{path}/refunds"), &form).await;
        assert_eq!(posted.with(expected).header("location"), leads_to);
    }
    let left = owed().await.unwrap();
    let words = ["orders", "refund", &order, "--amount", &left];
    let printed = ada_runs(&world, &words).await;
    assert!(
        printed.contains(&format!("  {left}  BTC  0.00")),
        "{printed}"
    );
    assert_eq!(owed().await, None);
    let page = pages.get(&format!("/orders/{order}")).await.with(200).text;
    for text in [
        "<strong>Refunded</strong> <span>0.00002 BTC</span> <code class=\"id\" title=\"cafe2\">",
        "Operator ada: refund",
        "Staff server: refund",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let events = delivered_events(&world, &order).await;
    assert_eq!(events[events.len() - 3..], ["order.refunded"; 3]);
    world.end().await;
}

#[tokio::test]
async fn settlements_have_totals_net_of_refunds_for_the_store_an_operator_and_a_table() {
    let zone = "time_zone = \"Pacific/Auckland\"";
    let world = World::with(|config| config.store = zone.to_owned()).await;
    let checkout = world.customer().open_with("mug", "USDTTRC20").await;
    world.sandbox().settle(&checkout, "exact").await;
    checkout.wait_for("paid").await;
    let order = &checkout.order;
    let path = format!("/v1/orders/{order}/refunds");
    let body = json!({ "amount_in_crypto": "1.5" });
    world.store().post(&path, &body).await.with(200);
    let page = world
        .store()
        .get("/v1/settlements?limit=1")
        .await
        .with(200)
        .body;
    assert_eq!(page["time_zone"], "Pacific/Auckland");
    let total = &page["totals"][0];
    let found = ["name", "network", "refunded"].map(|name| total[name].as_str().unwrap());
    assert_eq!(found, ["USDT", "Tron", "1.5"], "{page}");
    assert_eq!(page["currencies"][0]["received"], "12.50");
    let next = format!("/v1/settlements?after={}", page["next"].as_str().unwrap());
    let rest = world.store().get(&next).await.with(200).body;
    let line = &rest["lines"][0];
    assert_eq!(
        (&line["kind"], &line["amount_in_crypto"]),
        (&json!("refund"), &json!("-1.5"))
    );
    let refused = world.store().get("/v1/settlements?month=13").await;
    refused.refused(400, "invalid_request").naming("month");
    let csv = world
        .store()
        .get("/v1/settlements?format=csv")
        .await
        .with(200);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<&str> = csv.text.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[2].contains(",USDT,Tron,-1.5,") && lines[1].contains("+13:00,"),
        "{lines:?}"
    );
    let printed = ada_runs(&world, &["settlements", "--store", "demo"]).await;
    assert!(printed.contains("  USDT  Tron  1  "), "{printed}");
    let printed = ada_runs(&world, &["settlements", "--store", "demo", "--csv"]).await;
    assert!(printed.lines().eq(lines), "{printed}");
    let page = ada(&world)
        .await
        .get("/settlements?store=demo")
        .await
        .with(200)
        .text;
    for text in [
        "Days of Pacific/Auckland",
        "+13:00</td>",
        ">$12.50</td>",
        ">-$1.50</td>",
    ] {
        assert!(page.contains(text), "{page}");
    }
    world.end().await;
}
