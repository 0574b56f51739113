//! The gateway is down, slow, broken or wrong: the client gets a clear error, nothing is lost, and the proxy continues.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, Reply, World, WorldConfig, eventually, pause, pay_in_full};

use crate::helpers::paid_event_count;

/// A failure is shared for two seconds.
const A_MOMENT: Duration = Duration::from_secs(3);

async fn wait_until_ready(world: &World) {
    let health = world
        .http()
        .get(format!("{}/health/ready", world.admin_url()));
    assert_eq!(health.send().await.unwrap().status(), 200);
}

#[track_caller]
fn retry_after(response: support::HttpResponse) -> u64 {
    let response = response.refused(503, "gateway_unavailable");
    response.header("retry-after").unwrap().parse().unwrap()
}

async fn request_attempt_at(checkout: &Checkout, quote: &Value) -> support::HttpResponse {
    let choice = json!({ "crypto_code": quote["crypto_code"], "quote_id": quote["quote_id"] });
    checkout.post("/attempt", &choice).await
}

#[tokio::test]
async fn without_the_gateway_there_are_no_quotes_and_no_order_is_lost() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    world.gateway_link.cut().await;
    assert_eq!(retry_after(checkout.get("/quotes").await), 5);
    assert_eq!(checkout.view().await["status"], "open");
    wait_until_ready(&world).await;
    world.gateway_link.restore().await;
    world.skip(A_MOMENT);
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn a_gateway_that_fails_at_the_choice_opens_no_attempt() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    world.gateway_link.cut().await;
    assert_eq!(retry_after(request_attempt_at(&checkout, &quote).await), 5);
    assert_eq!(checkout.view().await["attempt"], Value::Null);
    world.gateway_link.restore().await;
    request_attempt_at(&checkout, &quote).await.with(200);
    pay_in_full(&world, &checkout).await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_invoice_request_with_a_lost_response_is_never_repeated() {
    let world = World::start().await;
    for (times, fault) in [
        json!({ "endpoint": "create_invoice", "kind": "drop" }),
        json!({ "endpoint": "create_invoice", "kind": "garbled" }),
        json!({ "endpoint": "create_invoice", "kind": "slow", "delay_ms": 3000 }),
        json!({ "endpoint": "create_invoice", "kind": "status", "status": 500 }),
    ]
    .into_iter()
    .enumerate()
    {
        let checkout = world.customer().open("ebook").await;
        let quote = checkout.quote("BTC").await;
        world.sandbox().inject_fault(fault).await;
        retry_after(request_attempt_at(&checkout, &quote).await);
        let asked = world.sandbox().count("POST", "/invoice").await;
        assert_eq!(asked, times * 2 + 1, "sent again without being asked to");
        assert_eq!(checkout.view().await["status"], "open");
        // A new attempt is possible at once and has another invoice.
        request_attempt_at(&checkout, &quote).await.with(200);
        assert_eq!(
            world.sandbox().count("POST", "/invoice").await,
            times * 2 + 2
        );
        pay_in_full(&world, &checkout).await;
    }
    wait_until_ready(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_failed_price_request_is_repeated_automatically() {
    let world = World::start().await;
    for fault in [
        json!({ "endpoint": "prices", "kind": "status", "status": 500 }),
        json!({ "endpoint": "prices", "kind": "garbled" }),
        json!({ "endpoint": "prices", "kind": "drop" }),
        json!({ "endpoint": "prices", "kind": "slow", "delay_ms": 3000 }),
    ] {
        world.wait_for_deliveries().await;
        world.skip(Duration::from_secs(40));
        let checkout = world.customer().open("ebook").await;
        let before = world.sandbox().count("GET", "/prices").await;
        world.sandbox().inject_fault(fault).await;
        assert_eq!(checkout.quotes().await.len(), 9);
        assert_eq!(world.sandbox().count("GET", "/prices").await, before + 2);
    }
    world.end().await;
}

#[tokio::test]
async fn permanently_failing_prices_give_a_clear_error() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    for fault in [
        json!({ "endpoint": "prices", "kind": "status", "status": 500, "times": 9 }),
        json!({ "endpoint": "prices", "kind": "garbled", "times": 9 }),
        json!({ "endpoint": "prices", "kind": "drop", "times": 9 }),
    ] {
        world.sandbox().inject_fault(fault).await;
        assert_eq!(retry_after(checkout.get("/quotes").await), 5);
        world.sandbox().clear_faults().await;
        world.skip(A_MOMENT);
    }
    assert_eq!(checkout.quotes().await.len(), 9);
    world.end().await;
}

#[tokio::test]
async fn no_call_is_sent_within_retry_after() {
    let world = World::start().await;
    let (first, second) = (
        world.customer().open("ebook").await,
        world.customer().open("mug").await,
    );
    first.choose("BTC").await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(40));
    let limit = json!({ "endpoint": "prices", "kind": "status", "status": 429, "retry_after": 30 });
    world.sandbox().inject_fault(limit).await;
    assert_eq!(retry_after(second.get("/quotes").await), 30);
    let calls = world.sandbox().calls().await.len();
    for _ in 0..20 {
        let left = retry_after(second.get("/quotes").await);
        assert!((20..=30).contains(&left), "{left}");
        // Polling an attempt is a call as well.
        first.view().await;
        // Time for a call that must not be sent.
        pause(Duration::from_millis(100)).await;
    }
    assert_eq!(
        world.sandbox().calls().await.len(),
        calls,
        "called within Retry-After"
    );
    world.skip(Duration::from_secs(31));
    second.choose("LTC").await;
    pay_in_full(&world, &first).await;
    world.end().await;
}

#[tokio::test]
async fn a_wrong_secret_is_rejected_and_stops_nothing_else() {
    let world = World::start_with(WorldConfig {
        proxys_secret: "not-the-secret".into(),
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("the gateway refuses us: check the key");
    let checkout = world.customer().open("ebook").await;
    retry_after(checkout.get("/quotes").await);
    let call = world.sandbox().calls().await.remove(0);
    assert_eq!(
        (&call["status"], &call["code"]),
        (&json!(401), &json!("INVALID_SIGNATURE"))
    );
    assert_eq!(
        world.sandbox().count("GET", "/prices").await,
        1,
        "a rejected request is not repeated"
    );
    assert_eq!(checkout.view().await["status"], "open");
    wait_until_ready(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_gateway_outage_only_delays_a_payment() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    assert_eq!(checkout.view().await["delayed"], false);
    world.gateway_link.cut().await;
    eventually("the page shows the delay", async || {
        (checkout.view().await["delayed"] == true).then_some(())
    })
    .await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    // Time for a credit that must not happen while the gateway cannot be reached.
    pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    world.gateway_link.restore().await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["delayed"], false);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_unreadable_status_changes_nothing() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let garbled = json!({ "endpoint": "invoice", "kind": "garbled", "times": 6 });
    world.sandbox().inject_fault(garbled).await;
    pay_in_full(&world, &checkout).await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_expired_price_is_requested_again() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    let valid_for = quote["valid_for_seconds"].as_u64().unwrap();
    assert!((50..=60).contains(&valid_for), "{valid_for}");
    // A request in flight while the clock is moved would have an old nonce.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(61));
    request_attempt_at(&checkout, &quote)
        .await
        .refused(409, "quote_expired");
    let unknown = json!({ "crypto_code": "BTC", "quote_id": "conv_1" });
    request_attempt_at(&checkout, &unknown)
        .await
        .refused(409, "quote_expired");
    let mut swapped = checkout.quote("LTC").await;
    swapped["crypto_code"] = json!("BTC");
    request_attempt_at(&checkout, &swapped)
        .await
        .refused(409, "quote_expired");
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    checkout.choose("BTC").await;
    world.end().await;
}

/// A valid address of the test network that is not the invoice's.
const STRANGERS: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";

#[tokio::test]
async fn an_address_that_fails_a_check_is_never_shown() {
    let world = World::start().await;
    world.expect_error("the gateway's invoice is not shown");
    for change in [
        // One wrong letter: the checksum does not match.
        json!({ "address": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy" }),
        // An address of another network.
        json!({ "address": "0x52908400098527886E0F7030069857D2E4169EE7" }),
        // An address of the main network.
        json!({ "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" }),
        json!({ "address": "" }),
        // The QR string names another recipient, amount or currency.
        json!({ "qr_string": format!("bitcoin:{STRANGERS}?amount=0.0003") }),
        json!({ "qr_string": STRANGERS }),
        json!({ "address": STRANGERS, "qr_string": format!("bitcoin:{STRANGERS}?amount=1") }),
        json!({ "address": STRANGERS, "qr_string": format!("litecoin:{STRANGERS}") }),
        json!({ "qr_string": "javascript:alert(1)" }),
        json!({ "qr_string": "" }),
    ] {
        let checkout = world.customer().open("ebook").await;
        world.sandbox().override_next_invoice(change.clone()).await;
        let response = checkout.request_attempt("BTC").await.with(200);
        assert_eq!(response.body["status"], "blocked", "{change}");
        assert_eq!(
            response.body["blocked_reason"], "invoice_rejected",
            "{change}"
        );
        let texts = [response.text, checkout.get("").await.text];
        for text in &texts {
            for shown in ["tb1q", "bc1q", "0x529", "bitcoin:", "address", "qr_string"] {
                assert!(!text.contains(shown), "{change}: {text}");
            }
        }
        assert_eq!(checkout.view().await["attempt"], Value::Null);
        eventually("the blocked attempt is reported", async || {
            let kinds = world.webhooks.event_types(&checkout.order);
            kinds.contains(&"order.blocked".to_owned()).then_some(())
        })
        .await;
        // A correct invoice can still be opened.
        checkout.choose("LTC").await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_later_change_of_the_address_blocks_the_attempt() {
    let world = World::start().await;
    world.expect_error("the gateway changed an invoice's address");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    world.sandbox().change_address(&checkout, STRANGERS).await;
    let view = checkout.wait_for("blocked").await;
    assert_eq!(view["attempt"], Value::Null);
    assert_eq!(view["blocked_reason"], "address_changed");
    assert!(!view.to_string().contains("tb1q"), "{view}");
    world.sandbox().pay_invoice(&id, "exact").await;
    world.sandbox().mine(3).await;
    // Time for a credit that must not happen.
    pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "blocked");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    eventually("the blocked attempt is reported", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds.contains(&"order.blocked".to_owned()).then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn an_invoice_id_of_another_order_blocks_the_attempt_at_once() {
    let world = World::start().await;
    world.expect_error("the gateway gave the invoice of another order");
    let first = world.customer().open("ebook").await;
    let shown = first.choose("BTC").await;
    let address = shown["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    let second = world.customer().open("ebook").await;
    let overrides = json!({ "invoice_id": invoice });
    world.sandbox().override_next_invoice(overrides).await;
    let view = second.request_attempt("BTC").await.with(200).body;
    assert_eq!(view["status"], "blocked");
    assert_eq!(view["attempt"], Value::Null);
    assert!(world.logged(&first.order), "the log names both orders");
    // The attempt has ended: another one is possible at once.
    second.choose("LTC").await;
    pay_in_full(&world, &first).await;
    assert_eq!(second.view().await["status"], "awaiting_payment");
    assert_eq!(paid_event_count(&world, &second.order).await, 0);
    world.end().await;
}

#[tokio::test]
async fn a_changed_address_that_returns_stays_blocked() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("the gateway changed an invoice's address");
    world.expect_error("a payment needs review");
    let checkout = world.customer().open("ebook").await;
    let shown = checkout.choose("BTC").await;
    let address = shown["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    let other = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    let overrides = json!({ "wallet_address": other });
    world.sandbox().override_invoice(&invoice, &overrides).await;
    checkout.wait_for("blocked").await;
    // The gateway is right again, and what the customer had sent completes.
    world.sandbox().override_invoice(&invoice, &json!({})).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(2));
    eventually("the payment needs review", async || {
        world.logged("a payment needs review").then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["status"], "blocked");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    checkout
        .post("/paid", &json!({}))
        .await
        .refused(409, "nothing_to_pay");
    world.end().await;
}

/// The system clock is an hour ahead when the order is opened, and is then set back.
#[tokio::test]
async fn a_clock_that_is_set_back_delays_no_poll_and_no_webhook() {
    let world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let hour = Duration::from_hours(1);
    world.skip(hour);
    let checkout = world.customer().open("ebook").await;
    let shown = checkout.choose("BTC").await;
    let invoice = shown["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(invoice).await;
    world.wait_for_deliveries().await;
    world.clock.set_back(hour);
    eventually("the set-back is noticed", async || {
        let warning = "this machine's clock was set back";
        world.logged(warning).then_some(())
    })
    .await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    let left = checkout.view().await["attempt"]["expires_in_seconds"].clone();
    assert!(left.as_u64().unwrap() <= 900, "{left}");
    eventually("the payment is reported", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    world.end().await;
}

/// The system clock jumps an hour ahead while a webhook waits for its response, and is set back after the delivery has
/// failed.
#[tokio::test]
async fn a_delivery_in_progress_as_the_clock_jumps_ahead_is_repeated_when_it_is_right() {
    let world = World::start().await;
    let hour = Duration::from_hours(1);
    world.webhooks.reply_with(Reply::After(hour));
    let checkout = world.customer().open("ebook").await;
    let arrived = || world.webhooks.deliveries().len();
    eventually("the first delivery arrives", async || {
        (arrived() == 1).then_some(())
    })
    .await;
    world.skip(hour);
    let store = world.store();
    eventually("it has failed", async || {
        let page = store.get("/v1/deliveries").await.with(200).body;
        let deliveries = page["deliveries"].as_array().unwrap();
        (deliveries.len() == 1).then_some(())
    })
    .await;
    world.webhooks.reply_with(Reply::Accept);
    world.clock.set_back(hour);
    eventually("it is repeated", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        (kinds == ["order.created", "order.created"]).then_some(())
    })
    .await;
    world.end().await;
}
