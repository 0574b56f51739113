//! Untrusted clients: forged prices, tokens, origins and callbacks have no effect.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use support::{HttpResponse, World, WorldConfig, pay_in_full, secrets};

#[tokio::test]
async fn a_browser_cannot_set_a_price() {
    let world = World::start().await;
    for field in [
        "amount",
        "price",
        "currency",
        "title",
        "reference",
        "metadata",
    ] {
        let mut request = json!({ "store": "demo", "product": "ebook" });
        request[field] = json!("0.01");
        let response = world.customer().request_order(&request).await;
        response.refused(400, "invalid_request").naming(field);
    }
    let checkout = world.customer().open("ebook").await;
    let quote = checkout.quote("BTC").await;
    for field in ["amount", "amount_in_crypto", "amount_in_usd", "address"] {
        let mut choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
        choice[field] = json!("0.00000001");
        let response = checkout.post("/attempt", &choice).await;
        response.refused(400, "invalid_request").naming(field);
        let mut paid = json!({});
        paid[field] = json!("0.00000001");
        let response = checkout.post("/paid", &paid).await;
        response.refused(400, "invalid_request").naming(field);
    }
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    world.end().await;
}

#[tokio::test]
async fn a_quantity_is_limited_by_the_product() {
    let world = World::start().await;
    let request = async |quantity: Value| {
        let request = json!({ "store": "demo", "product": "ebook", "quantity": quantity });
        world.customer().request_order(&request).await
    };
    for quantity in [json!(0), json!(6), json!(1_000_000_000)] {
        request(quantity)
            .await
            .refused(422, "quantity_out_of_range");
    }
    for quantity in [json!(-1), json!(1.5), json!("1"), json!(true), json!([1])] {
        request(quantity).await.refused(400, "invalid_request");
    }
    let five = request(json!(5)).await.with(201);
    assert_eq!(five.text_at("/order/amount"), "99.50");
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"].as_array().unwrap().len(), 1);
    world.end().await;
}

#[tokio::test]
async fn an_unknown_product_cannot_be_ordered() {
    let world = World::start().await;
    for (store, product, code) in [
        ("demo", "yacht", "unknown_product"),
        ("demo", "", "unknown_product"),
        ("unknown", "ebook", "unknown_store"),
        ("", "ebook", "unknown_store"),
        ("../demo", "ebook", "unknown_store"),
    ] {
        let request = json!({ "store": store, "product": product });
        world
            .customer()
            .request_order(&request)
            .await
            .refused(404, code);
    }
    world.end().await;
}

#[tokio::test]
async fn malformed_bodies_are_rejected() {
    let world = World::start().await;
    let url = format!("{}/v1/checkout", world.proxy_url());
    let send = async |media: &str, body: String| {
        let request = world.http().post(&url).header("content-type", media);
        HttpResponse::read(request.body(body).send().await.unwrap()).await
    };
    let request = r#"{"store":"demo","product":"ebook"}"#.to_owned();
    let form = send("application/x-www-form-urlencoded", request.clone()).await;
    form.refused(415, "unsupported_media_type");
    send("text/plain", request)
        .await
        .refused(415, "unsupported_media_type");
    let list = "[\"demo\", \"ebook\", null, null, null, null]";
    for body in ["", "null", "[]", list, "{", "{\"store\":\"demo\"}", "\u{0}"] {
        let response = send("application/json", body.to_owned()).await;
        response.refused(400, "invalid_request");
    }
    let huge = format!("{{\"store\":\"{}\"}}", "x".repeat(70_000));
    send("application/json", huge)
        .await
        .refused(413, "payload_too_large");
    let request = world.http().delete(&url).send().await.unwrap();
    HttpResponse::read(request)
        .await
        .refused(405, "method_not_allowed");
    world.end().await;
}

#[tokio::test]
async fn unknown_foreign_and_expired_tokens_get_the_same_response() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let unknown = "0".repeat(64);
    let shouted = checkout.token().to_uppercase();
    let wrong = [
        unknown.as_str(),
        "",
        "abc",
        &checkout.token()[..63],
        &shouted,
        secrets::STORE_KEY,
        &checkout.order,
    ];
    let paths = [
        (Method::GET, "/v1/checkout"),
        (Method::GET, "/v1/checkout/quotes"),
        (Method::GET, "/v1/checkout/events"),
        (Method::POST, "/v1/checkout/attempt"),
        (Method::POST, "/v1/checkout/paid"),
    ];
    let mut bodies = Vec::new();
    for (method, path) in &paths {
        for token in wrong.iter().map(|token| Some(*token)).chain([None]) {
            let body = json!({ "crypto_code": "BTC", "quote_id": "conv_1" });
            let body = (*method == Method::POST).then_some(&body);
            let response = world
                .customer()
                .send(method.clone(), path, token, body)
                .await;
            bodies.push(response.refused(404, "not_found").without_request_id());
        }
    }
    // A valid token after its expiry: one month after the order's end.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(32 * 24));
    let expired = checkout.get("").await.refused(404, "not_found");
    support::eventually("the order's end is reported", async || {
        (world.webhooks.accepted(&checkout.order).len() == 2).then_some(())
    })
    .await;
    bodies.push(expired.without_request_id());
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:#?}");
    world.end().await;
}

#[tokio::test]
async fn a_client_token_opens_only_its_own_order() {
    let world = World::start().await;
    let (mine, yours) = (
        world.customer().open("ebook").await,
        world.customer().open("mug").await,
    );
    yours.choose("BTC").await;
    assert_eq!(mine.view().await["id"], mine.order.as_str());
    assert_eq!(mine.view().await["attempt"], Value::Null);
    let path = format!("/v1/orders/{}", yours.order);
    let response = world
        .customer()
        .send(Method::GET, &path, Some(mine.token()), None)
        .await;
    response.refused(401, "unauthorized");
    world.end().await;
}

#[tokio::test]
async fn a_page_of_another_origin_is_rejected() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let shop = world.shop_url();
    for origin in [
        "https://evil.example",
        "https://other.example",
        "null",
        &shop.replace("127.0.0.1", "localhost"),
        &format!("{shop}.evil.example"),
    ] {
        let page = world.customer().from_page_of(origin);
        let request = json!({ "store": "demo", "product": "ebook" });
        let responses = [
            page.request_order(&request).await,
            checkout.from_page_of(origin).get("").await,
            checkout.from_page_of(origin).get("/quotes").await,
            checkout.from_page_of(origin).get("/events").await,
            checkout
                .from_page_of(origin)
                .post("/paid", &json!({}))
                .await,
        ];
        for response in responses {
            let response = response.refused(403, "origin_not_allowed");
            let allowed = response.header("access-control-allow-origin");
            let is_a_stores = origin == "https://other.example";
            assert_eq!(allowed, is_a_stores.then_some(origin));
        }
    }
    let listed = checkout.get("").await.with(200);
    assert_eq!(
        listed.header("access-control-allow-origin"),
        Some(shop.as_str())
    );
    assert_eq!(listed.header("access-control-allow-credentials"), None);
    assert_eq!(listed.header("vary"), Some("origin"));
    world.end().await;
}

#[tokio::test]
async fn a_preflight_allows_only_listed_origins() {
    let world = World::start().await;
    let request = async |origin: &str| {
        let request = world.http().request(
            Method::OPTIONS,
            format!("{}/v1/checkout", world.proxy_url()),
        );
        let request = request
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type",
            );
        HttpResponse::read(request.send().await.unwrap())
            .await
            .with(204)
    };
    let shop = world.shop_url();
    let ours = request(&shop).await;
    assert_eq!(
        ours.header("access-control-allow-origin"),
        Some(shop.as_str())
    );
    assert_eq!(
        ours.header("access-control-allow-methods"),
        Some("GET, POST")
    );
    let headers = ours.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("authorization") && headers.contains("content-type"));
    let theirs = request("https://evil.example").await;
    assert_eq!(theirs.header("access-control-allow-origin"), None);
    assert_eq!(theirs.header("access-control-allow-methods"), None);
    world.end().await;
}

#[tokio::test]
async fn a_forged_callback_changes_nothing() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let known = world.sandbox().invoice_of(&checkout.address().await).await;
    let calls = async |token: &str, body: String| {
        let url = format!("{}/callbacks/{token}", world.proxy_url());
        let request = world
            .http()
            .post(url)
            .header("content-type", "application/json");
        HttpResponse::read(request.body(body).send().await.unwrap()).await
    };
    let completed = |id: &str| json!({ "invoice_id": id, "status": "COMPLETED" }).to_string();
    for body in [
        completed(&known),
        completed("unknown"),
        completed("' OR 1=1"),
    ] {
        let response = calls(secrets::CALLBACK_TOKEN, body).await.with(200);
        assert_eq!(
            (response.text.as_str(), response.header("content-type")),
            ("", None)
        );
    }
    for garbage in ["", "null", "{}", "{\"invoice_id\":7}"] {
        let response = calls(secrets::CALLBACK_TOKEN, garbage.to_owned()).await;
        response.refused(400, "invalid_request");
    }
    let wrong = &secrets::CALLBACK_TOKEN[1..];
    calls(wrong, completed(&known))
        .await
        .refused(404, "not_found");
    calls("x", "garbage".into()).await.refused(404, "not_found");
    // Time for a change of the order that must not happen.
    support::pause(Duration::from_millis(1500)).await;
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    pay_in_full(&world, &checkout).await;
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
    let refused = checkout
        .request_attempt("DOGE")
        .await
        .refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(world.sandbox().count("POST", "/invoice").await, codes.len());
    world.skip(Duration::from_secs(61));
    checkout.choose("DOGE").await;
    world.end().await;
}

#[tokio::test]
async fn only_listed_origins_frame_the_page() {
    let world = World::start().await;
    let request = async |path: &str| {
        let request = world.http().get(format!("{}{path}", world.proxy_url()));
        HttpResponse::read(request.send().await.unwrap())
            .await
            .with(200)
    };
    for (path, ancestors) in [
        (
            "/pay?store=demo",
            format!("frame-ancestors 'self' {}", world.shop_url()),
        ),
        (
            "/pay?store=other",
            "frame-ancestors 'self' https://other.example".to_owned(),
        ),
        ("/pay?store=unknown", "frame-ancestors 'self'".to_owned()),
        // The page without a store may be framed only by itself, for its gallery.
        ("/pay?store=", "frame-ancestors 'self'".to_owned()),
        ("/pay", "frame-ancestors 'self'".to_owned()),
    ] {
        let page = request(path).await;
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.ends_with(&ancestors), "{path}: {policy}");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"));
        let trusted = "require-trusted-types-for 'script'; trusted-types default;";
        assert!(policy.contains(trusted), "{policy}");
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains('*'),
            "{policy}"
        );
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        // The opener of the window cannot navigate it.
        assert_eq!(
            page.header("cross-origin-opener-policy"),
            Some("same-origin")
        );
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        // A page with a Cross-Origin-Embedder-Policy frames only what has one, and says that it may be framed.
        assert_eq!(
            page.header("cross-origin-embedder-policy"),
            Some("require-corp")
        );
        assert_eq!(
            page.header("cross-origin-resource-policy"),
            Some("cross-origin")
        );
    }
    let shop = world.shop_url();
    for (query, store, page) in [
        (format!("store=demo&pages={shop}"), "\"demo\"", "listed"),
        (format!("store=other&pages={shop}"), "\"other\"", "unlisted"),
        (format!("store=unknown&pages={shop}"), "null", "unlisted"),
        // Two stores: one must be named.
        (format!("store=&pages={shop}"), "null", "unlisted"),
    ] {
        let module = request(&format!("/admission.js?{query}")).await;
        for part in [
            format!("\"store\":{store}"),
            format!("\"pages\":[\"{page}\"]"),
        ] {
            assert!(module.text.contains(&part), "{query}: {}", module.text);
        }
        for (name, value) in [
            ("content-type", "text/javascript; charset=utf-8"),
            ("cache-control", "no-store"),
            ("access-control-allow-origin", "*"),
        ] {
            assert_eq!(module.header(name), Some(value), "{query}");
        }
    }
    let hosted = request("/pay?store=demo&hosted=").await;
    assert_eq!(hosted.header("cross-origin-embedder-policy"), None);
    world.end().await;
    let world = World::start_with(WorldConfig {
        image_origins: vec!["https://cdn.example".to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let page = format!("{}/pay?store=demo", world.proxy_url());
    let page = world.http().get(page).send().await.unwrap();
    let policy = HttpResponse::read(page).await;
    assert_eq!(
        policy.header("cross-origin-embedder-policy"),
        Some("credentialless"),
        "pictures of servers that do not send Cross-Origin-Resource-Policy are shown"
    );
    world.end().await;
}
