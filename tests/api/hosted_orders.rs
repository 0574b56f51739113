//! Orders that are paid on the gateway's hosted page.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, HttpResponse, World, secrets};

use crate::helpers::delivered_events;

fn lamp() -> Value {
    json!({
        "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp",
        "flow": "hosted", "customer_email": "ada@example.com",
    })
}

fn lamp_with(member: &str, value: Value) -> Value {
    let mut lamp = lamp();
    lamp[member] = value;
    lamp
}

async fn open_order(world: &World) -> (Checkout, String) {
    let opened = world.store().open(&lamp()).await.with(201);
    (world.customer().checkout_of(&opened), page_url(&opened))
}

#[track_caller]
fn page_url(opened: &HttpResponse) -> String {
    opened.text_at("/payment_process_url")
}

async fn session_requests(world: &World) -> usize {
    world.sandbox().count("POST", "/checkout").await
}

#[tokio::test]
async fn a_session_has_every_field_and_its_payment_is_reported_to_the_store() {
    let world = World::with(|config| config.merchant_id = Some("mer_quiet_goods".into())).await;
    let (checkout, page) = open_order(&world).await;
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(view["flow"], "hosted");
    assert_eq!(view["payment_process_url"], page);
    assert_eq!(view["attempt"], Value::Null, "there is no address of ours");

    let page = world.hosted_page(&page);
    page.pick("DOGE").await;
    page.pay().await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    let page_of_paid = &view["payment_process_url"];
    assert_eq!(page_of_paid, &Value::Null, "a paid order has no page");
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[..2],
        ["order.created", "order.attempt_opened"]
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["flow"], "hosted");
    assert_eq!(order["attempt"]["crypto_code"], "DOGE");
    assert_eq!(order["attempt"]["invoice_id"], page.session);
    assert_eq!(order["attempt"]["amount_in_local_currency"], "42.00");
    assert_eq!(order["attempt"]["received_in_local_currency"], "42.00");
    assert_eq!(session_requests(&world).await, 1);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);

    // What the gateway was sent.
    let at_home = format!("{}/orders/2", world.shop_url());
    let second = json!({
        "amount": "7.50", "currency": "EUR", "reference": "lamp-2", "flow": "hosted",
        "customer_email": "grace@example.com", "return_url": at_home,
    });
    world.store().open(&second).await.with(201);
    let sessions = world.sandbox().sessions().await;
    for (member, value) in [
        ("amount", "7.50"),
        ("currency", "EUR"),
        ("merchant_website", &at_home),
    ] {
        assert_eq!(sessions[0][member], value, "{member}");
    }
    let token = secrets::CALLBACK_TOKEN;
    for (member, value) in [
        ("email", "ada@example.com".to_owned()),
        ("amount", "42.00".to_owned()),
        ("currency", "USD".to_owned()),
        ("merchant_id", "mer_quiet_goods".to_owned()),
        ("merchant_website", format!("{}/thanks", world.shop_url())),
        (
            "invoice_callback_url",
            format!("{}/callbacks/{token}", world.proxy_url()),
        ),
    ] {
        assert_eq!(sessions[1][member], value, "{member}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_same_reference_returns_the_same_page() {
    let world = World::start().await;
    let first = world.store().open(&lamp()).await.with(201);
    let again = world.store().open(&lamp()).await.with(200);
    assert_eq!(page_url(&first), page_url(&again));
    assert_eq!(first.text_at("/order/id"), again.text_at("/order/id"));
    assert_ne!(
        first.text_at("/client_token"),
        again.text_at("/client_token")
    );
    let checkout = world.customer().checkout_of(&again);
    let view = checkout.post("/session", &json!({})).await.with(200).body;
    assert_eq!(view["payment_process_url"], page_url(&first));
    assert_eq!(session_requests(&world).await, 1);
    let dearer = lamp_with("amount", json!("43.00"));
    world.expect_error("a reference came again");
    let refused = world.store().open(&dearer).await;
    refused.refused(409, "order_conflict");
    let here = lamp_with("flow", json!("custom"));
    world.store().open(&here).await.refused(409, "other_flow");
    assert_eq!(session_requests(&world).await, 1);
    world.end().await;
}

#[tokio::test]
async fn no_customer_is_sent_to_a_foreign_page() {
    let world =
        World::with(|config| config.checkout_url = Some("https://checkout.example/pay".into()))
            .await;
    world.expect_error("is sent to the gateway's page");
    let refused = world.store().open(&lamp()).await;
    let refused = refused.refused(503, "gateway_unavailable");
    let sessions = world.sandbox().sessions().await;
    let foreign = sessions[0]["url"].as_str().unwrap();
    assert!(!refused.text.contains(foreign), "{}", refused.text);
    assert!(world.logged("which is not on gateway.checkout_url https://checkout.example/pay"));
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"][0]["status"], "blocked");
    assert!(!orders.to_string().contains(foreign), "{orders}");
    let id = orders["orders"][0]["id"].as_str().unwrap();
    assert_eq!(
        delivered_events(&world, id).await,
        ["order.created", "order.blocked"]
    );
    world.end().await;
}

#[tokio::test]
async fn the_gateways_rejection_is_passed_on_and_a_session_with_a_lost_response_is_not_requested_again()
 {
    let world = World::start().await;
    let foreign = lamp_with("currency", json!("KPW"));
    let refused = world.store().open(&foreign).await;
    let refused = refused.refused(422, "gateway_refused");
    assert_eq!(refused.body["error"]["gateway"]["status"], 400);
    let words = "is no currency that we take";
    let message = refused.text_at("/error/gateway/message");
    assert!(message.ends_with(words), "{message}");
    assert!(world.logged(words), "the log holds the message as well");
    // One that another request could pass is not the store's fault.
    let fault =
        json!({ "endpoint": "checkout", "kind": "status", "status": 429, "retry_after": 1 });
    world.sandbox().inject_fault(fault).await;
    let another = lamp_with("reference", json!("lamp-2"));
    let refused = world.store().open(&another).await;
    refused.refused(503, "gateway_unavailable");
    world.skip(Duration::from_secs(70));
    page_url(&world.store().open(&another).await.with(200));

    let requests = session_requests(&world).await;
    let lost = lamp_with("reference", json!("lamp-3"));
    let fault = json!({ "endpoint": "checkout", "kind": "drop" });
    world.sandbox().inject_fault(fault).await;
    let refused = world.store().open(&lost).await;
    let refused = refused.refused(503, "gateway_unavailable");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(session_requests(&world).await, requests + 1);
    // The order exists, and the next request opens a new session.
    page_url(&world.store().open(&lost).await.with(200));
    assert_eq!(session_requests(&world).await, requests + 2);
    world.end().await;
}

#[tokio::test]
async fn without_checkout_url_the_hosted_flow_names_the_missing_key() {
    let world = World::with(|config| config.checkout_url = Some(String::new())).await;
    let refused = world.store().open(&lamp()).await;
    let refused = refused.refused(400, "invalid_request").naming("flow");
    assert!(refused.text.contains("gateway.checkout_url"));
    assert_eq!(session_requests(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn a_wrong_field_of_a_session_is_named_and_each_flow_rejects_requests_of_the_other() {
    let world = World::start().await;
    let (store, other) = (world.store(), world.other_store());
    for (server, member, value, field) in [
        (&store, "customer_email", Value::Null, "customer_email"),
        (&store, "assets", json!(["BTC"]), "assets"),
        (&store, "flow", json!("elsewhere"), "flow"),
        // This store has none.
        (&other, "title", json!("A lamp"), "return_url"),
    ] {
        let refused = server.open(&lamp_with(member, value)).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    assert!(store.orders().await.is_empty(), "no order is left behind");
    assert_eq!(session_requests(&world).await, 0);

    let (hosted, _) = open_order(&world).await;
    let custom = world.customer().open("ebook").await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": "q" });
    let email = json!({ "email": "me@example.org" });
    for (checkout, path, body) in [
        (&hosted, "/attempt", choice),
        (&hosted, "/paid", json!({})),
        (&hosted, "/email", email),
        (&custom, "/session", json!({})),
    ] {
        let refused = checkout.post(path, &body).await;
        refused.refused(409, "other_flow");
    }
    let sessions = world.sandbox().sessions().await;
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["merchant_id"], Value::Null);
    world.end().await;
}
