//! Records as the interface writes them, the same ones from the same seed, and hosted checkouts: what POST /checkout and its
//! page reject, and how they end.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn a_payment_is_seen_confirmed_completed_and_listed_in_the_history() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    world.clock.advance(60);
    let paid = world.pay(id, "exact").await;
    for (blocks, status, on_chain, confirmations) in [
        (0, "CHECKING", "PENDING", ""),
        (1, "PROCESSING", "PENDING", "1/3"),
        (2, "COMPLETED", "CONFIRMED", "3/3"),
    ] {
        world.mine(blocks).await;
        let record = world.merchant().record(id).await;
        assert_eq!(record["transaction_status"], status);
        assert_eq!(record["blockchain_transaction_status"], on_chain);
        assert_eq!(record["blockchain_confirmations"], confirmations);
    }
    let path = format!("/invoice?id={id}&hist=true");
    let step = |status, time| json!({"transaction_status": status, "time": time});
    let expected = json!({
        "invoice_id": id,
        "transaction_status": "COMPLETED",
        "invoice_amount_in_local_currency": "20.00",
        "invoice_amount_in_usd": "20.00",
        "invoice_crypto_amount": "20.00",
        "received_amount_in_local_currency": "20.00",
        "received_amount_in_usd": "20.00",
        "received_crypto_amount": "20.00",
        "local_currency_code": "USD",
        "transaction_crypto": "USDTTRC20",
        "invoice_creation_time": "1700000000",
        "depositor_email_id": "",
        "blockchain_transaction_status": "CONFIRMED",
        "transaction_hash": paid["transaction_hash"],
        "blockchain_confirmations": "3/3",
        "wallet_address": invoice["deposit_address"],
        "transaction_time": "1700000060",
        "history": [
            step("CHECKING", "1700000000"),
            step("PROCESSING", "1700000060"),
            step("COMPLETED", "1700000060"),
        ],
        "transactions": [{
            "transaction_hash": paid["transaction_hash"],
            "received_crypto_amount": "20.00",
            "blockchain_confirmations": "3/3",
            "transaction_time": "1700000060",
        }],
    });
    let record = world.merchant().get(&path).ok().await["data"].take();
    assert_eq!(record, expected);
    // It stays, however deep its block is.
    for _ in 0..3 {
        world.mine(49).await;
        let record = world.merchant().record(id).await;
        assert_eq!(record["transaction_status"], "COMPLETED");
    }
}

#[tokio::test]
async fn the_same_seed_and_requests_give_the_same_invoices() {
    let (one, other) = (World::start().await, World::start().await);
    other.merchant().prices().await;
    for world in [&one, &other] {
        world.merchant().invoice().await;
        world.merchant().invoice().await;
    }
    let invoices = one.get("invoices").await;
    assert_eq!(invoices, other.get("invoices").await);
    assert_ne!(invoices[0]["address"], invoices[1]["address"]);
}

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

/// A member, its value, and a part of the message.
const REFUSED: &str = r#"
client_email_id null must be a string, and is null
client_email_id "none" must be an email address
client_preferred_fiat_currency "XAU" no currency that we take
amount "0.00" more than zero
amount "1.001" more decimals than EUR has (2)
amount "999999999999" outside the limits of every asset
merchant_website "javascript:alert(1)" an http or https URL
invoice_callback_url "ftp://shop.example" an http or https URL
merchant_id "" must not be empty
"#;

#[tokio::test]
async fn a_refused_session_has_the_shape_of_its_own() {
    let world = World::start().await;
    for line in REFUSED.trim().lines() {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let [member, value, part] = words[..] else {
            panic!("{line}");
        };
        let mut request = request();
        request[member] = serde_json::from_str(value).unwrap();
        let (status, body) = world.merchant().post("/checkout", &request).send().await;
        assert_eq!((status, &body["error"]), (400, &json!(true)), "{body}");
        let message = body["message"].as_str().unwrap();
        assert!(
            message.starts_with(member) && message.contains(part),
            "{message}"
        );
    }
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
