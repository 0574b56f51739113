//! Offers, which open no order, and choices, which open an order with its attempt. What a quote says of its row is in
//! `proxy/src/payments/offers.rs`.

use std::time::Duration;

use serde_json::{Value, json};
use support::{HttpResponse, World};

use crate::helpers::ebook;
use crate::idempotency::database;

const EBOOK: &str = "store=demo&product=ebook";
const KEY: &str = "0123456789abcdef";

/// Rows of the tables to which opening an order writes.
async fn rows(world: &World) -> i64 {
    let count = "SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM events)
        + (SELECT count(*) FROM client_tokens) + (SELECT count(*) FROM requests)";
    let mut database = database(world).await;
    let count = sqlx::query_scalar(count).fetch_one(&mut database);
    count.await.unwrap()
}

async fn invoices(world: &World) -> usize {
    world.sandbox().count("POST", "/invoice").await
}

#[track_caller]
fn is_chosen(opened: &HttpResponse, crypto_code: &str) {
    assert_eq!(opened.text_at("/order/status"), "awaiting_payment");
    assert_eq!(opened.text_at("/order/attempt/crypto_code"), crypto_code);
    assert_eq!(opened.body.get("refusal"), None);
}

#[tokio::test]
async fn any_number_of_offers_writes_nothing() {
    let world = World::start().await;
    let customer = world.customer();
    let token = world.token_signer().token("cart-1", "25.00");
    for _ in 0..20 {
        let offer = customer.offer(EBOOK).await.with(200);
        assert_eq!(offer.text_at("/amount"), "19.90");
        assert_eq!(offer.text_at("/quotes/0/name"), "Bitcoin");
        let three = format!("{EBOOK}&quantity=3");
        let three = customer.offer(&three).await.with(200);
        assert_eq!(three.text_at("/amount"), "59.70");
        let coffee = "store=demo&donation=coffee&amount=3.5";
        let coffee = customer.offer(coffee).await.with(200);
        assert_eq!(coffee.text_at("/amount"), "3.50");
        let signed = customer.offer_of_token(&token).await.with(200);
        assert_eq!(signed.text_at("/amount"), "25.00");
        assert_eq!(signed.body.get("order_exists"), None);
    }
    assert_eq!(rows(&world).await, 0);
    assert_eq!(world.sandbox().count("GET", "/prices").await, 1);
    // `ways_to_order.rs` has what the catalogue does not allow.
    for query in [
        "store=demo",
        "store=demo&product=ebook&amount=1",
        "store=demo&donation=coffee&quantity=2",
        &format!("order_token={token}"),
    ] {
        customer.offer(query).await.refused(400, "invalid_request");
    }
    let refused = customer.offer_of_token("x").await;
    refused.refused(401, "invalid_order_token");
    let stranger = customer.from_page_of("https://evil.example");
    let refused = stranger.offer(EBOOK).await;
    refused.refused(403, "origin_not_allowed");
    world.end().await;
}

#[tokio::test]
async fn without_prices_an_offer_has_no_quotes() {
    let world = World::start().await;
    let fault = json!({ "endpoint": "prices", "kind": "slow", "delay_ms": 2_000 });
    world.sandbox().inject_fault(fault).await;
    let offer = world.customer().offer(EBOOK).await.with(200);
    assert_eq!(offer.body.get("quotes"), None);
    world.end().await;
}

#[tokio::test]
async fn a_choice_opens_an_order_and_its_attempt_once() {
    let world = World::start().await;
    let customer = world.customer().with_key(KEY);
    let offer = world.customer().offer(EBOOK).await.with(200).body;
    let opened = customer.choose(&ebook(), &offer, "LTC").await.with(201);
    is_chosen(&opened, "LTC");
    let again = customer.choose(&ebook(), &offer, "LTC").await.with(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.body["order"], opened.body["order"]);
    assert_eq!(invoices(&world).await, 1);
    let checkout = world.customer().checkout_of(&again);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    world.end().await;
}

#[tokio::test]
async fn a_choice_that_cannot_be_paid_brings_a_fresh_offer_and_opens_no_order() {
    let world = World::with(|config| config.unknown_asset = true).await;
    let customer = world.customer().with_key(KEY);
    let offer = async || world.customer().offer(EBOOK).await.with(200).body;
    let old = offer().await;
    let sticker = json!({ "store": "demo", "product": "sticker" });
    let refused = async |source: &Value, code: &str, status: u16, error: &str| {
        let refused = customer.choose(source, &offer().await, code).await;
        let refused = refused.refused(status, error);
        refused.body["offer"].clone()
    };
    let unknown = refused(&ebook(), "USDTSOL", 422, "asset_unavailable").await;
    assert_eq!(unknown["amount"], "19.90");
    // Below the minimum of bitcoin.
    let limited = refused(&sticker, "BTC", 422, "amount_out_of_range").await;
    let quotes = limited["quotes"].as_array().unwrap();
    let bitcoin = quotes.iter().find(|quote| quote["crypto_code"] == "BTC");
    assert_eq!(bitcoin.unwrap()["reason"], "below_minimum");
    let swapped = json!({
        "store": "demo", "product": "ebook", "crypto_code": "BTC", "quote_id": old["quotes"][4]["quote_id"],
    });
    let refused = customer.request_order(&swapped).await;
    refused.refused(409, "quote_expired");
    world.skip(Duration::from_secs(90));
    let expired = customer.choose(&ebook(), &old, "BTC").await;
    let expired = expired.refused(409, "quote_expired");
    assert_eq!(rows(&world).await, 0);
    // The key is free for the next choice, by the offer that came with the refusal.
    let fresh = &expired.body["offer"];
    let opened = customer.choose(&ebook(), fresh, "BTC").await;
    is_chosen(&opened.with(201), "BTC");
    world.end().await;
}

#[tokio::test]
async fn an_attempt_that_fails_leaves_its_order_to_the_next_choice() {
    let world = World::start().await;
    let customer = world.customer();
    let offer = customer.offer(EBOOK).await.with(200).body;
    let fault =
        json!({ "endpoint": "create_invoice", "kind": "status", "status": 500, "times": 1 });
    world.sandbox().inject_fault(fault).await;
    let opened = customer.choose(&ebook(), &offer, "BTC").await.with(201);
    assert_eq!(opened.text_at("/refusal/code"), "gateway_unavailable");
    assert_eq!(opened.text_at("/order/status"), "open");
    let checkout = world.customer().checkout_of(&opened);
    checkout.choose("BTC").await;
    assert_eq!(world.store().orders().await.len(), 1);
    world.end().await;
}

#[tokio::test]
async fn a_token_of_an_order_leads_to_that_order_whatever_is_chosen() {
    let world = World::start().await;
    let customer = world.customer();
    let token = world.token_signer().token("cart-1", "25.00");
    let source = json!({ "order_token": token });
    let offer = customer.offer_of_token(&token).await.with(200).body;
    let first = customer.choose(&source, &offer, "BTC").await.with(201);
    let known = customer.offer_of_token(&token).await.with(200);
    assert_eq!(known.body["order_exists"], true);
    // Another asset, at a quote that has expired: the order is shown, and says so.
    world.skip(Duration::from_secs(90));
    let second = customer.choose(&source, &offer, "LTC").await.with(200);
    assert_eq!(second.body["order"]["id"], first.body["order"]["id"]);
    assert_ne!(second.body["client_token"], first.body["client_token"]);
    assert_eq!(second.text_at("/refusal/code"), "quote_expired");
    let checkout = world.customer().checkout_of(&second);
    assert_eq!(checkout.view().await["attempt"]["crypto_code"], "BTC");
    world.end().await;
}

/// What a checkout page comes with, and the page.
async fn first_screen(world: &World, query: &str) -> (Value, String) {
    let page = world.get(&format!("/pay?{query}")).await.with(200);
    (block_of(&page.text), page.text)
}

fn block_of(page: &str) -> Value {
    let (_, block) = page.split_once("id=\"first\">").unwrap();
    serde_json::from_str(block.split_once('<').unwrap().0).unwrap()
}

#[tokio::test]
async fn a_posted_order_token_comes_back_in_a_page_that_nothing_keeps() {
    let world = World::start().await;
    let post = async |store: &str, token: &str| {
        let url = format!("{}/pay?store={store}", world.proxy_url());
        // A page without a referrer hides its origin.
        let request = world.http().post(url).header("origin", "null");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let form = format!("order_token={}", token.replace('<', "%3C"));
        let response = request.body(form).send().await.unwrap();
        let page = HttpResponse::read(response).await.with(200);
        assert_eq!(page.header("cache-control"), Some("no-store, no-transform"));
        let block = block_of(&page.text);
        assert_eq!(block["order_token"], token);
        block["offer"].clone()
    };
    let token = |amount| world.token_signer().token("cart-1", amount);
    for amount in ["25.00", "26.00"] {
        let offer = post("demo", &token(amount)).await;
        assert_eq!(offer["amount"], amount);
        assert_eq!(offer["quotes"][0]["name"], "Bitcoin");
    }
    let valid = token("25.00");
    for (store, refused) in [("demo", "</script>"), ("other", &valid)] {
        assert_eq!(post(store, refused).await, Value::Null, "{store}");
    }
    let source = json!({ "order_token": valid });
    let offer = post("demo", &valid).await;
    let opened = world.customer().with_key(KEY);
    opened.choose(&source, &offer, "BTC").await.with(201);
    assert_eq!(post("demo", &valid).await["order_exists"], true);
    world.end().await;
}

#[tokio::test]
async fn a_page_comes_with_the_offer_in_its_language_and_writes_nothing() {
    let hostile = "</script><!--<b>";
    let world = World::with(|config| {
        config.store =
            format!("[[store.product]]\nsku = \"knot\"\ntitle = \"{hostile}\"\nprice = \"3.00\"\n");
    })
    .await;
    for (query, title, amount) in [
        (EBOOK, "The Quiet Web, an e-book", "19.90"),
        (
            &format!("{EBOOK}&quantity=3"),
            "3 × The Quiet Web, an e-book",
            "59.70",
        ),
        (
            "store=demo&donation=coffee&amount=3.5",
            "A coffee for the shop",
            "3.50",
        ),
        // Nothing in it ends the block or the page.
        ("store=demo&product=knot", hostile, "3.00"),
    ] {
        let (block, page) = first_screen(&world, query).await;
        assert_eq!(block["offer"]["title"], title, "{query}");
        assert_eq!(block["offer"]["amount"], amount, "{query}");
        assert_eq!(block["offer"]["quotes"][0]["available"], true, "{query}");
        // Without JavaScript, too.
        assert!(page.contains(&format!("<p>{amount} USD</p>")), "{query}");
    }
    for (query, language, search) in [
        (EBOOK, "en", "Search currencies"),
        (&format!("{EBOOK}&locale=de-CH"), "de", "Währungen suchen"),
    ] {
        let (block, page) = first_screen(&world, query).await;
        assert_eq!(block["language"], language);
        assert_eq!(block["words"]["search"], search);
        // The texts after the choice are loaded beside the script that needs them.
        let name = format!("assets/{language}.payment-");
        let (_, rest) = page.split_once(&format!("href=\"{name}")).unwrap();
        let (hash, _) = rest.split_once('"').unwrap();
        let path = format!("/{name}{hash}");
        world.get(&path).await.with(200);
    }
    // What is not sold as it is named comes with its store alone.
    for query in [
        "product=yacht",
        "product=ebook&quantity=x",
        "donation=coffee",
        "",
    ] {
        let (block, _) = first_screen(&world, &format!("store=demo&{query}")).await;
        assert_eq!(block["offer"], Value::Null, "{query}");
        assert_eq!(block["store"]["id"], "demo", "{query}");
    }
    let (block, _) = first_screen(&world, "store=unknown&product=ebook").await;
    assert_eq!(block, Value::Null);
    assert_eq!(rows(&world).await, 0);
    assert_eq!(world.sandbox().count("GET", "/prices").await, 1);
    // A page that is kept has the prices of this moment.
    world.sandbox().set_price("BTC", "10000").await;
    world.skip(Duration::from_secs(90));
    let (block, _) = first_screen(&world, EBOOK).await;
    assert_eq!(block["offer"]["quotes"][0]["amount_in_crypto"], "0.00199");
    world.end().await;
}
