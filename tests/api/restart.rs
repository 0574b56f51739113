//! A restart while an attempt is opened, and a crash before a response is stored: nothing is lost, nothing happens twice.
//! Restarts and kills at any moment are in `tests/campaign`.

use std::time::Duration;

use serde_json::json;
use support::{World, eventually, pay_in_full};

use crate::idempotency::{KEY, book, database, is_replayed, open_order, orders};

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
/// `leased_until`, in milliseconds; `kept_until` names a claim.
async fn delete_responses(world: &World, leased_until: i64) {
    let unanswered =
        "UPDATE requests SET status = NULL, body = NULL, kept_until = $1, leased_until = $1";
    let changed = sqlx::query(unanswered).bind(leased_until);
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
        let send = async || open_order(&world.customer(), &key, &request).await;
        let first = send().await.with(201);
        let leased_until = world.clock.now().as_millisecond() + 30_000;
        delete_responses(&world, leased_until).await;
        let early = send().await.refused(409, "request_in_progress");
        assert_eq!(early.header("retry-after"), Some("1"));
        world.skip(Duration::from_secs(31));
        let again = send().await.with(200);
        assert!(!is_replayed(&again));
        assert_eq!(again.body["order"]["id"], first.body["order"]["id"]);
        let token = again.text_at("/client_token");
        world.customer().with_token(&token, "").view().await;
        // From here on the response is replayed.
        assert!(is_replayed(&send().await.with(200)));
    }
    assert_eq!(orders(&world.store()).await.len(), 2);
    // A key with a lost claim does not open the order at another price.
    sqlx::query("DELETE FROM requests")
        .execute(&mut database(&world).await)
        .await
        .unwrap();
    let mut two = book();
    two["quantity"] = json!(2);
    let other = open_order(&world.customer(), &format!("{KEY}-0"), &two).await;
    assert_eq!(other.with(201).text_at("/order/amount"), "39.80");
    world.end().await;
}
