//! A cart, from its page to an order at the proxy.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::shop::{SECRET_KEY, Shop, TOKEN_KEY};

type Asked = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A proxy that answers every order with `status`, and remembers what it was asked.
async fn proxy(status: StatusCode) -> (String, Asked) {
    async fn open(
        State((status, asked)): State<(StatusCode, Asked)>,
        headers: HeaderMap,
        Json(body): Json<Value>,
    ) -> (StatusCode, Json<Value>) {
        asked.lock().unwrap().push((headers, body));
        let response = json!({ "order": { "id": "ord_9" }, "client_token": "ct_9" });
        (status, Json(response))
    }
    let asked = Asked::default();
    let router = Router::new()
        .route("/v1/orders", post(open))
        .with_state((status, Arc::clone(&asked)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, asked)
}

async fn check_out(shop: &Shop, form: &'static str) -> reqwest::Response {
    shop.http
        .post(format!("{}/cart", shop.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn the_backend_names_the_price_and_the_page_gets_the_token() {
    let (proxy_url, asked) = proxy(StatusCode::CREATED).await;
    let shop = Shop::start(&proxy_url).await;
    let response = check_out(&shop, "mug=1&sticker=2&amount=0.01&total=0").await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let to = response.headers()["location"].to_str().unwrap().to_owned();

    let (headers, body) = asked.lock().unwrap()[0].clone();
    assert_eq!(headers["authorization"], format!("Bearer {SECRET_KEY}"));
    assert_eq!(
        headers["idempotency-key"],
        body["reference"].as_str().unwrap()
    );
    assert_eq!(to, format!("/cart/{}", body["reference"].as_str().unwrap()));
    assert_eq!(body["amount"], "15.50");
    assert_eq!(body["currency"], "USD");
    assert_eq!(body["title"], "1 × Enamel mug, 2 × Sticker");
    let line = |number: usize| {
        let line = &body["lines"][number];
        (line["title"].clone(), line["quantity"].clone())
    };
    assert_eq!(line(0), (json!("Enamel mug"), json!(1)));
    assert_eq!(line(1), (json!("Sticker"), json!(2)));

    let (status, page) = shop.page(&to).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        page.contains("<florin-checkout store=\"demo\" client-token=\"ct_9\" display=\"frame\">"),
        "{page}"
    );
    assert!(!page.contains(SECRET_KEY));
    let orders = shop.orders().await;
    assert_eq!(orders[0]["id"], "ord_9");
    assert_eq!(orders[0]["paid_by"], json!(null));
}

#[tokio::test]
async fn a_hosted_order_is_asked_for_with_its_email_and_shown_as_wished() {
    let (url, asked) = proxy(StatusCode::CREATED).await;
    let shop = Shop::start(&url).await;
    let form = shop.http.post(format!("{}/hosted", shop.url));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let form = form.body("email=ada%40shop.example&display=redirect&amount=0.01");
    let response = form.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let to = response.headers()["location"].to_str().unwrap().to_owned();
    let (_, body) = asked.lock().unwrap()[0].clone();
    assert_eq!(body["flow"], "hosted");
    assert_eq!(body["customer_email"], "ada@shop.example");
    assert_eq!(body["amount"], "19.90");
    let (_, page) = shop.page(&to).await;
    assert!(page.contains("display=\"redirect\""), "{page}");
    let (_, page) = shop.page(&to.replace("=redirect", "=%22%3E")).await;
    assert!(page.contains("display=\"frame\""), "{page}");
}

#[tokio::test]
async fn a_members_price_is_in_a_token_and_its_key_is_nowhere() {
    let (url, asked) = proxy(StatusCode::CREATED).await;
    let shop = Shop::start(&url).await;
    let begun = shop.http.get(format!("{}/members", shop.url)).send().await;
    let to = begun.unwrap().headers()["location"]
        .to_str()
        .unwrap()
        .to_owned();
    let (status, page) = shop.page(&to).await;
    assert_eq!(status, StatusCode::OK);
    let (_, token) = page.split_once("order-token=\"").unwrap();
    let token = token.split_once('"').unwrap().0;
    assert_eq!(token.split('.').count(), 3);
    assert!(!page.contains(TOKEN_KEY) && !page.contains(SECRET_KEY));
    assert!(
        shop.page(&to).await.1.contains(token),
        "loaded again, it is the same order"
    );
    assert!(asked.lock().unwrap().is_empty(), "the proxy is not asked");
    let (status, _) = shop.page("/members/%22%3E").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_empty_cart_opens_no_order() {
    let (proxy_url, asked) = proxy(StatusCode::CREATED).await;
    let shop = Shop::start(&proxy_url).await;
    let response = check_out(&shop, "mug=0").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_down_opens_nothing_and_the_customer_reads_it() {
    let (refusing, _) = proxy(StatusCode::CONFLICT).await;
    for proxy_url in [refusing.as_str(), "http://127.0.0.1:9"] {
        let shop = Shop::start(proxy_url).await;
        let response = check_out(&shop, "mug=1").await;
        assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
        let page = response.text().await.unwrap();
        assert!(page.contains("Nothing was charged"), "{page}");
        assert_eq!(shop.orders().await, json!([]));
    }
}

#[tokio::test]
async fn another_references_checkout_is_not_found() {
    let shop = Shop::start("http://127.0.0.1:9").await;
    let (status, _) = shop.page("/cart/cart-of-another").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn only_the_inline_page_allows_wasm_in_the_shops_origin() {
    let shop = Shop::start("http://proxy.example").await;
    let policy = |path: &'static str| {
        let url = format!("{}{path}", shop.url);
        let request = shop.http.get(url).send();
        async move {
            let response = request.await.unwrap();
            response.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .to_owned()
        }
    };
    assert!(!policy("/").await.contains("wasm-unsafe-eval"));
    let inline = policy("/inline?product=mug").await;
    assert!(inline.contains("script-src 'self' http://proxy.example 'wasm-unsafe-eval';"));
    assert!(inline.contains("connect-src 'self' http://proxy.example;"));
}
