//! Hosted checkouts: POST /checkout, its page, and how it ends.

use serde_json::{Value, json};

use crate::world::World;

pub(crate) fn request() -> Value {
    json!({
        "client_email_id": "customer@shop.example",
        "client_preferred_fiat_currency": "EUR",
        "amount": "46.00",
        "merchant_website": "https://shop.example/thanks",
        "invoice_callback_url": "https://shop.example/callback",
    })
}

async fn open(world: &World, request: &Value) -> String {
    let opened = world.merchant().post("/checkout", request).ok().await;
    opened["session_id"].as_str().unwrap().to_owned()
}

/// Posts what the hosted page posts.
async fn page(world: &World, path: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}/checkout/{path}", world.address);
    let response = world.http.post(url).body(body.to_string()).send().await;
    let response = response.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn view(world: &World, query: &str) -> Value {
    let url = format!("{}/checkout/session?{query}", world.address);
    let response = world.http.get(url).send().await.unwrap();
    response.json().await.unwrap()
}

#[tokio::test]
async fn a_session_names_its_page_by_its_own_id() {
    let world = World::start().await;
    let opened = world.merchant().post("/checkout", &request()).ok().await;
    let id = opened["session_id"].as_str().unwrap();
    let url = opened["payment_process_url"].as_str().unwrap();
    assert_eq!(url, format!("{}/checkout?id={id}", world.address));
    let page = world.http.get(url).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        policy.ends_with("frame-ancestors *") && !policy.contains("unsafe"),
        "{policy}"
    );
}

#[tokio::test]
async fn a_refused_session_has_the_shape_of_its_own() {
    let world = World::start().await;
    for (member, value, message) in [
        (
            "client_email_id",
            json!(null),
            "client_email_id must be a string, and is null",
        ),
        (
            "client_email_id",
            json!("not an address"),
            "client_email_id must be an email address",
        ),
        (
            "client_preferred_fiat_currency",
            json!("XAU"),
            "client_preferred_fiat_currency \"XAU\" is no currency that we take",
        ),
        (
            "amount",
            json!(46),
            "amount must be a string, and is a number",
        ),
        ("amount", json!("0.00"), "amount must be more than zero"),
        (
            "amount",
            json!("1.001"),
            "amount 1.001 has more decimals than EUR has (2)",
        ),
        (
            "amount",
            json!("999999999999"),
            "amount 999999999999 EUR is outside the limits of every asset",
        ),
        (
            "merchant_website",
            json!("javascript:alert(1)"),
            "merchant_website must be an http or https URL of at most 2000 bytes",
        ),
        (
            "invoice_callback_url",
            json!("ftp://shop.example"),
            "invoice_callback_url must be an http or https URL of at most 2000 bytes",
        ),
        ("merchant_id", json!(""), "merchant_id must not be empty"),
    ] {
        let mut request = request();
        request[member] = value;
        let (status, body) = world.merchant().post("/checkout", &request).send().await;
        assert_eq!(
            (status, body),
            (400, json!({"error": true, "message": message}))
        );
    }
}

#[tokio::test]
async fn choosing_an_asset_makes_the_session_an_invoice_of_the_same_id() {
    let world = World::start().await;
    let id = open(&world, &request()).await;
    let choice = json!({"id": id, "crypto_code": "USDTTRC20"});
    let (status, chosen) = page(&world, "choose", &choice).await;
    assert_eq!(status, 200, "{chosen}");
    // 46.00 EUR at 0.92 EUR for a dollar.
    assert_eq!(chosen["deposit"]["amount_in_crypto"], "50.00");
    let svg = chosen["deposit"]["qr_svg"].as_str().unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
    let record = world.merchant().record(&id).await;
    assert_eq!(record["invoice_id"], id);
    assert_eq!(record["wallet_address"], chosen["deposit"]["address"]);
    assert_eq!(
        [
            &record["invoice_amount_in_local_currency"],
            &record["invoice_amount_in_usd"],
            &record["invoice_crypto_amount"],
            &record["depositor_email_id"],
        ],
        ["46.00", "50.00", "50.00", "customer@shop.example"]
    );
    let (again, _) = page(&world, "choose", &choice).await;
    assert_eq!(again, 409);
    let confirm = json!({"marked_as_paid": true, "invoice_id": id});
    let confirmed = world.merchant().post("/confirm", &confirm).ok().await;
    assert_eq!(
        confirmed["merchant_website_redirect_url"],
        "https://shop.example/thanks"
    );
}

#[tokio::test]
async fn a_hosted_payment_completes_after_three_blocks() {
    let world = World::start().await;
    let id = open(&world, &request()).await;
    page(&world, "choose", &json!({"id": id, "crypto_code": "BTC"})).await;
    let (_, paid) = page(&world, "pay", &json!({"id": id})).await;
    assert_eq!(paid["deposit"]["remaining_in_crypto"], "0");
    world.mine(3).await;
    assert_eq!(world.status(&id).await, "COMPLETED");
    assert_eq!(
        view(&world, &format!("id={id}")).await["status"],
        "COMPLETED"
    );
    let (status, _) = page(&world, "pay", &json!({"id": id})).await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn without_an_amount_the_customer_enters_it() {
    let world = World::start().await;
    let mut open_amount = request();
    open_amount.as_object_mut().unwrap().remove("amount");
    let id = open(&world, &open_amount).await;
    assert_eq!(
        view(&world, &format!("id={id}")).await["assets"][2]["available"],
        false
    );
    let shown = view(&world, &format!("id={id}&amount=46")).await;
    assert_eq!(shown["assets"][0]["amount_in_crypto"], "50.00");
    for (amount, status) in [
        (json!(null), 400),
        (json!("0"), 400),
        (json!("1.001"), 400),
        (json!("46"), 200),
    ] {
        let choice = json!({"id": id, "crypto_code": "USDTTRC20", "amount": amount});
        assert_eq!(page(&world, "choose", &choice).await.0, status, "{amount}");
    }
    assert_eq!(
        world.merchant().record(&id).await["invoice_amount_in_local_currency"],
        "46.00"
    );
}

#[tokio::test]
async fn a_choice_outside_the_limits_or_against_the_shop_is_rejected() {
    let world = World::start().await;
    let mut small = request();
    small["amount"] = json!("1.50");
    let id = open(&world, &small).await;
    for choice in [
        json!({"id": id, "crypto_code": "USDTERC20"}),
        json!({"id": id, "crypto_code": "XMR"}),
        json!({"id": id, "crypto_code": "USDTTRC20", "amount": "2"}),
    ] {
        assert_eq!(page(&world, "choose", &choice).await.0, 400, "{choice}");
    }
    let unknown = json!({"id": "ses_0", "crypto_code": "BTC"});
    assert_eq!(page(&world, "choose", &unknown).await.0, 404);
}

#[tokio::test]
async fn a_session_without_an_invoice_has_a_record_and_fails_at_expiry() {
    let world = World::start().await;
    let id = open(&world, &request()).await;
    let record = world.merchant().record(&id).await;
    assert_eq!(
        [
            &record["transaction_status"],
            &record["invoice_id"],
            &record["wallet_address"],
            &record["local_currency_code"]
        ],
        ["CHECKING", &*id, "", "EUR"]
    );
    world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(world.status(&id).await, "FAILED");
}

#[tokio::test]
async fn closing_cancels_before_the_qr_code_and_never_after_it() {
    let world = World::start().await;
    let (closed, chosen) = (
        open(&world, &request()).await,
        open(&world, &request()).await,
    );
    page(
        &world,
        "choose",
        &json!({"id": chosen, "crypto_code": "BTC"}),
    )
    .await;
    for id in [&closed, &chosen] {
        assert_eq!(page(&world, "close", &json!({"id": id})).await.0, 200);
    }
    assert_eq!(world.status(&closed).await, "CANCELLED");
    assert_eq!(world.status(&chosen).await, "CHECKING");
    let late = json!({"id": closed, "crypto_code": "BTC"});
    assert_eq!(page(&world, "choose", &late).await.0, 409);
}
