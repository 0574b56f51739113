//! The service is down, slow, broken, or wrong: each gets a clear refusal, nothing is lost, and the proxy goes on.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, World, WorldConfig, eventually, pause, pays_in_full};

use crate::steps::times_paid;

/// Who asks again within two seconds may be told of the same failure.
const A_MOMENT: Duration = Duration::from_secs(3);

async fn is_ready(world: &World) {
    let health = world
        .http()
        .get(format!("{}/health/ready", world.admin_url()));
    assert_eq!(health.send().await.unwrap().status(), 200);
}

#[track_caller]
fn retry_after(answer: support::Answer) -> u64 {
    let answer = answer.refused(503, "service_unavailable");
    answer.header("retry-after").unwrap().parse().unwrap()
}

async fn asks_at(checkout: &Checkout, quote: &Value) -> support::Answer {
    let choice = json!({ "crypto_code": quote["crypto_code"], "quote_id": quote["quote_id"] });
    checkout.post("/attempt", &choice).await
}

#[tokio::test]
async fn a_service_that_is_down_offers_no_quotes_and_loses_no_order() {
    let mut world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    world.service_link.cut().await;
    assert_eq!(retry_after(checkout.get("/quotes").await), 5);
    assert_eq!(checkout.view().await["status"], "open");
    is_ready(&world).await;
    world.service_link.restore().await;
    world.skip(A_MOMENT);
    checkout.choose("BTC").await;
    pays_in_full(&world, &checkout).await;
    world.end().await;
}

#[tokio::test]
async fn a_service_that_goes_down_at_the_choice_makes_no_attempt() {
    let mut world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    world.service_link.cut().await;
    assert_eq!(retry_after(asks_at(&checkout, &quote).await), 5);
    assert_eq!(checkout.view().await["attempt"], Value::Null);
    world.service_link.restore().await;
    asks_at(&checkout, &quote).await.with(200);
    pays_in_full(&world, &checkout).await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_invoice_whose_answer_is_lost_is_never_asked_for_again() {
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
        let checkout = world.shopper().open("ebook").await;
        let quote = checkout.quote("BTC").await;
        world.sandbox().inject_fault(fault).await;
        retry_after(asks_at(&checkout, &quote).await);
        let asked = world.sandbox().count("POST", "/invoice").await;
        assert_eq!(asked, times * 2 + 1, "sent again without being asked to");
        assert_eq!(checkout.view().await["status"], "open");
        // A new attempt is possible at once, and is another invoice.
        asks_at(&checkout, &quote).await.with(200);
        assert_eq!(
            world.sandbox().count("POST", "/invoice").await,
            times * 2 + 2
        );
        pays_in_full(&world, &checkout).await;
    }
    is_ready(&world).await;
    world.end().await;
}

#[tokio::test]
async fn prices_that_fail_once_are_asked_for_again_without_the_customers_help() {
    let world = World::start().await;
    for fault in [
        json!({ "endpoint": "prices", "kind": "status", "status": 500 }),
        json!({ "endpoint": "prices", "kind": "garbled" }),
        json!({ "endpoint": "prices", "kind": "drop" }),
        json!({ "endpoint": "prices", "kind": "slow", "delay_ms": 3000 }),
    ] {
        world.wait_for_deliveries().await;
        world.skip(Duration::from_secs(40));
        let checkout = world.shopper().open("ebook").await;
        let before = world.sandbox().count("GET", "/prices").await;
        world.sandbox().inject_fault(fault).await;
        assert_eq!(checkout.quotes().await.len(), 9);
        assert_eq!(world.sandbox().count("GET", "/prices").await, before + 2);
    }
    world.end().await;
}

#[tokio::test]
async fn prices_that_keep_failing_are_a_clear_refusal() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
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
async fn while_the_service_asks_for_a_pause_it_is_left_alone() {
    let world = World::start().await;
    let (first, second) = (
        world.shopper().open("ebook").await,
        world.shopper().open("mug").await,
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
        // Watching an attempt is a call as well.
        first.view().await;
        pause(Duration::from_millis(100)).await;
    }
    assert_eq!(
        world.sandbox().calls().await.len(),
        calls,
        "called in the pause"
    );
    world.skip(Duration::from_secs(31));
    second.choose("LTC").await;
    pays_in_full(&world, &first).await;
    world.end().await;
}

#[tokio::test]
async fn a_wrong_secret_is_refused_and_stops_nothing_else() {
    let world = World::start_with(WorldConfig {
        proxys_secret: "not-the-secret".into(),
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("the payment service refuses us: check the key");
    let checkout = world.shopper().open("ebook").await;
    retry_after(checkout.get("/quotes").await);
    let call = world.sandbox().calls().await.remove(0);
    assert_eq!(
        (&call["status"], &call["code"]),
        (&json!(401), &json!("INVALID_SIGNATURE"))
    );
    assert_eq!(
        world.sandbox().count("GET", "/prices").await,
        1,
        "a refusal is not argued with"
    );
    assert_eq!(checkout.view().await["status"], "open");
    is_ready(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_service_that_is_away_while_a_payment_is_watched_only_delays_it() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    assert_eq!(checkout.view().await["delayed"], false);
    world.service_link.cut().await;
    eventually("the page is told of the delay", async || {
        (checkout.view().await["delayed"] == true).then_some(())
    })
    .await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    world.service_link.restore().await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["delayed"], false);
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_status_that_cannot_be_read_changes_nothing() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let garbled = json!({ "endpoint": "invoice", "kind": "garbled", "times": 6 });
    world.sandbox().inject_fault(garbled).await;
    pays_in_full(&world, &checkout).await;
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    world.end().await;
}

#[tokio::test]
async fn a_price_that_no_longer_holds_is_asked_for_anew() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    let holds = quote["valid_for_seconds"].as_u64().unwrap();
    assert!((50..=60).contains(&holds), "{holds}");
    // What is on its way as time is moved would be signed a minute ago.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(61));
    asks_at(&checkout, &quote)
        .await
        .refused(409, "quote_expired");
    let unknown = json!({ "crypto_code": "BTC", "quote_id": "conv_1" });
    asks_at(&checkout, &unknown)
        .await
        .refused(409, "quote_expired");
    let mut swapped = checkout.quote("LTC").await;
    swapped["crypto_code"] = json!("BTC");
    asks_at(&checkout, &swapped)
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
    world.expect_error("the service's invoice is not shown");
    for lie in [
        // One letter off: the checksum is wrong.
        json!({ "address": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy" }),
        // Another network's.
        json!({ "address": "0x52908400098527886E0F7030069857D2E4169EE7" }),
        // Real money's.
        json!({ "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" }),
        json!({ "address": "" }),
        // The code would pay somebody else, or another amount, or in another currency.
        json!({ "qr_string": format!("bitcoin:{STRANGERS}?amount=0.0003") }),
        json!({ "qr_string": STRANGERS }),
        json!({ "address": STRANGERS, "qr_string": format!("bitcoin:{STRANGERS}?amount=1") }),
        json!({ "address": STRANGERS, "qr_string": format!("litecoin:{STRANGERS}") }),
        json!({ "qr_string": "javascript:alert(1)" }),
        json!({ "qr_string": "" }),
    ] {
        let checkout = world.shopper().open("ebook").await;
        world.sandbox().override_next_invoice(lie.clone()).await;
        let answer = checkout.request_attempt("BTC").await.with(200);
        assert_eq!(answer.body["status"], "blocked", "{lie}");
        assert_eq!(answer.body["blocked_reason"], "invoice_rejected", "{lie}");
        let texts = [answer.text, checkout.get("").await.text];
        for text in &texts {
            for shown in ["tb1q", "bc1q", "0x529", "bitcoin:", "address", "qr_string"] {
                assert!(!text.contains(shown), "{lie}: {text}");
            }
        }
        assert_eq!(checkout.view().await["attempt"], Value::Null);
        eventually("the block is told", async || {
            let kinds = world.webhooks.event_types(&checkout.order);
            kinds.contains(&"order.blocked".to_owned()).then_some(())
        })
        .await;
        // An honest invoice can still be had.
        checkout.choose("LTC").await;
    }
    world.end().await;
}

#[tokio::test]
async fn an_address_that_changes_later_takes_the_page_away() {
    let world = World::start().await;
    world.expect_error("the service changed an invoice's address");
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    world.sandbox().change_address(&checkout, STRANGERS).await;
    let view = checkout.wait_for("blocked").await;
    assert_eq!(view["attempt"], Value::Null);
    assert_eq!(view["blocked_reason"], "address_changed");
    assert!(!view.to_string().contains("tb1q"), "{view}");
    world.sandbox().pay_invoice(&id, "exact").await;
    world.sandbox().mine(3).await;
    pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "blocked");
    assert_eq!(times_paid(&world, &checkout.order).await, 0);
    eventually("the block is told", async || {
        let kinds = world.webhooks.event_types(&checkout.order);
        kinds.contains(&"order.blocked".to_owned()).then_some(())
    })
    .await;
    world.end().await;
}
