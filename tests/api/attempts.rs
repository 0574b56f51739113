//! Quotes, the choice of an asset, and what an open page costs the proxy and the gateway.

use std::time::Duration;

use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use support::{World, WorldConfig, within};

#[tokio::test]
async fn an_opened_order_carries_its_quotes_while_the_price_cache_is_fresh() {
    let world = World::start().await;
    let book = json!({ "store": "demo", "product": "ebook" });
    let open = async || world.customer().request_order(&book).await.with(201);
    assert_eq!(open().await.body.get("quotes"), None);
    assert_eq!(world.sandbox().count("GET", "/prices").await, 0);
    let listed = world.customer().open("ebook").await.quotes().await;
    let opened = open().await;
    let terms = |quotes: &[Value]| -> Vec<Value> {
        let members = ["crypto_code", "amount_in_crypto", "quote_id"];
        let terms = quotes
            .iter()
            .map(|quote| json!(members.map(|name| quote[name].clone())));
        terms.collect()
    };
    let carried = opened.body["quotes"].as_array().unwrap();
    assert_eq!(terms(carried), terms(&listed));
    assert_eq!(world.sandbox().count("GET", "/prices").await, 1);
    // Each can be chosen.
    let chosen = json!({ "crypto_code": "BTC", "quote_id": carried[0]["quote_id"] });
    let checkout = world.customer().checkout_of(&opened);
    let view = checkout.post("/attempt", &chosen).await.with(200).body;
    assert_eq!(view["attempt"]["crypto_code"], carried[0]["crypto_code"]);
    // Half of the time that a price is offered for has passed.
    world.skip(Duration::from_secs(31));
    assert_eq!(open().await.body.get("quotes"), None);
    world.end().await;
}

#[tokio::test]
async fn an_asset_that_cannot_carry_the_price_shows_the_reason_and_is_rejected() {
    let world = World::start().await;
    for (product, code, network, reason) in [
        ("sticker", "BTC", "Bitcoin", "below_minimum"),
        ("piano", "BNB", "BNB Chain", "above_maximum"),
    ] {
        let checkout = world.customer().open(product).await;
        let quote = checkout.quote(code).await;
        assert_eq!(quote["available"], false, "{quote}");
        assert_eq!(quote["reason"], reason, "{quote}");
        assert_eq!(quote["network"], network, "{quote}");
        let refused = checkout.request_attempt(code).await;
        refused.refused(422, "amount_out_of_range");
        assert_eq!(checkout.view().await["status"], "open");
    }
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    world.end().await;
}

#[tokio::test]
async fn an_unknown_asset_is_shown_and_never_guessed() {
    let world = World::start_with(WorldConfig {
        unknown_asset: true,
        ..WorldConfig::default()
    })
    .await;
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("USDTSOL").await;
    assert_eq!(quote["available"], false, "{quote}");
    assert_eq!(quote["reason"], "unknown_asset", "{quote}");
    assert_eq!(quote["amount_in_crypto"], Value::Null, "{quote}");
    let names = ["asset", "asset_name", "network"].map(|name| quote[name].clone());
    assert_eq!(names, ["USDTSOL", "USDTSOL", ""]);
    let refused = checkout.request_attempt("USDTSOL").await;
    refused.refused(422, "asset_unavailable");
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    world.end().await;
}

#[tokio::test]
async fn the_same_asset_is_the_same_invoice_until_its_last_minute() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("ETH").await;
    let time_left = async || {
        let left = checkout.view().await["attempt"]["expires_in_seconds"].as_u64();
        left.unwrap()
    };
    // Some seconds to spare for the test itself.
    world.skip(Duration::from_secs(time_left().await - 75));
    let again = checkout.choose("ETH").await;
    assert_eq!(again["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.skip(Duration::from_secs(time_left().await - 59));
    let second = checkout.choose("ETH").await;
    assert_ne!(second["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 2);
    // One that the customer says to have paid is kept until it expires.
    checkout.report_paid().await;
    world.skip(Duration::from_secs(14 * 60 + 30));
    let kept = checkout.request_attempt("ETH").await.with(200).body;
    assert_eq!(kept["status"], "checking", "{kept}");
    assert_eq!(kept["attempt"]["address"], second["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 2);
    world.end().await;
}

#[tokio::test]
async fn an_expired_or_swapped_price_opens_no_attempt() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let expired = checkout.quote("BTC").await;
    let valid_for = expired["valid_for_seconds"].as_u64().unwrap();
    assert!((50..=60).contains(&valid_for), "{valid_for}");
    // A request in flight while the clock is moved would have an old nonce.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_secs(61));
    let swapped = checkout.quote("LTC").await;
    for quote_id in [&expired["quote_id"], &swapped["quote_id"], &json!("conv_1")] {
        let choice = json!({ "crypto_code": "BTC", "quote_id": quote_id });
        let refused = checkout.post("/attempt", &choice).await;
        refused.refused(409, "quote_expired");
    }
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    checkout.choose("BTC").await;
    world.end().await;
}

#[tokio::test]
async fn attempts_of_one_order_are_limited() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let codes = ["BTC", "ETH", "LTC", "TRX", "BNB", "BCH"];
    for code in codes {
        checkout.choose(code).await;
    }
    let refused = checkout.request_attempt("DOGE").await;
    let refused = refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(world.sandbox().count("POST", "/invoice").await, codes.len());
    world.skip(Duration::from_secs(61));
    checkout.choose("DOGE").await;
    world.end().await;
}

#[tokio::test]
async fn a_page_with_the_current_view_gets_304_without_a_body() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let tag = checkout.get("").await.with(200).headers[ETAG].clone();
    let conditional_get = async || {
        let url = format!("{}/v1/checkout", world.proxy_url());
        let request = world.http().get(url).bearer_auth(checkout.token());
        request.header(IF_NONE_MATCH, &tag).send().await.unwrap()
    };
    let same = conditional_get().await;
    assert_eq!(same.status(), 304);
    assert_eq!(same.headers()[ETAG], tag);
    assert_eq!(same.headers()["cache-control"], "no-store");
    assert_eq!(same.text().await.unwrap(), "");
    checkout.choose("BTC").await;
    let changed = conditional_get().await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()[ETAG], tag);
    world.end().await;
}

#[tokio::test]
async fn many_subscriptions_cost_one_poll_per_interval() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let mut streams = Vec::new();
    for _ in 0..16 {
        let mut stream = checkout.stream().await;
        stream.chunk().await.unwrap().expect("the order");
        streams.push(stream);
    }
    let before = world.sandbox().count("GET", "/invoice").await;
    let time = Duration::from_secs(3);
    let _ = within(time, async || {
        for _ in 0..10 {
            checkout.view().await;
        }
        None::<()>
    })
    .await;
    let calls = world.sandbox().count("GET", "/invoice").await - before;
    assert!((1..=5).contains(&calls), "{calls} calls in {time:?}");
    world.end().await;
}
