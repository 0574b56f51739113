//! The trace of an order (W3C Trace Context): from POST /v1/orders to the gateway and to the webhooks.

use serde_json::{Value, json};
use support::{HttpResponse, World, secrets};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Opens a hosted order with the header `traceparent`. Its session is opened at the gateway at once.
async fn open_order(world: &World, reference: &str) -> HttpResponse {
    let order = json!({
        "amount": "42.00", "currency": "USD", "reference": reference, "flow": "hosted",
        "customer_email": "ada@example.com",
    });
    let url = format!("{}/v1/orders", world.proxy_url());
    let request = world.http().post(url).bearer_auth(secrets::STORE_KEY);
    let request = request.header("traceparent", TRACE);
    // A request with a key is carried out by a separate task.
    let request = request.header("idempotency-key", reference);
    let opened = request.json(&order).send().await.unwrap();
    HttpResponse::read(opened).await.with(201)
}

/// The traces of the calls of an endpoint, the latest first.
async fn traces_of_calls(world: &World, method: &str, path: &str) -> Vec<Value> {
    let is_it = |call: &Value| {
        let called = call["path"].as_str().unwrap_or_default();
        call["method"] == method && called.split('?').next() == Some(path)
    };
    let calls = world.sandbox().calls().await.into_iter().filter(is_it);
    calls.map(|call| call["traceparent"].clone()).collect()
}

/// The traces of the deliveries of an order, in their order.
fn traces_of_webhooks(world: &World, order: &str) -> Vec<Option<String>> {
    let accepted = world.webhooks.accepted(order).into_iter();
    accepted.map(|delivery| delivery.traceparent).collect()
}

#[tokio::test]
async fn an_orders_trace_is_in_its_webhooks_and_in_calls_of_the_gateway() {
    let mut world = World::start().await;
    let opened = open_order(&world, "lamp-1").await;
    let order = opened.text_at("/order/id");
    world.wait_for_deliveries().await;
    assert_eq!(traces_of_calls(&world, "POST", "/checkout").await, [TRACE]);
    let sent = Some(TRACE.to_owned());
    assert_eq!(
        traces_of_webhooks(&world, &order),
        [sent.clone(), sent.clone()]
    );

    // It is stored with the order.
    world.stop_proxy().await;
    world.start_proxy().await;
    let page = world.hosted_page(&opened.text_at("/payment_process_url"));
    page.pick("DOGE").await;
    page.pay().await;
    world.sandbox().mine(3).await;
    let checkout = world.customer().checkout_of(&opened);
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let webhooks = traces_of_webhooks(&world, &order);
    assert!(webhooks.len() > 2);
    assert!(webhooks.iter().all(|trace| *trace == sent), "{webhooks:?}");
    let polls = traces_of_calls(&world, "GET", "/invoice").await;
    assert!(!polls.is_empty());
    assert!(polls.iter().all(|trace| trace == TRACE), "{polls:?}");
    world.end().await;
}

#[tokio::test]
async fn a_browser_names_no_trace() {
    let world = World::start().await;
    let url = format!("{}/v1/checkout", world.proxy_url());
    let request = world.http().post(url).header("traceparent", TRACE);
    let request = request.header("origin", world.shop_url());
    let body = json!({"store": "demo", "product": "ebook"});
    let opened = request.json(&body).send().await.unwrap();
    let opened = HttpResponse::read(opened).await.with(201);
    let order = opened.text_at("/order/id");
    world.wait_for_deliveries().await;
    assert_eq!(traces_of_webhooks(&world, &order), [None]);
    world.end().await;
}
