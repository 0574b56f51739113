//! `Idempotency-Key`: a client that lost a response repeats its request, and nothing is done twice, also after a restart or a crash.
//! Restarts and kills at any moment are in `tests/campaign`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use support::{Checkout, Customer, HttpResponse, StoreServer, World, eventually};

use crate::helpers::{ebook, lamp, until_limited};

/// A key of 128 random bits.
pub(crate) const KEY: &str = "5f1c0f4e9d8b4a6c8e2d7b3a1f905c46";

pub(crate) fn is_replayed(response: &HttpResponse) -> bool {
    response.header("idempotency-replayed") == Some("true")
}

pub(crate) async fn orders(store: &StoreServer) -> BTreeSet<String> {
    let orders = store.orders().await;
    let ids = orders.iter().map(|order| order["id"].as_str().unwrap());
    ids.map(ToOwned::to_owned).collect()
}

pub(crate) async fn database(world: &World) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(world.database());
    let options = options.busy_timeout(Duration::from_secs(5));
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub(crate) async fn open_order(customer: &Customer, key: &str, request: &Value) -> HttpResponse {
    customer.with_key(key).request_order(request).await
}

async fn claims(world: &World) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM requests");
    count.fetch_one(&mut database(world).await).await.unwrap()
}

/// The choice of an asset at its quote.
async fn bitcoin(checkout: &Checkout) -> Value {
    let quote = checkout.quote("BTC").await;
    json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] })
}

#[tokio::test]
async fn a_replayed_response_carries_a_fresh_token() {
    let world = World::start().await;
    let donation = json!({ "store": "demo", "donation": "coffee", "amount": "5" });
    let signed = json!({ "order_token": world.token_signer().token("lamp-2", "42.00") });
    for (number, request) in [ebook(), donation, signed].into_iter().enumerate() {
        let customer = world.customer().with_key(&format!("{KEY}-{number}"));
        let first = customer.request_order(&request).await.with(201);
        assert!(!is_replayed(&first));
        world.skip(Duration::from_mins(10));
        let again = customer.request_order(&request).await.with(201);
        assert!(is_replayed(&again));
        assert_eq!(again.header("cache-control"), Some("no-store"));
        let exposed = again.header("access-control-expose-headers").unwrap();
        for header in ["idempotency-replayed", "retry-after"] {
            assert!(exposed.contains(header), "{exposed}");
        }
        assert_eq!(again.body["order"], first.body["order"]);
        assert_ne!(again.body["client_token"], first.body["client_token"]);
        for opened in [&first, &again] {
            let token = opened.text_at("/client_token");
            let seen = world.customer().with_token(&token, "").view().await;
            assert_eq!(seen["id"], first.body["order"]["id"]);
        }
    }
    assert_eq!(orders(&world.store()).await.len(), 3);

    let store = world.store().with_idempotency_key("7");
    let first = store.open(&lamp()).await.with(201);
    let again = store.open(&lamp()).await.with(201);
    assert!(is_replayed(&again));
    let token = again.text_at("/client_token");
    let link = again.text_at("/checkout_url");
    assert!(link.ends_with(&format!("#client_token={token}")), "{link}");
    // A response without a body is replayed too.
    let event = &store.events_of(&first.text_at("/order/id")).await[0]["id"];
    let path = format!("/v1/events/{}/redeliver", event.as_str().unwrap());
    let store = world.store().with_idempotency_key("8");
    for is_again in [false, true] {
        let response = store.post(&path, &json!({})).await.with(202);
        assert_eq!(is_replayed(&response), is_again);
    }
    world.end().await;
}

#[tokio::test]
async fn a_result_of_another_version_is_named_and_nothing_is_executed_again() {
    let world = World::with(|config| config.store = "gateway_access = true".to_owned()).await;
    open_order(&world.customer(), KEY, &ebook()).await.with(201);
    let store = world.store().with_idempotency_key("7");
    let onboarding = json!({ "merchant_name": "A shop" });
    let path = "/v1/gateway/aggregator/merchants";
    store.post(path, &onboarding).await.with(200);
    let orders_before = orders(&world.store()).await;
    let calls = world.sandbox().count("POST", "/aggregator/merchants").await;
    let earlier = r#"UPDATE requests SET body = '{"client_token":"5f"}'"#;
    let mut database = database(&world).await;
    let changed = sqlx::query(earlier).execute(&mut database).await.unwrap();
    assert_eq!(changed.rows_affected(), 2);
    for response in [
        open_order(&world.customer(), KEY, &ebook()).await,
        store.post(path, &onboarding).await,
    ] {
        assert!(!is_replayed(&response));
        response.refused(409, "idempotency_result_unreadable");
    }
    assert_eq!(orders(&world.store()).await, orders_before);
    let calls_after = world.sandbox().count("POST", "/aggregator/merchants").await;
    assert_eq!(calls_after, calls);
    world.end().await;
}

#[tokio::test]
async fn a_key_of_a_wrong_shape_or_with_another_request_is_rejected() {
    let elsewhere = "https://second.example";
    let world = World::with(|config| config.origins = vec![elsewhere.to_owned()]).await;
    // 1 to 255 visible characters, and 16 at least without authorization.
    let name = "Idempotency-Key";
    for key in ["", "a b", "\u{e4}", "\t", &"k".repeat(256)] {
        let response = world.store().with_idempotency_key(key).open(&lamp()).await;
        response.refused(400, "invalid_request").naming(name);
    }
    let longest = world.store().with_idempotency_key(&"k".repeat(255));
    longest.open(&lamp()).await.with(201);
    let short = open_order(&world.customer(), &KEY[..15], &ebook()).await;
    short.refused(400, "invalid_request").naming(name);

    open_order(&world.customer(), KEY, &ebook()).await.with(201);
    let mut two = ebook();
    two["quantity"] = json!(2);
    let page = world.customer().from_page_of(elsewhere);
    for (customer, request) in [(&world.customer(), &two), (&page, &ebook())] {
        let other = open_order(customer, KEY, request).await;
        other.refused(422, "idempotency_key_reused");
    }
    // The same body at another URL of the same route.
    let mut cancels = Vec::new();
    for reference in ["lamp-2", "lamp-3"] {
        let mut lamp = lamp();
        lamp["reference"] = json!(reference);
        let opened = world.store().open(&lamp).await.with(201);
        cancels.push(format!("/v1/orders/{}/cancel", opened.text_at("/order/id")));
    }
    let store = world.store().with_idempotency_key("9");
    store.post(&cancels[0], &json!({})).await.with(200);
    let other = store.post(&cancels[1], &json!({})).await;
    other.refused(422, "idempotency_key_reused");
    // The same key at another route is another key.
    store.open(&lamp()).await.with(200);
    world.end().await;
}

#[tokio::test]
async fn an_error_is_not_stored_and_an_attempt_with_a_lost_response_is_not_opened_again() {
    let world = World::start().await;
    let mut wrong = ebook();
    wrong["product"] = json!("no such thing");
    for _ in 0..2 {
        let response = open_order(&world.customer(), KEY, &wrong).await;
        assert!(!is_replayed(&response));
        response.refused(404, "unknown_product");
    }
    open_order(&world.customer(), KEY, &ebook()).await.with(201);
    // Nor is a failure of the gateway.
    let checkout = world.customer().open("ebook").await.with_key(KEY);
    assert_eq!(checkout.view().await["status"], "open");
    let choice = bitcoin(&checkout).await;
    let fault =
        json!({ "endpoint": "create_invoice", "kind": "status", "status": 500, "times": 1 });
    world.sandbox().inject_fault(fault).await;
    checkout
        .post("/attempt", &choice)
        .await
        .refused(503, "gateway_unavailable");
    let opened = checkout.post("/attempt", &choice).await.with(200);
    assert!(!is_replayed(&opened));
    let again = checkout.post("/attempt", &choice).await.with(200);
    assert!(is_replayed(&again));
    assert_eq!(again.body, opened.body);
    let requests = world.sandbox().count("POST", "/invoice").await;
    assert_eq!(requests, 2, "the refused one, and the one that is repeated");
    // A read is never replayed.
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_completed_after_its_client_disconnects() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let choice = bitcoin(&checkout).await;
    let fault =
        json!({ "endpoint": "create_invoice", "kind": "slow", "delay_ms": 500, "times": 1 });
    world.sandbox().inject_fault(fault).await;
    let url = format!("{}/v1/checkout/attempt", world.proxy_url());
    let request = world.http().post(url).bearer_auth(checkout.token());
    let request = request
        .header("idempotency-key", KEY)
        .header("origin", world.shop_url());
    let gone = request
        .json(&choice)
        .timeout(Duration::from_millis(150))
        .send()
        .await;
    assert!(gone.unwrap_err().is_timeout());
    let checkout = checkout.with_key(KEY);
    let response = eventually("the response is stored", async || {
        let response = checkout.post("/attempt", &choice).await;
        (response.status != 409).then_some(response)
    })
    .await;
    assert!(is_replayed(&response.with(200)));
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

#[tokio::test]
async fn keys_of_two_callers_are_separate() {
    let world = World::start().await;
    // Two stores' servers, and two shops' pages.
    let stores = [world.store(), world.other_store()];
    let pages = [
        world.customer(),
        world.customer().from_page_of("https://other.example"),
    ];
    let mut opened = Vec::new();
    for (number, id) in ["demo", "other"].into_iter().enumerate() {
        let store = stores[number].with_idempotency_key(KEY);
        opened.push(store.open(&lamp()).await.with(201));
        let book = json!({ "store": id, "product": "ebook" });
        opened.push(open_order(&pages[number], KEY, &book).await.with(201));
    }
    // Two orders; and two tokens of one order are one caller.
    let one = world.customer().open("ebook").await;
    let two = world.customer().open("ebook").await;
    for checkout in [&one, &two] {
        checkout.choose("BTC").await;
        let page = checkout.with_key(KEY);
        let view = page.post("/paid", &json!({})).await.with(200);
        assert_eq!(view.text_at("/id"), checkout.order);
        opened.push(view);
    }
    assert!(!opened.iter().any(is_replayed));
    // A page of an unlisted origin learns nothing about stored responses.
    let evil = one.from_page_of("https://evil.example").with_key(KEY);
    let evil = evil.post("/paid", &json!({})).await;
    evil.refused(403, "origin_not_allowed");
    world.end().await;
}

#[tokio::test]
async fn no_token_is_stored_and_old_responses_are_deleted() {
    let world = World::start().await;
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let opened = open_order(&world.customer(), KEY, &ebook()).await.with(201);
        tokens.push(opened.text_at("/client_token"));
        let opened = world.store().with_idempotency_key(KEY).open(&lamp()).await;
        tokens.push(opened.with(201).text_at("/client_token"));
    }
    let kept = "SELECT body FROM requests WHERE body IS NOT NULL";
    let kept: Vec<String> = sqlx::query_scalar(kept)
        .fetch_all(&mut database(&world).await)
        .await
        .unwrap();
    assert_eq!(kept.len(), 2);
    for body in &kept {
        assert!(
            body.contains("ord_") && !body.contains("client_token"),
            "{body}"
        );
        assert!(!tokens.iter().any(|token| body.contains(token)), "{body}");
    }
    // An order accepts attempts for 30 days at most.
    world.skip(Duration::from_hours(30 * 24));
    // Time for a deletion that must not happen.
    support::pause(Duration::from_millis(300)).await;
    assert_eq!(claims(&world).await, 2);
    world.skip(Duration::from_hours(25));
    eventually("old responses are deleted", async || {
        (claims(&world).await == 0).then_some(())
    })
    .await;
    world.end().await;
}

/// `proxy/src/rate_limit.rs` has what an address may do, and `deployment.rs` which address counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_over_the_limit_of_its_address_is_refused_before_its_key_is_stored() {
    let world = World::with(|config| config.trusted_proxies = vec!["127.0.0.1".to_owned()]).await;
    let customer = world.customer();
    let customer = customer.with_header("x-forwarded-for", "198.51.100.7");
    let (opened, refused) = until_limited(async |number| {
        let key = format!("{KEY}-{number}");
        open_order(&customer, &key, &ebook()).await
    })
    .await;
    assert!(opened >= 30, "{opened}");
    let refused = refused.refused(429, "rate_limited");
    // The clock runs meanwhile: every two seconds allow one more.
    assert!(matches!(refused.header("retry-after"), Some("1" | "2")));
    assert_eq!(claims(&world).await, i64::try_from(opened).unwrap());
    // Orders signed by the store's server are not limited by IP address.
    let signed = json!({ "order_token": world.token_signer().token("signed-1", "5.00") });
    customer.request_order(&signed).await.with(201);
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
    for (number, request) in [ebook(), donation].into_iter().enumerate() {
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
    let mut two = ebook();
    two["quantity"] = json!(2);
    let other = open_order(&world.customer(), &format!("{KEY}-0"), &two).await;
    assert_eq!(other.with(201).text_at("/order/amount"), "39.80");
    world.end().await;
}
