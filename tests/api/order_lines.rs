//! The lines of an order, the store's logo, and pictures from the configured `image_origins`.

use serde_json::{Value, json};
use support::{HttpResponse, World, WorldConfig};

const CDN: &str = "https://cdn.shop.example";
const LOGO: &str = "https://shop.example/logo.svg";

async fn world() -> World {
    World::start_with(WorldConfig {
        logo_url: Some(LOGO.to_owned()),
        image_origins: vec![CDN.to_owned()],
        ..WorldConfig::default()
    })
    .await
}

/// An order of 42.00 dollars with these lines.
fn order(reference: &str, lines: &Value) -> Value {
    json!({ "amount": "42.00", "currency": "USD", "reference": reference, "title": "A cart", "lines": lines })
}

async fn shown(world: &World, opened: &HttpResponse) -> Value {
    let token = opened.text_at("/client_token");
    world.customer().with_token(&token, "").view().await
}

#[tokio::test]
async fn lines_are_shown_as_the_stores_server_sent_them() {
    let world = world().await;
    let picture = format!("{CDN}/mug.jpg");
    let lines = json!([
        { "title": "Enamel mug", "quantity": 2, "unit_amount": "12.5", "image_url": picture },
        { "title": "Delivery", "amount": "17" },
    ]);
    let opened = world.store().open(&order("cart-1", &lines)).await.with(201);
    let view = shown(&world, &opened).await;
    let expected = json!([
        { "title": "Enamel mug", "quantity": 2, "unit_amount": "12.50", "amount": "25.00", "image_url": picture },
        { "title": "Delivery", "quantity": 1, "amount": "17.00" },
    ]);
    assert_eq!(view["lines"], expected);
    assert_eq!(view["amount"], "42.00");
    assert_eq!(view["store"]["logo_url"], LOGO);
    // Lines without amounts have no sum to compare with the price.
    let open =
        json!([{ "title": "A lamp" }, { "title": "A bulb", "quantity": 3, "amount": "2.00" }]);
    let opened = world.store().open(&order("cart-2", &open)).await.with(201);
    assert_eq!(shown(&world, &opened).await["lines"][1]["amount"], "2.00");
    let opened = world
        .store()
        .open(&order("cart-3", &json!([])))
        .await
        .with(201);
    assert_eq!(shown(&world, &opened).await["lines"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn an_invalid_line_is_rejected_by_its_name() {
    let world = world().await;
    let good = json!({ "title": "A lamp", "amount": "42.00" });
    let many: Vec<Value> = (0..51).map(|_| json!({ "title": "A bulb" })).collect();
    let elsewhere = "https://tracker.example/p.png";
    for (lines, field) in [
        (json!(many), "lines"),
        (json!([{ "title": "A lamp", "amount": "41.99" }]), "lines"),
        (
            json!([good, { "title": "A bulb", "unit_amount": "0.01" }]),
            "lines",
        ),
        (json!([good, { "title": "" }]), "lines[1].title"),
        (json!([{ "title": "x".repeat(121) }]), "lines[0].title"),
        (
            json!([{ "title": "A lamp", "quantity": 0 }]),
            "lines[0].quantity",
        ),
        (
            json!([{ "title": "A lamp", "amount": "42.001" }]),
            "lines[0].amount",
        ),
        (
            json!([{ "title": "A lamp", "unit_amount": "0.001" }]),
            "lines[0].unit_amount",
        ),
        (
            json!([{ "title": "A lamp", "quantity": 2, "unit_amount": "20.00", "amount": "42.00" }]),
            "lines[0].amount",
        ),
        (
            json!([{ "title": "A lamp", "image_url": elsewhere }]),
            "lines[0].image_url",
        ),
        (
            json!([{ "title": "A lamp", "image_url": LOGO }]),
            "lines[0].image_url",
        ),
    ] {
        let response = world.store().open(&order("cart-1", &lines)).await;
        let response = response.refused(400, "invalid_request");
        assert_eq!(response.body["error"]["field"], field, "{}", response.text);
        if field.ends_with("image_url") {
            assert!(response.text.contains("image_origins"), "{}", response.text);
        }
    }
    assert!(world.store().orders().await.is_empty());
    world.end().await;
}

#[tokio::test]
async fn lines_of_an_order_token_follow_the_same_rules() {
    let world = world().await;
    let signs = |reference: &str, lines: Value| {
        let mut claims = world.token_signer().claims(reference, "42.00");
        claims["lines"] = lines;
        json!({ "order_token": world.token_signer().sign(&claims) })
    };
    let picture = format!("{CDN}/lamp.jpg");
    let lines =
        json!([{ "title": "A lamp", "quantity": 3, "unit_amount": "14.00", "image_url": picture }]);
    let request = signs("lamp-1", lines);
    let opened = world.customer().request_order(&request).await.with(201);
    let line = &opened.body["order"]["lines"][0];
    assert_eq!(
        *line,
        json!({
            "title": "A lamp", "quantity": 3, "unit_amount": "14.00", "amount": "42.00", "image_url": picture,
        })
    );
    // The maximum number of lines, with titles of usual length.
    let line =
        json!({ "title": "x".repeat(40), "quantity": 1, "unit_amount": "0.84", "amount": "0.84" });
    let fifty = json!(vec![line; 50]);
    let opened = world
        .customer()
        .request_order(&signs("lamp-2", fifty))
        .await;
    let opened = opened.with(201);
    assert_eq!(opened.body["order"]["lines"].as_array().unwrap().len(), 50);
    for wrong in [
        json!([{ "title": "A lamp", "amount": "41.99" }]),
        json!([{ "title": "A lamp", "image_url": "https://tracker.example/p.png" }]),
        json!([{ "title": "A lamp", "colour": "red" }]),
    ] {
        let response = world
            .customer()
            .request_order(&signs("lamp-3", wrong))
            .await;
        response.refused(401, "invalid_order_token");
    }
    assert!(world.logged("lines[0].image_url"), "the log names the line");
    world.end().await;
}

#[tokio::test]
async fn a_product_is_a_line_with_its_picture() {
    let world = world().await;
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
    assert_eq!(
        (&line["quantity"], &line["image_url"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(line["amount"], opened.body["order"]["amount"]);
    // A donation buys nothing.
    let request = json!({ "store": "demo", "donation": "coffee", "amount": "3.00" });
    let opened = world.customer().request_order(&request).await.with(201);
    assert_eq!(opened.body["order"]["lines"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn the_page_loads_pictures_only_from_the_stores_origins() {
    let world = world().await;
    for (path, sources) in [
        (
            "/pay?store=demo",
            format!("img-src 'self' data: {CDN} https://shop.example;"),
        ),
        ("/pay?store=other", format!("img-src 'self' data: {CDN};")),
        ("/pay", "img-src 'self' data:;".to_owned()),
    ] {
        let page = world.http().get(format!("{}{path}", world.proxy_url()));
        let page = HttpResponse::read(page.send().await.unwrap())
            .await
            .with(200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains(&sources), "{path}: {policy}");
    }
    world.end().await;
}
