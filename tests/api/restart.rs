//! Restarts and crashes of the proxy: nothing is lost, nothing happens twice, and a repeated request with its
//! `Idempotency-Key` is still the same request.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use support::{Program, World, WorldConfig, eventually, pay_in_full};

use crate::helpers::{paid_event_count, sequences};
use crate::idempotency::{KEY, book, database, is_replayed, open_order, orders, send_until_done};

async fn restart(world: &mut World) {
    world.stop_proxy().await;
    world.start_proxy().await;
}

#[tokio::test]
async fn an_order_survives_a_restart_at_every_step() {
    let mut world = World::start_with(WorldConfig {
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    restart(&mut world).await;
    let shown = checkout.choose("BTC").await;
    restart(&mut world).await;
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["address"], shown["attempt"]["address"]);
    assert_eq!(checkout.report_paid().await["status"], "checking");
    restart(&mut world).await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    // The last blocks are mined while the proxy is stopped.
    world.stop_proxy().await;
    world.sandbox().mine(2).await;
    world.start_proxy().await;
    checkout.wait_for("paid").await;
    restart(&mut world).await;
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let events = world.store().events_of(&checkout.order).await;
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    let paid = world.webhooks.accepted(&checkout.order);
    assert_eq!(
        paid.iter()
            .filter(|delivery| delivery.kind == "order.paid")
            .count(),
        1
    );
    world.end().await;
}

#[tokio::test]
async fn events_not_delivered_before_a_restart_are_delivered_after_it() {
    let mut world = World::start().await;
    world.store_link.cut().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    world.stop_proxy().await;
    world.store_link.restore().await;
    world.skip(Duration::from_hours(1));
    world.start_proxy().await;
    let delivery = eventually("order.paid is delivered", async || {
        Some(world.webhooks.event_types(&checkout.order)).filter(|kinds| kinds.len() >= 3)
    })
    .await;
    assert_eq!(
        delivery,
        ["order.created", "order.attempt_opened", "order.paid"]
    );
    world.end().await;
}

#[tokio::test]
async fn an_attempt_interrupted_by_a_restart_does_not_block_the_order() {
    let mut world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    let slow = json!({ "endpoint": "create_invoice", "kind": "slow", "delay_ms": 1500 });
    world.sandbox().inject_fault(slow).await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
    let (url, token) = (world.proxy_url(), checkout.token().to_owned());
    let http = world.http().clone();
    let asking = tokio::spawn(async move {
        let request = http.post(format!("{url}/v1/checkout/attempt"));
        request.bearer_auth(token).json(&choice).send().await
    });
    eventually("an invoice is requested", async || {
        (world.sandbox().count("POST", "/invoice").await == 1).then_some(())
    })
    .await;
    world.stop_proxy().await;
    let _ = asking.await;
    world.start_proxy().await;
    world.skip(Duration::from_secs(30));
    eventually("an attempt can be opened", async || {
        let response = checkout.request_attempt("BTC").await;
        (response.status == 200).then_some(())
    })
    .await;
    pay_in_full(&world, &checkout).await;
    world.end().await;
}

/// Deletes stored responses as if the proxy had crashed between the work and storing them. The claims' leases end at
/// `lease_until`, in milliseconds.
async fn delete_responses(world: &World, lease_until: i64) {
    let unanswered = "UPDATE requests SET status = NULL, body = NULL, kept_until = ?";
    let changed = sqlx::query(unanswered).bind(lease_until);
    let changed = changed.execute(&mut database(world).await).await.unwrap();
    assert!(
        changed.rows_affected() > 0,
        "there was no response to delete"
    );
}

#[tokio::test]
async fn a_crash_before_the_response_is_stored_opens_no_second_order() {
    let world = World::start().await;
    let donation = json!({ "store": "demo", "donation": "coffee", "amount": "5" });
    for (number, request) in [book(), donation].into_iter().enumerate() {
        let key = format!("{KEY}-{number}");
        let first = open_order(&world.customer(), &key, &request)
            .await
            .with(201);
        let lease_until = world.clock.now().as_millisecond() + 30_000;
        delete_responses(&world, lease_until).await;
        let early = open_order(&world.customer(), &key, &request).await;
        let early = early.refused(409, "request_in_progress");
        assert_eq!(early.header("retry-after"), Some("1"));
        world.skip(Duration::from_secs(31));
        let again = open_order(&world.customer(), &key, &request)
            .await
            .with(200);
        assert!(!is_replayed(&again));
        assert_eq!(again.body["order"]["id"], first.body["order"]["id"]);
        let token = again.text_at("/client_token");
        world.customer().with_token(&token, "").view().await;
        // From here on the response is replayed.
        assert!(is_replayed(
            &open_order(&world.customer(), &key, &request)
                .await
                .with(200)
        ));
    }
    assert_eq!(orders(&world.store()).await.len(), 2);
    // A key with a lost claim does not open the order at another price.
    delete_responses(&world, 0).await;
    sqlx::query("DELETE FROM requests")
        .execute(&mut database(&world).await)
        .await
        .unwrap();
    let mut two = book();
    two["quantity"] = json!(2);
    let other = open_order(&world.customer(), &format!("{KEY}-0"), &two)
        .await
        .with(201);
    assert_eq!(other.text_at("/order/amount"), "39.80");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_each_of_forty_repeated_requests_opens_one_order() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    let start = |world: &World| Program::start(&world.config_file(), &world.file("proxy.log"), &[]);
    let mut cut = 0;
    for (round, responses) in [1, 10, 20, 30].into_iter().enumerate() {
        let mut program = start(&world);
        wait_until_up(&world).await;
        let (customer, keys) = (
            world.customer(),
            (0..40).map(|n| format!("{KEY}-{round}-{n}")),
        );
        let keys: Vec<_> = keys.collect();
        let mut asking = tokio::task::JoinSet::new();
        for key in &keys {
            let request = customer.with_key(key);
            asking.spawn(async move { request.try_order(&book()).await });
        }
        let mut early = BTreeSet::new();
        while early.len() < responses {
            early.extend(asking.join_next().await.unwrap().unwrap());
        }
        program.kill();
        early.extend(asking.join_all().await.into_iter().flatten());
        cut += 40 - early.len();
        // The program uses the real clock, so the leases are moved instead.
        let over = "UPDATE requests SET kept_until = 0 WHERE status IS NULL";
        let over = sqlx::query(over).execute(&mut database(&world).await).await;
        over.unwrap();
        let mut program = start(&world);
        wait_until_up(&world).await;
        for key in &keys {
            send_until_done(&customer, key, &book()).await;
        }
        let found = orders(&world.store()).await;
        assert_eq!(found.len(), (round + 1) * 40);
        assert!(early.is_subset(&found));
        assert_eq!(program.stop().await, Some(0));
    }
    assert!(cut > 0, "every kill came after all requests were done");
    world.start_proxy().await;
    world.end().await;
}

async fn wait_until_up(world: &World) {
    let health = format!("{}/health/ready", world.admin_url());
    eventually("the program answers", async || {
        let response = world.http().get(&health).send().await.ok()?;
        (response.status() == 200).then_some(())
    })
    .await;
}
