//! Orders that are paid on the payment service's own page.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Answer, Checkout, World, WorldConfig, eventually, secrets};

use crate::steps::{times_paid, told};

/// An hour and a bit: a session is over.
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

async fn opens(world: &World) -> (Checkout, String) {
    let opened = world.store().open(&lamp()).await.with(201);
    (holder(world, &opened), page_of(&opened))
}

fn holder(world: &World, opened: &Answer) -> Checkout {
    let (token, id) = (opened.text_at("/client_token"), opened.text_at("/order/id"));
    world.shopper().with_token(&token, &id)
}

#[track_caller]
fn page_of(opened: &Answer) -> String {
    opened.text_at("/payment_process_url")
}

async fn sessions_asked_for(world: &World) -> usize {
    world.sandbox().count("POST", "/checkout").await
}

#[tokio::test]
async fn a_customer_pays_on_the_services_page_and_the_store_is_told() {
    let world = World::start().await;
    let (checkout, page) = opens(&world).await;
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
        "nothing is left to do there"
    );
    let told = told(&world, &checkout.order).await;
    assert_eq!(told[..2], ["order.created", "order.attempt_opened"]);
    assert_eq!(told.last().unwrap(), "order.paid");
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["flow"], "hosted");
    assert_eq!(order["attempt"]["crypto_code"], "DOGE");
    assert_eq!(order["attempt"]["invoice_id"], page.session);
    assert_eq!(order["attempt"]["amount_in_local_currency"], "42.00");
    assert_eq!(order["attempt"]["received_in_local_currency"], "42.00");
    assert_eq!(sessions_asked_for(&world).await, 1);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    world.end().await;
}

#[tokio::test]
async fn the_service_is_told_all_that_it_needs() {
    let world = World::start_with(WorldConfig {
        merchant_id: Some("mer_quiet_goods".into()),
        ..WorldConfig::default()
    })
    .await;
    opens(&world).await;
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
async fn a_store_of_its_own_account_names_no_merchant() {
    let world = World::start().await;
    opens(&world).await;
    assert_eq!(
        world.sandbox().sessions().await[0]["merchant_id"],
        Value::Null
    );
    world.end().await;
}

#[tokio::test]
async fn nobody_needs_to_watch_a_session_for_its_payment_to_be_found() {
    let world = World::start().await;
    let (checkout, page) = opens(&world).await;
    let page = world.hosted_page(&page);
    page.pick("BTC").await;
    page.pay().await;
    world.sandbox().mine(3).await;
    eventually("the order is told as paid", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn half_on_the_services_page_is_not_enough_and_the_rest_completes_it() {
    let world = World::start().await;
    let (checkout, url) = opens(&world).await;
    let page = world.hosted_page(&url);
    page.pick("LTC").await;
    world.sandbox().pay_invoice(&page.session, "half").await;
    world.sandbox().mine(3).await;
    let view = checkout.wait_for("underpaid").await;
    assert_eq!(view["payment_process_url"], url, "the rest is paid there");
    assert_eq!(times_paid(&world, &checkout.order).await, 0);
    checkout.post("/session", &json!({})).await.with(200);
    assert_eq!(
        sessions_asked_for(&world).await,
        1,
        "no second price is asked for"
    );
    page.pay().await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn another_price_on_the_services_page_credits_nothing() {
    let world = World::start().await;
    world.expect_error("a payment is held");
    let (checkout, page) = opens(&world).await;
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
    eventually("the payment is held", async || {
        checkout.view().await;
        world.logged("a payment is held").then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    assert_eq!(times_paid(&world, &checkout.order).await, 0);
    // The service corrects itself.
    world
        .sandbox()
        .override_invoice(&page.session, &json!({}))
        .await;
    world.skip(Duration::from_mins(2));
    checkout.wait_for("paid").await;
    world.end().await;
}

#[tokio::test]
async fn a_closed_page_cancels_and_another_session_can_be_had() {
    let world = World::start().await;
    let (checkout, first) = opens(&world).await;
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
    let told = told(&world, &checkout.order).await;
    let opened = "order.attempt_opened";
    assert_eq!(
        told[..4],
        ["order.created", opened, "order.cancelled", opened]
    );
    assert_eq!(told.last().unwrap(), "order.paid");
    world.end().await;
}

#[tokio::test]
async fn a_session_that_ran_out_is_followed_by_another_and_still_counts() {
    let world = World::start_with(WorldConfig {
        invoice_minutes: 600,
        ..WorldConfig::default()
    })
    .await;
    let (checkout, first) = opens(&world).await;
    let old = world.hosted_page(&first);
    old.pick("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(PAST_THE_END);
    checkout.wait_for("expired").await;
    let again = world.store().open(&lamp()).await.with(200);
    assert_ne!(page_of(&again), first);
    assert_eq!(again.text_at("/order/status"), "awaiting_payment");
    // The customer pays in the page that was left open.
    old.pay().await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
    let told = told(&world, &checkout.order).await;
    assert_eq!(told[told.len() - 2..], ["order.late_payment", "order.paid"]);
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["attempt"]["invoice_id"], old.session);
    world.end().await;
}

#[tokio::test]
async fn the_same_reference_leads_to_the_same_page() {
    let world = World::start().await;
    let first = world.store().open(&lamp()).await.with(201);
    let again = world.store().open(&lamp()).await.with(200);
    assert_eq!(page_of(&first), page_of(&again));
    assert_eq!(first.text_at("/order/id"), again.text_at("/order/id"));
    assert_ne!(
        first.text_at("/client_token"),
        again.text_at("/client_token")
    );
    let view = holder(&world, &again).post("/session", &json!({})).await;
    assert_eq!(view.with(200).body["payment_process_url"], page_of(&first));
    assert_eq!(sessions_asked_for(&world).await, 1);
    let dearer = lamp_with("amount", json!("43.00"));
    world.expect_error("a reference came again");
    world
        .store()
        .open(&dearer)
        .await
        .refused(409, "order_conflict");
    let here = lamp_with("flow", json!("custom"));
    world.store().open(&here).await.refused(409, "other_flow");
    assert_eq!(sessions_asked_for(&world).await, 1);
    world.end().await;
}

#[tokio::test]
async fn two_at_once_get_one_session() {
    let world = World::start().await;
    let fault = json!({ "endpoint": "checkout", "kind": "slow", "delay_ms": 400 });
    world.sandbox().inject_fault(fault).await;
    let store = world.store();
    let (a, b) = (lamp(), lamp());
    let (first, second) = tokio::join!(store.open(&a), store.open(&b));
    let mut pages = Vec::new();
    for answer in [first, second] {
        match answer.status {
            200 | 201 => pages.push(page_of(&answer)),
            _ => {
                let refused = answer.refused(409, "attempt_in_progress");
                assert!(refused.header("retry-after").is_some());
            }
        }
    }
    assert!(!pages.is_empty(), "one of them is served");
    pages.push(page_of(&store.open(&lamp()).await.with(200)));
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    assert_eq!(sessions_asked_for(&world).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_session_whose_answer_is_lost_is_never_asked_for_again() {
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
        let refused = refused.refused(503, "service_unavailable");
        assert!(refused.header("retry-after").is_some(), "{fault}");
        assert_eq!(sessions_asked_for(&world).await, times * 2 + 1, "{fault}");
        // The order is there, and whoever asks again gets a session that nobody else has seen.
        let opened = world.store().open(&lamp).await.with(200);
        assert_eq!(sessions_asked_for(&world).await, times * 2 + 2, "{fault}");
        let checkout = holder(&world, &opened);
        let page = world.hosted_page(&page_of(&opened));
        page.pick("BTC").await;
        page.pay().await;
        world.sandbox().mine(3).await;
        checkout.wait_for("paid").await;
    }
    world.end().await;
}

#[tokio::test]
async fn what_the_service_refuses_is_said_in_either_of_its_shapes() {
    let world = World::start().await;
    world.expect_error("the payment service refuses us");
    // {"error": true, "message": …}
    let foreign = lamp_with("currency", json!("KPW"));
    let refused = world.store().open(&foreign).await;
    let said = refused.refused(422, "service_refused").body["error"]["service"].clone();
    assert_eq!(said["status"], 400);
    let words = "is no currency that we take";
    assert!(said["message"].as_str().unwrap().ends_with(words), "{said}");
    assert!(world.logged(words), "the operator reads them as well");
    // {"error": …, "code": …, "message": …}, which is that of all other endpoints.
    for (status, code, expected) in [
        (401, "INVALID_SIGNATURE", (503, "service_unavailable")),
        (404, "NOT_FOUND", (503, "service_unavailable")),
        (429, "RATE_LIMIT_EXCEEDED", (503, "service_unavailable")),
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
        page_of(&opened);
    }
    world.end().await;
}

#[tokio::test]
async fn nobody_is_sent_to_a_page_that_is_not_the_services() {
    let world = World::start_with(WorldConfig {
        checkout_url: Some("https://checkout.example/pay".into()),
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("nobody is sent to the service's page");
    let refused = world.store().open(&lamp()).await;
    let refused = refused.refused(503, "service_unavailable");
    let stranger = world.sandbox().sessions().await[0]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!refused.text.contains(&stranger), "{}", refused.text);
    assert!(world.logged("which is not on service.checkout_url https://checkout.example/pay"));
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"][0]["status"], "blocked");
    assert!(!orders.to_string().contains(&stranger), "{orders}");
    let id = orders["orders"][0]["id"].as_str().unwrap();
    assert_eq!(told(&world, id).await, ["order.created", "order.blocked"]);
    world.end().await;
}

#[tokio::test]
async fn what_a_session_needs_is_asked_for_by_name() {
    let world = World::start().await;
    let store = world.store();
    let nobody = lamp_with("customer_email", Value::Null);
    store
        .open(&nobody)
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
    assert_eq!(sessions_asked_for(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn without_the_services_page_the_hosted_flow_says_what_to_set() {
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
    assert!(refused.naming("flow").text.contains("service.checkout_url"));
    assert_eq!(sessions_asked_for(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn each_flow_refuses_what_belongs_to_the_other() {
    let world = World::start().await;
    let (hosted, _) = opens(&world).await;
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
    let custom = world.shopper().open("ebook").await;
    custom
        .post("/session", &json!({}))
        .await
        .refused(409, "other_flow");
    assert_eq!(sessions_asked_for(&world).await, 1);
    world.end().await;
}
