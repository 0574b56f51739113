//! The operator's API on the admin listener: orders, decisions, deliveries.

use reqwest::Method;
use serde_json::json;
use support::{Folder, HttpResponse, OperatorApi, Program, World, secrets, write_private};

use crate::helpers::delivered_events;
use crate::metrics::Scrape;
use crate::operators_pages::underpaid;

fn ada(world: &World) -> OperatorApi {
    world.operator(secrets::OPERATOR_TOKEN)
}

#[tokio::test]
async fn an_operator_decides_once_with_a_reason_about_an_open_question() {
    let world = World::start().await;
    let (ada, checkout) = (ada(&world), underpaid(&world).await);
    let waiting = ada.get("/api/orders?attention=true").await.with(200);
    assert_eq!(waiting.text_at("/orders/0/id"), checkout.order);
    assert_eq!(waiting.text_at("/orders/0/attention/0/cause"), "underpaid");
    let scrape = Scrape::of(&world).await;
    let needing = "florin_orders_needing_person{cause=\"underpaid\"}";
    assert_eq!(scrape.value(needing), 1);
    let path = format!("/api/orders/{}/decision", checkout.order);
    let version = ada.order(&checkout.order).await["version"].clone();
    let body = |decision: &str, reason: &str| json!({ "decision": decision, "reason": reason, "version": version });
    for (body, field) in [
        (body("close", " "), "reason"),
        (body("pay", "x"), "decision"),
    ] {
        ada.post(&path, &body).await.with(400).naming(field);
    }
    let refusal = |response: HttpResponse| response.with(409).text_at("/error/code");
    let other = world.customer().open("ebook").await;
    let refused = ada.decide(&other.order, "accept_as_paid").await;
    assert_eq!(refusal(refused), "decision_refused");
    let unknown = format!("/api/orders/ord_{}/decision", "0".repeat(32));
    ada.post(&unknown, &body("close", "x")).await.with(404);
    assert_eq!(ada.get("/api/audit").await.body["entries"], json!([]));

    let decided = ada.decide(&checkout.order, "accept_as_paid").await;
    let order = decided.with(200).body["order"].clone();
    assert_eq!(order["status"], "paid");
    assert_eq!(order["decision"]["outcome"], "accepted");
    assert!(order["attention_since"].is_null());
    // A second operator whose page still shows the order as it was.
    let late = ada.post(&path, &body("accept_as_paid", "me too")).await;
    assert_eq!(refusal(late), "order_changed");
    let again = ada.decide(&checkout.order, "accept_as_paid").await;
    assert!(again.text_at("/error/message").contains("credited once"));
    assert_eq!(refusal(again), "decision_refused");

    let events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        events[events.len() - 2..],
        ["order.underpaid", "order.paid"]
    );
    let paid = world.webhooks.accepted(&checkout.order).pop().unwrap();
    let sent = &paid.body["data"]["order"];
    assert_eq!(sent["decision"]["outcome"], "accepted");
    assert_eq!(sent["settled_at"], sent["decision"]["at"]);
    for (store, status) in [("demo", 200), ("other", 409), ("stranger", 404)] {
        let path = format!("/api/webhooks/{store}/test");
        ada.post(&path, &json!({})).await.with(status);
    }
    world.end().await;
}

#[tokio::test]
async fn the_api_needs_an_operators_token_and_the_role_for_a_change() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let order = &checkout.order;
    let event = world.store().events_of(order).await[0]["id"].clone();
    let event = event.as_str().unwrap();
    let stranger = OperatorApi {
        token: None,
        ..ada(&world)
    };
    let store = world.operator(secrets::STORE_KEY);
    let at_the_public_listener = OperatorApi {
        base: world.proxy_url(),
        ..ada(&world)
    };
    let reader = world.operator(secrets::READER_TOKEN);
    for (is_change, path) in [
        (false, "/api/orders".to_owned()),
        (false, format!("/api/orders/{order}")),
        (false, "/api/deliveries?store=demo".to_owned()),
        (false, "/api/audit".to_owned()),
        (true, format!("/api/orders/{order}/decision")),
        (true, format!("/api/deliveries/{event}/redeliver")),
        (true, "/api/webhooks/demo/test".to_owned()),
    ] {
        let body = json!({ "decision": "close", "reason": "no", "version": 1 });
        let (method, body) = if is_change {
            (Method::POST, Some(&body))
        } else {
            (Method::GET, None)
        };
        for (caller, status) in [
            (&stranger, 401),
            (&store, 401),
            (&at_the_public_listener, 404),
            (&reader, if is_change { 403 } else { 200 }),
        ] {
            let response = caller.send(method.clone(), &path, body).await;
            assert_eq!(response.status, status, "{path}: {}", response.text);
        }
        let response = reader.send(method, &path, body).await;
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    world.end().await;
}

/// What is searched for is in `crates/storage/src/contract/decisions.rs`; the commands show an order.
#[tokio::test]
async fn orders_are_found_page_by_page_and_one_is_shown_with_all_that_happened() {
    let world = World::start().await;
    let (ada, checkout) = (ada(&world), underpaid(&world).await);
    let order = json!({ "amount": "31.40", "currency": "USD", "reference": "cart-314" });
    world.store().open(&order).await.with(201);
    let first = ada.get("/api/orders?limit=1").await.with(200);
    let next = format!("/api/orders?limit=1&after={}", first.text_at("/next"));
    let second = ada.get(&next).await.with(200);
    assert_eq!(first.text_at("/orders/0/reference"), "cart-314");
    assert_eq!(second.text_at("/orders/0/id"), checkout.order);
    for (query, field) in [("status=unknown", "status"), ("limit=101", "limit")] {
        let refused = ada.get(&format!("/api/orders?{query}")).await;
        refused.with(400).naming(field);
    }

    ada.decide(&checkout.order, "keep_waiting").await.with(200);
    let shown = ada.get(&format!("/api/orders/{}", checkout.order)).await;
    let shown = shown.with(200);
    for (pointer, text) in [
        // The latest first.
        ("/observations/0/assessment", "underpaid"),
        ("/events/0/type", "order.underpaid"),
        ("/audit/0/action", "keep_waiting"),
    ] {
        assert_eq!(shown.text_at(pointer), text, "{pointer}");
    }
    assert!(shown.body["events"][0]["deliveries"][0]["took_ms"].is_u64());
    let query = format!("event={}&limit=1", shown.text_at("/events/0/id"));
    let listed = ada.get(&format!("/api/deliveries?{query}")).await;
    let listed = listed.with(200).text_at("/deliveries/0/type");
    assert_eq!(listed, "order.underpaid");
    world.end().await;
}

#[test]
fn the_command_prints_a_hash_that_the_configuration_takes() {
    let output = Program::run_with_input(&["secrets", "hash"], "a password of many words\n");
    assert_eq!(output.code, Some(0), "{}", output.printed);
    let hash = output.printed.trim();
    assert!(
        hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
        "{hash}"
    );
    let config = Folder::new();
    let file = config.file("florin.toml");
    write_private(
        &file,
        &format!("[[operator]]\nname = \"ada\"\npassword_hash = \"{hash}\"\n"),
    );
    let file = file.display().to_string();
    let checked = Program::run(&["--config", &file, "check-config"], &[]).printed;
    assert!(
        checked.contains("gateway.url") && !checked.contains("operator"),
        "{checked}"
    );

    let short = Program::run_with_input(&["secrets", "hash"], "hunter2\n");
    assert_eq!(short.code, Some(1));
    assert!(
        short.printed.contains("fewer than 12 characters"),
        "{}",
        short.printed
    );
}
