//! Orders opened by a product of the catalogue, from the shop's page to the shop's backend.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use support::{
    CONTRACT, Checkout, HttpResponse, World, WorldConfig, eventually, pay_in_full, within,
};

use crate::helpers::{event_types, next_order, sequences};

#[tokio::test]
async fn an_opened_order_carries_its_quotes_while_the_price_cache_is_fresh() {
    let world = World::start().await;
    let book = json!({ "store": "demo", "product": "ebook" });
    let open = async || world.customer().request_order(&book).await.with(201).body;
    assert_eq!(open().await.get("quotes"), None);
    assert_eq!(world.sandbox().count("GET", "/prices").await, 0);
    let checkout = world.customer().open("ebook").await;
    let listed = checkout.quotes().await;
    let opened = open().await;
    let terms = |quotes: &[Value]| -> Vec<Value> {
        let terms = quotes.iter().map(|quote| {
            json!([
                quote["crypto_code"],
                quote["amount_in_crypto"],
                quote["quote_id"]
            ])
        });
        terms.collect()
    };
    let carried = opened["quotes"].as_array().unwrap();
    assert_eq!(terms(carried), terms(&listed));
    assert_eq!(world.sandbox().count("GET", "/prices").await, 1);
    // Each can be chosen.
    let token = opened["client_token"].as_str().unwrap();
    let order = opened["order"]["id"].as_str().unwrap();
    let chosen = json!({ "crypto_code": "BTC", "quote_id": carried[0]["quote_id"] });
    let checkout = world.customer().with_token(token, order);
    let view = checkout.post("/attempt", &chosen).await.with(200).body;
    assert_eq!(view["attempt"]["crypto_code"], carried[0]["crypto_code"]);
    // Half of the time that a price is offered for has passed.
    world.skip(Duration::from_secs(31));
    assert_eq!(open().await.get("quotes"), None);
    world.end().await;
}

#[tokio::test]
async fn a_product_is_paid_and_the_shop_accepts_the_signed_webhook() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("BTC").await;
    assert_eq!(
        (&view["amount"], &view["currency"]),
        (&json!("19.90"), &json!("USD"))
    );
    assert_eq!(checkout.report_paid().await["status"], "checking");

    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    let view = checkout.wait_for("processing").await;
    let confirmations = json!({ "count": 1, "required": 3 });
    assert_eq!(view["attempt"]["confirmations"], confirmations);

    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["remaining_in_crypto"], "0.00000000");
    assert_eq!(view["next_poll_seconds"], 60);
    world.wait_until_paid_in_shop(&checkout.order).await;

    world.wait_for_deliveries().await;
    let events = world.store().events_of(&checkout.order).await;
    let known = event_types(&events);
    // A poll between the payment and its first block is not guaranteed.
    let landmarks: Vec<&str> = known
        .iter()
        .copied()
        .filter(|kind| *kind != "order.payment_seen")
        .collect();
    assert_eq!(
        landmarks,
        [
            "order.created",
            "order.attempt_opened",
            "order.processing",
            "order.paid"
        ]
    );
    assert!(
        sequences(&events)
            .into_iter()
            .eq(1..=u64::try_from(known.len()).unwrap())
    );
    assert_eq!(
        world.webhooks.event_types(&checkout.order),
        event_types(&events)
    );
    let record = world.store().order(&checkout.order).await;
    assert_eq!(record["status"], "paid");
    assert!(record["settled_at"].is_string(), "{record}");
    assert_eq!(
        record["attempt"]["received_in_crypto"],
        record["attempt"]["amount_in_crypto"]
    );
    world.end().await;
}

#[tokio::test]
async fn each_of_the_nine_assets_can_be_paid_with() {
    let world = World::start().await;
    for code in [
        "USDTTRC20",
        "USDTERC20",
        "BTC",
        "ETH",
        "TRX",
        "LTC",
        "DOGE",
        "BCH",
        "BNB",
    ] {
        let checkout = world.customer().open("ebook").await;
        let view = checkout.choose(code).await;
        let attempt = &view["attempt"];
        let (address, uri) = (attempt["address"].as_str(), attempt["qr_string"].as_str());
        let bare = address.unwrap().rsplit(':').next().unwrap();
        assert!(uri.unwrap().contains(bare), "{attempt}");
        let warnings = attempt["warnings"].as_array().unwrap();
        let kinds: Vec<&str> = warnings
            .iter()
            .map(|warning| warning["kind"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                "only_this_asset",
                "confirmations",
                "network_fee",
                "late_price"
            ]
        );
        assert_eq!(
            (&warnings[1]["number"], &warnings[3]["number"]),
            (&json!(3), &json!(15))
        );
        pay_in_full(&world, &checkout).await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_page_with_the_current_view_gets_304_without_a_body() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.get("").await.with(200);
    let tag = first.headers[ETAG].clone();
    let calls = async |tag: &str| {
        let url = format!("{}/v1/checkout", world.proxy_url());
        let request = world.http().get(url).bearer_auth(checkout.token());
        request.header(IF_NONE_MATCH, tag).send().await.unwrap()
    };
    let tag = tag.to_str().unwrap();
    let same = calls(tag).await;
    assert_eq!(same.status(), 304);
    assert_eq!(same.headers()[ETAG].to_str().unwrap(), tag);
    assert_eq!(same.headers()["cache-control"], "no-store");
    assert_eq!(same.text().await.unwrap(), "");
    checkout.choose("BTC").await;
    let changed = calls(tag).await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()[ETAG].to_str().unwrap(), tag);
    world.end().await;
}

#[tokio::test]
async fn the_stream_sends_a_change_without_a_request() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let mut stream = checkout.stream().await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut buffer = String::new();
    let mut statuses = Vec::new();
    assert_eq!(next_order(&mut stream, &mut buffer).await["status"], "open");
    checkout.choose("LTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    while statuses.last().is_none_or(|status| status != "paid") {
        let view = next_order(&mut stream, &mut buffer).await;
        statuses.push(view["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(statuses.first().unwrap(), "awaiting_payment");
    world.end().await;
}

#[tokio::test]
async fn an_asset_that_cannot_carry_the_price_shows_the_reason_and_is_rejected() {
    let world = World::start().await;
    for (product, code, reason) in [
        ("sticker", "BTC", "below_minimum"),
        ("piano", "BNB", "above_maximum"),
    ] {
        let checkout = world.customer().open(product).await;
        let quote = checkout.quote(code).await;
        assert_eq!(quote["available"], false, "{quote}");
        assert_eq!(quote["reason"], reason, "{quote}");
        let network = if code == "BTC" {
            "Bitcoin"
        } else {
            "BNB Chain"
        };
        assert_eq!(
            (&quote["asset"], &quote["network"]),
            (&json!(code), &json!(network))
        );
        checkout
            .request_attempt(code)
            .await
            .refused(422, "amount_out_of_range");
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
    assert_eq!(
        (&quote["asset"], &quote["asset_name"], &quote["network"]),
        (&json!("USDTSOL"), &json!("USDTSOL"), &json!(""))
    );
    checkout
        .request_attempt("USDTSOL")
        .await
        .refused(422, "asset_unavailable");
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    world.end().await;
}

#[tokio::test]
async fn choosing_the_same_asset_twice_shows_the_same_invoice() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("ETH").await;
    let second = checkout.choose("ETH").await;
    assert_eq!(first["attempt"]["address"], second["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

#[tokio::test]
async fn in_the_last_minute_of_an_invoice_the_same_asset_is_another_invoice() {
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
    world.skip(Duration::from_secs(time_left().await - 59));
    let second = checkout.choose("ETH").await;
    assert_ne!(second["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 2);
    world.end().await;
}

#[tokio::test]
async fn an_order_marked_as_paid_keeps_its_invoice_until_it_expires() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let first = checkout.choose("ETH").await;
    checkout.report_paid().await;
    world.skip(Duration::from_secs(14 * 60 + 30));
    let again = checkout.request_attempt("ETH").await.with(200).body;
    assert_eq!(again["status"], "checking", "{again}");
    assert_eq!(again["attempt"]["address"], first["attempt"]["address"]);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    world.end().await;
}

#[tokio::test]
async fn nothing_is_paid_before_an_asset_is_chosen() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let response = checkout.post("/paid", &json!({})).await;
    response.refused(409, "nothing_to_pay");
    world.end().await;
}

#[tokio::test]
async fn a_receipt_goes_only_to_a_valid_address() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let response = checkout.post("/paid", &json!({ "email": "me" })).await;
    response.refused(400, "invalid_request").naming("email");
    let email = json!({ "email": "me@example.org" });
    checkout.post("/paid", &email).await.with(200);
    support::eventually("the gateway knows the address", async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == "me@example.org" && invoice["marked_as_paid"] == true).then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["status"], "checking");
    world.end().await;
}

#[tokio::test]
async fn an_address_is_sent_to_the_gateway_before_the_order_is_marked_as_paid() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let email = json!({ "email": "me@example.org" });
    checkout.post("/email", &email).await.with(200);
    checkout.choose("BTC").await;
    pay_in_full(&world, &checkout).await;
    eventually("the gateway knows the address", async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == "me@example.org").then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn an_address_is_stored_at_once_and_sent_with_the_payment() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    assert_eq!(checkout.view().await["email_kept"], false);
    let keeps = async |email: &str| checkout.post("/email", &json!({ "email": email })).await;
    keeps("me")
        .await
        .refused(400, "invalid_request")
        .naming("email");
    assert_eq!(
        keeps("first@example.org").await.with(200).body["email_kept"],
        true
    );
    assert_eq!(keeps("").await.with(200).body["email_kept"], false);
    // Entered before an asset is chosen, and kept after a reload.
    keeps("first@example.org").await.with(200);
    keeps("last@example.org").await.with(200);
    checkout.choose("LTC").await;
    checkout.choose("BTC").await;
    let reloaded = checkout.get("").await.with(200);
    assert_eq!(reloaded.body["email_kept"], true);
    assert!(
        !reloaded.text.contains("example.org"),
        "the link can be shared"
    );
    checkout.report_paid().await;
    eventually("the gateway knows the address", async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == "last@example.org" && invoice["marked_as_paid"] == true).then_some(())
    })
    .await;
    pay_in_full(&world, &checkout).await;
    // The store delivers to it.
    let events = world.store().events_of(&checkout.order).await;
    let paid = events.iter().find(|event| event["type"] == "order.paid");
    assert_eq!(
        paid.unwrap()["data"]["order"]["receipt_email"],
        "last@example.org"
    );
    // A link to the order does not allow sending the receipt elsewhere, not even by clearing the address first.
    keeps("late@example.org").await.refused(409, "order_closed");
    keeps("").await.refused(409, "order_closed");
    assert_eq!(
        keeps("last@example.org").await.with(200).body["email_kept"],
        true
    );
    world.end().await;
}

#[tokio::test]
async fn an_address_that_is_stored_after_i_have_paid_is_sent_and_a_correction_too() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    checkout.report_paid().await;
    for email in ["typo@example.org", "right@example.org"] {
        let kept = json!({ "email": email });
        checkout.post("/email", &kept).await.with(200);
        eventually("the gateway knows the address", async || {
            let invoice = world.sandbox().invoices().await.remove(0);
            (invoice["email"] == email).then_some(())
        })
        .await;
    }
    let email = json!({ "email": "another@example.org" });
    checkout.post("/paid", &email).await.with(200);
    eventually("the gateway knows the last address", async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == "another@example.org").then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn an_address_sent_with_i_have_paid_replaces_the_stored_one() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let kept = json!({ "email": "first@example.org" });
    checkout.post("/email", &kept).await.with(200);
    checkout.choose("BTC").await;
    let email = json!({ "email": "last@example.org" });
    let view = checkout.post("/paid", &email).await.with(200).body;
    assert_eq!(view["email_kept"], true);
    eventually("the gateway knows the later address", async || {
        let invoice = world.sandbox().invoices().await.remove(0);
        (invoice["email"] == "last@example.org").then_some(())
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn many_subscriptions_cost_one_poll_per_interval() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let before = world.sandbox().count("GET", "/invoice").await;
    let seconds = 3;
    let until = std::time::Duration::from_secs(seconds);
    let _ = within(until, async || {
        let watchers: [&Checkout; 10] = [&checkout; 10];
        for watcher in watchers {
            watcher.view().await;
        }
        None::<()>
    })
    .await;
    let calls = world.sandbox().count("GET", "/invoice").await - before;
    assert!((1..=5).contains(&calls), "{calls} calls in {seconds} s");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_ip_address_opens_thirty_orders_per_minute_and_others_are_not_limited() {
    let world = World::start_with(WorldConfig {
        trusted_proxies: vec!["127.0.0.0/8".to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let open_order = async |from: &str, body: &Value| {
        let request = world
            .http()
            .post(format!("{}/v1/checkout", world.proxy_url()))
            .header("x-forwarded-for", from)
            .json(body);
        let response = HttpResponse::read(request.send().await.unwrap()).await;
        CONTRACT.check(&Method::POST, "/v1/checkout", &response);
        response
    };
    let ebook = json!({ "store": "demo", "product": "ebook" });
    let mut opened = 0;
    let refused = loop {
        let response = open_order("192.0.2.1", &ebook).await;
        if response.status != 201 {
            break response.refused(429, "rate_limited");
        }
        opened += 1;
    };
    // The clock runs meanwhile: every two seconds allow one more.
    assert!((30..60).contains(&opened), "{opened}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    // The client's own entry precedes the one that the reverse proxy adds.
    for (from, status) in [
        ("203.0.113.9, 192.0.2.1", 429),
        ("192.0.2.1, 203.0.113.9", 201),
    ] {
        let coffee = json!({ "store": "demo", "donation": "coffee", "amount": "3" });
        open_order(from, &coffee).await.with(status);
    }
    let signed = json!({ "order_token": world.token_signer().token("signed-1", "5.00") });
    open_order("192.0.2.1", &signed).await.with(201);
    world.skip(Duration::from_secs(2));
    open_order("192.0.2.1", &ebook).await.with(201);
    world.end().await;
}
