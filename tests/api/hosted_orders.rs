//! Orders that are paid on the gateway's hosted page.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, HttpResponse, World, WorldConfig, eventually, secrets};

use crate::helpers::{delivered_events, paid_event_count};

/// Longer than a session lives.
const PAST_THE_END: Duration = Duration::from_mins(61);

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
async fn a_payment_on_the_hosted_page_is_reported_to_the_store() {
    let world = World::start().await;
    let (checkout, page) = open_order(&world).await;
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(
        (&view["flow"], &view["payment_process_url"]),
        (&json!("hosted"), &json!(page))
    );
    assert_eq!(view["attempt"], Value::Null, "there is no address of ours");

    let page = world.hosted_page(&page);
    page.pick("DOGE").await;
    page.pay().await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(
        view["payment_process_url"],
        Value::Null,
        "a paid order has no page"
    );
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
    world.end().await;
}

#[tokio::test]
async fn a_session_request_carries_every_field() {
    let world = World::start_with(WorldConfig {
        merchant_id: Some("mer_quiet_goods".into()),
        ..WorldConfig::default()
    })
    .await;
    open_order(&world).await;
    let at_home = format!("{}/orders/2", world.shop_url());
    let second = json!({
        "amount": "7.50", "currency": "EUR", "reference": "lamp-2", "flow": "hosted",
        "customer_email": "grace@example.com", "return_url": at_home,
    });
    world.store().open(&second).await.with(201);
    let sessions = world.sandbox().sessions().await;
    let [second, first] = &sessions[..] else {
        panic!("two sessions: {sessions:?}")
    };
    assert_eq!(first["email"], "ada@example.com");
    assert_eq!(
        (&first["amount"], &first["currency"]),
        (&json!("42.00"), &json!("USD"))
    );
    assert_eq!(first["merchant_id"], "mer_quiet_goods");
    assert_eq!(
        first["merchant_website"],
        format!("{}/thanks", world.shop_url())
    );
    let callbacks = format!(
        "{}/callbacks/{}",
        world.proxy_url(),
        secrets::CALLBACK_TOKEN
    );
    assert_eq!(first["invoice_callback_url"], callbacks);
    assert_eq!(
        (&second["amount"], &second["currency"]),
        (&json!("7.50"), &json!("EUR"))
    );
    assert_eq!(second["merchant_website"], at_home);
    world.end().await;
}

#[tokio::test]
async fn a_store_without_merchant_id_names_no_merchant() {
    let world = World::start().await;
    open_order(&world).await;
    assert_eq!(
        world.sandbox().sessions().await[0]["merchant_id"],
        Value::Null
    );
    world.end().await;
}

#[tokio::test]
async fn a_session_is_polled_without_a_subscription() {
    let world = World::start().await;
    let (checkout, page) = open_order(&world).await;
    let page = world.hosted_page(&page);
    page.pick("BTC").await;
    page.pay().await;
    world.sandbox().mine(3).await;
    eventually("order.paid is delivered", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn half_on_the_hosted_page_is_underpaid_and_the_rest_completes_it() {
    let world = World::start().await;
    let (checkout, url) = open_order(&world).await;
    let page = world.hosted_page(&url);
    page.pick("LTC").await;
    world.sandbox().pay_invoice(&page.session, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(view["payment_process_url"], url, "the rest is paid there");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    checkout.post("/session", &json!({})).await.with(200);
    assert_eq!(
        session_requests(&world).await,
        1,
        "no second price is requested"
    );
    page.pay().await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn another_price_on_the_hosted_page_credits_nothing() {
    let world = World::start().await;
    world.expect_error("a payment needs review");
    let (checkout, page) = open_order(&world).await;
    let page = world.hosted_page(&page);
    page.pick("BTC").await;
    let cheap =
        json!({ "invoice_amount_in_local_currency": "4.20", "invoice_amount_in_usd": "4.20" });
    world
        .sandbox()
        .override_invoice(&page.session, &cheap)
        .await;
    page.pay().await;
    world.sandbox().mine(3).await;
    eventually("the payment needs review", async || {
        checkout.view().await;
        world.logged("a payment needs review").then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    // The gateway corrects the price.
    world
        .sandbox()
        .override_invoice(&page.session, &json!({}))
        .await;
    world.skip(Duration::from_mins(2));
    checkout.wait_for("paid").await;
    world.end().await;
}

#[tokio::test]
async fn closing_the_page_cancels_the_session_and_another_can_be_opened() {
    let world = World::start().await;
    let (checkout, first) = open_order(&world).await;
    world.hosted_page(&first).close().await;
    let view = checkout.wait_for("cancelled").await;
    assert_eq!(
        (&view["payment_process_url"], &view["can_open_attempt"]),
        (&Value::Null, &json!(true))
    );
    let view = checkout.post("/session", &json!({})).await.with(200).body;
    assert_eq!(view["status"], "awaiting_payment");
    let second = view["payment_process_url"].as_str().unwrap();
    assert_ne!(second, first);
    let page = world.hosted_page(second);
    page.pick("ETH").await;
    page.pay().await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    let opened = "order.attempt_opened";
    assert_eq!(
        delivered_events[..4],
        ["order.created", opened, "order.cancelled", opened]
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    world.end().await;
}

#[tokio::test]
async fn a_payment_in_an_expired_session_still_counts() {
    let world = World::start_with(WorldConfig {
        invoice_minutes: 600,
        ..WorldConfig::default()
    })
    .await;
    let (checkout, first) = open_order(&world).await;
    let old = world.hosted_page(&first);
    old.pick("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    checkout.wait_for("expired").await;
    let again = world.store().open(&lamp()).await.with(200);
    assert_ne!(page_url(&again), first);
    assert_eq!(again.text_at("/order/status"), "awaiting_payment");
    // The customer pays on the first page.
    old.pay().await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[delivered_events.len() - 2..],
        ["order.late_payment", "order.paid"]
    );
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["attempt"]["invoice_id"], old.session);
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
    let view = world
        .customer()
        .checkout_of(&again)
        .post("/session", &json!({}))
        .await;
    assert_eq!(view.with(200).body["payment_process_url"], page_url(&first));
    assert_eq!(session_requests(&world).await, 1);
    let dearer = lamp_with("amount", json!("43.00"));
    world.expect_error("a reference came again");
    world
        .store()
        .open(&dearer)
        .await
        .refused(409, "order_conflict");
    let here = lamp_with("flow", json!("custom"));
    world.store().open(&here).await.refused(409, "other_flow");
    assert_eq!(session_requests(&world).await, 1);
    world.end().await;
}

#[tokio::test]
async fn concurrent_requests_share_one_session() {
    let world = World::start().await;
    let fault = json!({ "endpoint": "checkout", "kind": "slow", "delay_ms": 400 });
    world.sandbox().inject_fault(fault).await;
    let store = world.store();
    let (a, b) = (lamp(), lamp());
    let (first, second) = tokio::join!(store.open(&a), store.open(&b));
    let mut pages = Vec::new();
    for response in [first, second] {
        match response.status {
            200 | 201 => pages.push(page_url(&response)),
            _ => {
                let refused = response.refused(409, "attempt_in_progress");
                assert!(refused.header("retry-after").is_some());
            }
        }
    }
    assert!(!pages.is_empty(), "one request succeeds");
    pages.push(page_url(&store.open(&lamp()).await.with(200)));
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    assert_eq!(session_requests(&world).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_session_request_with_a_lost_response_is_never_repeated() {
    let world = World::start().await;
    for (times, fault) in [
        json!({ "endpoint": "checkout", "kind": "drop" }),
        json!({ "endpoint": "checkout", "kind": "cut" }),
        json!({ "endpoint": "checkout", "kind": "garbled" }),
        json!({ "endpoint": "checkout", "kind": "empty" }),
        json!({ "endpoint": "checkout", "kind": "wrong_types" }),
        json!({ "endpoint": "checkout", "kind": "status", "status": 500 }),
    ]
    .into_iter()
    .enumerate()
    {
        let lamp = lamp_with("reference", json!(format!("lamp-{times}")));
        world.sandbox().inject_fault(fault.clone()).await;
        let refused = world.store().open(&lamp).await;
        let refused = refused.refused(503, "gateway_unavailable");
        assert!(refused.header("retry-after").is_some(), "{fault}");
        assert_eq!(session_requests(&world).await, times * 2 + 1, "{fault}");
        // The order exists, and the next request opens a new session.
        let opened = world.store().open(&lamp).await.with(200);
        assert_eq!(session_requests(&world).await, times * 2 + 2, "{fault}");
        let checkout = world.customer().checkout_of(&opened);
        let page = world.hosted_page(&page_url(&opened));
        page.pick("BTC").await;
        page.pay().await;
        world.sandbox().mine(3).await;
        checkout.wait_for("paid").await;
    }
    world.end().await;
}

#[tokio::test]
async fn both_error_formats_of_the_gateway_are_passed_on() {
    let world = World::start().await;
    world.expect_error("the gateway refuses us");
    // {"error": true, "message": …}
    let foreign = lamp_with("currency", json!("KPW"));
    let refused = world.store().open(&foreign).await;
    let message = refused.refused(422, "gateway_refused").body["error"]["gateway"].clone();
    assert_eq!(message["status"], 400);
    let words = "is no currency that we take";
    assert!(
        message["message"].as_str().unwrap().ends_with(words),
        "{message}"
    );
    assert!(world.logged(words), "the log holds the message as well");
    // {"error": …, "code": …, "message": …}, the format of all other endpoints.
    for (status, code, expected) in [
        (401, "INVALID_SIGNATURE", (503, "gateway_unavailable")),
        (404, "NOT_FOUND", (503, "gateway_unavailable")),
        (429, "RATE_LIMIT_EXCEEDED", (503, "gateway_unavailable")),
    ] {
        let fault = json!({ "endpoint": "checkout", "kind": "status", "status": status, "code": code, "retry_after": 1 });
        world.sandbox().inject_fault(fault).await;
        let lamp = lamp_with("reference", json!(code));
        world
            .store()
            .open(&lamp)
            .await
            .refused(expected.0, expected.1);
        world.skip(Duration::from_secs(70));
        let opened = world.store().open(&lamp).await.with(200);
        page_url(&opened);
    }
    world.end().await;
}

#[tokio::test]
async fn no_customer_is_sent_to_a_foreign_page() {
    let world = World::start_with(WorldConfig {
        checkout_url: Some("https://checkout.example/pay".into()),
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("is sent to the gateway's page");
    let refused = world.store().open(&lamp()).await;
    let refused = refused.refused(503, "gateway_unavailable");
    let foreign = world.sandbox().sessions().await[0]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!refused.text.contains(&foreign), "{}", refused.text);
    assert!(world.logged("which is not on gateway.checkout_url https://checkout.example/pay"));
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"][0]["status"], "blocked");
    assert!(!orders.to_string().contains(&foreign), "{orders}");
    let id = orders["orders"][0]["id"].as_str().unwrap();
    assert_eq!(
        delivered_events(&world, id).await,
        ["order.created", "order.blocked"]
    );
    world.end().await;
}

#[tokio::test]
async fn a_missing_field_of_a_session_is_named() {
    let world = World::start().await;
    let store = world.store();
    let without_email = lamp_with("customer_email", Value::Null);
    store
        .open(&without_email)
        .await
        .refused(400, "invalid_request")
        .naming("customer_email");
    store
        .open(&lamp_with("assets", json!(["BTC"])))
        .await
        .refused(400, "invalid_request")
        .naming("assets");
    let other = world.other_store();
    other
        .open(&lamp())
        .await
        .refused(400, "invalid_request")
        .naming("return_url");
    store
        .open(&lamp_with("flow", json!("elsewhere")))
        .await
        .refused(400, "invalid_request");
    let orders = store.get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]), "no order is left behind");
    assert_eq!(session_requests(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn without_checkout_url_the_hosted_flow_names_the_missing_key() {
    let world = World::start_with(WorldConfig {
        checkout_url: Some(String::new()),
        ..WorldConfig::default()
    })
    .await;
    let refused = world
        .store()
        .open(&lamp())
        .await
        .refused(400, "invalid_request");
    assert!(refused.naming("flow").text.contains("gateway.checkout_url"));
    assert_eq!(session_requests(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn each_flow_rejects_fields_of_the_other() {
    let world = World::start().await;
    let (hosted, _) = open_order(&world).await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": "q" });
    hosted
        .post("/attempt", &choice)
        .await
        .refused(409, "other_flow");
    hosted
        .post("/paid", &json!({}))
        .await
        .refused(409, "other_flow");
    hosted
        .post("/email", &json!({ "email": "me@example.org" }))
        .await
        .refused(409, "other_flow");
    let custom = world.customer().open("ebook").await;
    custom
        .post("/session", &json!({}))
        .await
        .refused(409, "other_flow");
    assert_eq!(session_requests(&world).await, 1);
    world.end().await;
}
