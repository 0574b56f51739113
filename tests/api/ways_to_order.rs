//! A journey for each way to open an order without a separate file, and the orders that are refused. The others are in
//! `payments.rs` (a product) and `order_sources.rs`.

use serde_json::{Value, json};
use support::{HttpResponse, World, eventually, pay_in_full};

use crate::helpers::{delivered_events, lamp};

const CDN: &str = "https://cdn.shop.example";
const LOGO: &str = "https://shop.example/logo.svg";

async fn world_with_pictures() -> World {
    World::with(|config| {
        config.store = format!("logo_url = \"{LOGO}\"");
        config.image_origins = vec![CDN.to_owned()];
    })
    .await
}

fn lamp_with(member: &str, value: Value) -> Value {
    let mut lamp = lamp();
    lamp[member] = value;
    lamp
}

fn coffee(amount: &Value) -> Value {
    json!({ "store": "demo", "donation": "coffee", "amount": amount })
}

#[tokio::test]
async fn the_bounds_of_a_donation_are_read_and_it_is_paid_and_reported_only_as_a_donation() {
    let world = World::start().await;
    let shown = world.customer().offer("store=demo&donation=coffee").await;
    let shown = shown.with(200);
    assert_eq!(
        shown.body,
        json!({
            "environment": "test",
            "store": {
                "id": "demo", "name": "Quiet Goods", "theme": "auto",
                "support_url": "mailto:help@quiet-goods.example",
            },
            "title": "A coffee for the shop", "currency": "USD",
            "min": "2.00", "max": "500.00", "suggested": ["3.00", "5.00", "10.00"],
        })
    );

    let coffee = coffee(&json!("35.5"));
    let opened = world.customer().request_order(&coffee).await.with(201);
    assert_eq!(opened.text_at("/order/amount"), "35.50");
    assert_eq!(opened.text_at("/order/title"), "A coffee for the shop");
    assert_eq!(
        opened.body["order"]["lines"],
        Value::Null,
        "nothing is bought"
    );
    let checkout = world.customer().checkout_of(&opened);
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    let kinds = delivered_events(&world, &checkout.order).await;
    assert_eq!(kinds.first().unwrap(), "donation.created");
    assert_eq!(kinds.last().unwrap(), "donation.paid");
    let is_donation = |kind: &String| kind.starts_with("donation.");
    assert!(kinds.iter().all(is_donation), "{kinds:?}");
    let deliveries = world.store().get("/v1/deliveries").await.with(200);
    assert_eq!(deliveries.text_at("/deliveries/0/type"), "donation.paid");
    for event in world.store().events_of(&checkout.order).await {
        let order = &event["data"]["order"];
        assert_eq!(order["price_source"], "customer");
        assert_eq!(order["metadata"], json!({ "donation": "coffee" }));
    }
    // The shop ships on `order.paid`, which is never sent for a donation.
    let known = world.shop_orders().await;
    let is_unpaid = |order: &Value| order["paid_by"].is_null();
    assert!(known.iter().all(is_unpaid), "{known:?}");
    world.end().await;
}

#[tokio::test]
async fn an_order_that_the_catalogue_does_not_allow_is_refused() {
    let world = World::start().await;
    let request = async |request: &Value| world.customer().request_order(request).await;
    let product = |store: &str, product: &str| json!({ "store": store, "product": product });
    let donation = |store: &str, donation: &str| json!({ "store": store, "donation": donation, "amount": "3" });
    for (order, code) in [
        (product("demo", "yacht"), "unknown_product"),
        (product("demo", "coffee"), "unknown_product"),
        (product("unknown", "ebook"), "unknown_store"),
        (donation("demo", "yacht"), "unknown_donation"),
        (donation("unknown", "coffee"), "unknown_store"),
    ] {
        request(&order).await.refused(404, code);
    }
    let books =
        |quantity: &Value| json!({ "store": "demo", "product": "ebook", "quantity": quantity });
    for quantity in [json!(0), json!(6), json!(1_000_000_000)] {
        let refused = request(&books(&quantity)).await;
        refused.refused(422, "quantity_out_of_range");
    }
    for amount in ["1.99", "500.01", "0", "999999999999", "3.005"] {
        let refused = request(&coffee(&json!(amount))).await;
        let refused = refused.refused(422, "donation_out_of_range");
        let message = refused.naming("amount").text_at("/error/message");
        assert!(message.contains("2.00 to 500.00 USD"), "{message}");
    }
    for wrong in [
        coffee(&json!(3.5)),
        coffee(&json!("-3")),
        books(&json!(-1)),
        books(&json!(1.5)),
    ] {
        request(&wrong).await.refused(400, "invalid_request");
    }
    assert!(world.store().orders().await.is_empty());
    for amount in ["2", "500"] {
        request(&coffee(&json!(amount))).await.with(201);
    }
    let five = request(&books(&json!(5))).await.with(201);
    assert_eq!(five.text_at("/order/amount"), "99.50");
    world.end().await;
}

#[tokio::test]
async fn an_order_of_the_stores_server_is_paid_and_reported() {
    let world = World::start().await;
    let order = lamp_with("assets", json!(["LTC", "ETH"]));
    let opened = world.store().open(&order).await.with(201);
    let token = opened.text_at("/client_token");
    let page = format!("{}/pay?store=demo#client_token={token}", world.proxy_url());
    assert_eq!(opened.text_at("/checkout_url"), page);
    assert_eq!(opened.text_at("/order/reference"), "lamp-1");
    assert_eq!(opened.text_at("/order/price_source"), "store_server");
    assert_eq!(opened.body.get("notice"), None);
    let checkout = world.customer().checkout_of(&opened);
    // It offers only the assets of its request.
    let quotes = checkout.quotes().await;
    let codes: Vec<_> = quotes.iter().map(|quote| &quote["crypto_code"]).collect();
    assert_eq!(codes, ["ETH", "LTC"]);
    let choice = json!({ "crypto_code": "BTC", "quote_id": quotes[0]["quote_id"] });
    let refused = checkout.post("/attempt", &choice).await;
    refused.refused(422, "asset_unavailable");
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    let paid = world.webhooks.accepted(&checkout.order).pop().unwrap();
    assert_eq!(paid.kind, "order.paid");
    let order = &paid.body["data"]["order"];
    assert_eq!(
        (&order["reference"], &order["amount"]),
        (&json!("lamp-1"), &json!("42.00"))
    );
    world.wait_until_paid_in_shop(&checkout.order).await;
    world.end().await;
}

#[tokio::test]
async fn a_reference_names_one_order_at_one_price_also_after_its_end() {
    let world = World::start().await;
    let store = world.store();
    let first = store.open(&lamp()).await.with(201);
    let again = store.open(&lamp()).await.with(200);
    let tokens = [&first, &again].map(|opened| opened.text_at("/client_token"));
    assert_ne!(tokens[0], tokens[1]);
    for token in &tokens {
        let checkout = world.customer().with_token(token, "");
        assert_eq!(checkout.view().await["id"], first.body["order"]["id"]);
    }
    // Of an order that has ended, no person has to look at it: no error is logged.
    let mut ended = lamp_with("reference", json!("lamp-0"));
    let opened = store.open(&ended).await.with(201);
    let cancel = format!("/v1/orders/{}/cancel", opened.text_at("/order/id"));
    store.post(&cancel, &json!({})).await.with(200);
    let again = store.open(&ended).await.with(200);
    assert!(again.text_at("/notice").contains("use a new reference"));
    ended["amount"] = json!("42.01");
    store.open(&ended).await.refused(409, "order_conflict");
    let error = "a reference came again at another price";
    assert!(!world.logged(error), "an order that has ended");

    world.expect_error(error);
    for (field, other) in [("amount", "42.01"), ("currency", "EUR")] {
        let refused = store.open(&lamp_with(field, json!(other))).await;
        refused.refused(409, "order_conflict");
    }
    let kept = store.get("/v1/orders?reference=lamp-1").await.with(200);
    assert_eq!(kept.text_at("/orders/0/amount"), "42.00");
    world.end().await;
}

/// The member that is refused, and the lines of an order of 42.00 USD.
const WRONG_LINES: &str = r#"
lines [{"title":"x","amount":"41.99"}]
lines [{"title":"x","amount":"42.00"},{"title":"y","unit_amount":"0.01"}]
lines[1].title [{"title":"x"},{"title":""}]
lines[0].quantity [{"title":"x","quantity":0}]
lines[0].amount [{"title":"x","amount":"42.001"}]
lines[0].amount [{"title":"x","amount":"-42.00"}]
lines[1].amount [{"title":"x","amount":"43.00"},{"title":"y","kind":"discount","amount":"1.00"}]
lines[1].amount [{"title":"x","amount":"42.00"},{"title":"y","kind":"discount","amount":"-0.00"}]
lines[1].quantity [{"title":"x","amount":"43.00"},{"title":"y","kind":"discount","quantity":1,"amount":"-1.00"}]
lines[1].unit_amount [{"title":"x","amount":"40.00"},{"title":"y","kind":"shipping","unit_amount":"2.00"}]
lines [{"title":"x","amount":"42.00"},{"title":"y","kind":"discount","amount":"-43.00"}]
lines[0].amount [{"title":"x","quantity":2,"unit_amount":"20.00","amount":"42.00"}]
lines[0].image_url [{"title":"x","image_url":"https://tracker.example/p.png"}]
lines[0].image_url [{"title":"x","image_url":"https://shop.example/logo.svg"}]
"#;

#[tokio::test]
async fn a_wrong_member_of_an_order_is_named() {
    let world = world_with_pictures().await;
    for (member, value) in [
        ("amount", json!("1.999")),
        ("return_url", json!("https://evil.example/")),
        ("cancel_url", json!("https://evil.example/")),
        ("metadata", json!({ "note": "x".repeat(4096) })),
        ("expires_in_seconds", json!(1)),
        ("price", json!("1")),
    ] {
        let refused = world.store().open(&lamp_with(member, value)).await;
        refused.refused(400, "invalid_request").naming(member);
    }
    let refuse = async |field: &str, lines: Value| {
        let refused = world.store().open(&lamp_with("lines", lines)).await;
        let refused = refused.refused(400, "invalid_request").naming(field);
        let is_picture = field.ends_with("image_url");
        assert_eq!(refused.text.contains("image_origins"), is_picture);
    };
    for line in WRONG_LINES.trim().lines() {
        let (field, lines) = line.split_once(' ').unwrap();
        refuse(field, serde_json::from_str(lines).unwrap()).await;
    }
    refuse("lines", json!(vec![json!({ "title": "x" }); 51])).await;
    assert!(world.store().orders().await.is_empty());
    world.end().await;
}

async fn shown(world: &World, opened: &HttpResponse) -> Value {
    world.customer().checkout_of(opened).view().await
}

#[tokio::test]
async fn lines_are_shown_as_the_stores_server_sent_or_signed_them_and_a_product_is_one() {
    let world = world_with_pictures().await;
    let picture = format!("{CDN}/mug.jpg");
    let lines = json!([
        { "title": "Enamel mug", "quantity": 2, "unit_amount": "12.5", "image_url": picture },
        { "title": "A gift", "amount": "0" },
        { "title": "Ten percent off", "kind": "discount", "amount": "-2.5" },
        { "title": "Delivery", "kind": "shipping", "amount": "15" },
        { "title": "VAT", "kind": "tax", "amount": "4.50" },
    ]);
    let expected = json!([
        { "title": "Enamel mug", "quantity": 2, "unit_amount": "12.50", "amount": "25.00", "image_url": picture },
        { "title": "A gift", "quantity": 1, "amount": "0.00" },
        { "title": "Ten percent off", "kind": "discount", "quantity": 1, "amount": "-2.50" },
        { "title": "Delivery", "kind": "shipping", "quantity": 1, "amount": "15.00" },
        { "title": "VAT", "kind": "tax", "quantity": 1, "amount": "4.50" },
    ]);
    let sent = world.store().open(&lamp_with("lines", lines.clone())).await;
    let view = shown(&world, &sent.with(201)).await;
    assert_eq!(view["lines"], expected);
    assert_eq!(view["store"]["logo_url"], LOGO);
    let sign = async |reference: &str, lines: Value| {
        let mut claims = world.token_signer().claims(reference, "42.00");
        claims["lines"] = lines;
        let request = json!({ "order_token": world.token_signer().sign(&claims) });
        world.customer().request_order(&request).await
    };
    let signed = sign("cart-2", lines).await.with(201);
    assert_eq!(signed.body["order"]["lines"], expected);
    // The maximum number of lines, with titles of usual length; lines without amounts have no sum.
    let fifty = json!(vec![json!({ "title": "x".repeat(40), "quantity": 3 }); 50]);
    let fifty = sign("cart-3", fifty).await.with(201);
    assert_eq!(fifty.body["order"]["lines"].as_array().unwrap().len(), 50);
    let wrong = json!([{ "title": "A lamp", "image_url": "https://tracker.example/p.png" }]);
    let refused = sign("cart-4", wrong).await;
    refused.refused(401, "invalid_order_token");
    assert!(world.logged("lines[0].image_url"), "the log names the line");

    let page = world.customer().from_page_of("https://other.example");
    let request = json!({ "store": "other", "product": "ebook" });
    let opened = page.request_order(&request).await.with(201);
    assert_eq!(
        opened.body["order"]["lines"],
        json!([{
            "title": "Another e-book", "quantity": 1, "unit_amount": "7.00", "amount": "7.00",
            "image_url": format!("{CDN}/ebook.jpg"),
        }])
    );
    let request = json!({ "store": "demo", "product": "sticker", "quantity": 3 });
    let opened = world.customer().request_order(&request).await.with(201);
    let line = &opened.body["order"]["lines"][0];
    assert_eq!(line["quantity"], 3);
    assert_eq!(line["image_url"], Value::Null);
    assert_eq!(line["amount"], opened.body["order"]["amount"]);
    world.end().await;
}

/// Source: blockonomics/woocommerce-plugin#329: a currency without a price.
#[tokio::test]
async fn an_order_that_the_account_cannot_price_is_refused_and_names_the_currencies_that_it_can() {
    let world = World::with(|config| {
        config.currency = "VND";
        config.account = ("EUR", "0.9143");
        // With the hosted flow another currency would be a warning.
        config.checkout_url = Some(String::new());
    })
    .await;
    let alarm = "no order of the store can be paid: the gateway's account prices orders in";
    world.expect_error(alarm);
    let order = json!({ "amount": "250000", "currency": "VND", "reference": "cart-1" });
    let refused = world.store().open(&order).await;
    let refused = refused.refused(422, "currency_unavailable");
    let message = refused.naming("currency").text_at("/error/message");
    assert!(message.contains("EUR and USD"), "{message}");
    // A page says so before anything is chosen.
    let signer = world.token_signer();
    let mut claims = signer.claims("cart-2", "250000");
    claims["currency"] = json!("VND");
    let offer = world.customer().offer_of_token(&signer.sign(&claims)).await;
    offer.refused(422, "currency_unavailable");
    eventually("the log names it", async || {
        world.logged(alarm).then_some(())
    })
    .await;
    world.end().await;
}
