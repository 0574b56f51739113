//! Attempts: quotes, and the choice of an asset. The simulation has invoices that must not be shown, and checks every view.

use std::time::Duration;

use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use support::World;

use crate::helpers::ebook;

async fn invoices(world: &World) -> usize {
    world.sandbox().count("POST", "/invoice").await
}

/// For how long prices are offered is in `proxy/src/payments/price_cache.rs`.
#[tokio::test]
async fn an_opened_order_carries_its_quotes_once_prices_are_known() {
    let world = World::start().await;
    let book = ebook();
    let open = async || world.customer().request_order(&book).await.with(201);
    assert_eq!(open().await.body.get("quotes"), None);
    assert_eq!(world.sandbox().count("GET", "/prices").await, 0);
    let listed = world.customer().open("ebook").await.quotes().await;
    let opened = open().await;
    let carried = opened.body["quotes"].as_array().unwrap();
    assert_eq!(carried.len(), listed.len());
    assert_eq!(world.sandbox().count("GET", "/prices").await, 1);
    // Each can be chosen.
    let chosen = json!({ "crypto_code": "BTC", "quote_id": carried[0]["quote_id"] });
    let checkout = world.customer().checkout_of(&opened);
    let view = checkout.post("/attempt", &chosen).await.with(200).body;
    assert_eq!(view["attempt"]["crypto_code"], carried[0]["crypto_code"]);
    world.end().await;
}

#[tokio::test]
async fn an_asset_that_cannot_be_paid_shows_the_reason_and_is_rejected() {
    let world = World::with(|config| config.unknown_asset = true).await;
    // The last is shown, and never guessed.
    let [range, unavailable] = ["amount_out_of_range", "asset_unavailable"];
    for (product, asset, network, reason, code) in [
        ("sticker", "BTC", "Bitcoin", "below_minimum", range),
        ("piano", "BNB", "BNB Chain", "above_maximum", range),
        ("ebook", "USDTSOL", "", "unknown_asset", unavailable),
    ] {
        let checkout = world.customer().open(product).await;
        let quote = checkout.quote(asset).await;
        assert_eq!(quote["available"], false, "{quote}");
        assert_eq!(quote["reason"], reason, "{quote}");
        assert_eq!(quote["network"], network, "{quote}");
        if reason == "unknown_asset" {
            assert_eq!(quote["amount_in_crypto"], Value::Null, "{quote}");
            assert_eq!(quote["asset_name"], asset, "{quote}");
        }
        checkout.request_attempt(asset).await.refused(422, code);
        assert_eq!(checkout.view().await["status"], "open");
    }
    assert_eq!(invoices(&world).await, 0);
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
    assert_eq!(invoices(&world).await, 1);
    world.skip(Duration::from_secs(time_left().await - 59));
    let second = checkout.choose("ETH").await;
    assert_ne!(second["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(invoices(&world).await, 2);
    // One that the customer says to have paid is kept until it expires.
    checkout.report_paid().await;
    world.skip(Duration::from_secs(14 * 60 + 30));
    let kept = checkout.request_attempt("ETH").await.with(200).body;
    assert_eq!(kept["status"], "checking", "{kept}");
    assert_eq!(kept["attempt"]["address"], second["attempt"]["address"]);
    assert_eq!(invoices(&world).await, 2);
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
    assert_eq!(invoices(&world).await, 0);
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
