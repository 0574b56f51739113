//! The control API: what a developer can do to an invoice, and what is said when it makes no sense.

use serde_json::json;

use crate::world::World;

async fn open(world: &World) -> String {
    let invoice = world.merchant().invoice().await;
    invoice["invoice_id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn sentence(answer: &(u16, serde_json::Value), status: u16, start: &str) {
    let error = answer.1["error"].as_str().unwrap_or_default();
    assert_eq!(answer.0, status, "{error}");
    assert!(error.starts_with(start) && error.ends_with('.'), "{error}");
}

#[tokio::test]
async fn the_list_shows_the_newest_invoice_first() {
    let world = World::start().await;
    let (first, second) = (open(&world).await, open(&world).await);
    let list = world.get("invoices").await;
    assert_eq!(
        [&list[0]["id"], &list[1]["id"]],
        [&json!(second), &json!(first)]
    );
    let shown = &list[0];
    assert_eq!(shown["asset"], "USDT");
    assert_eq!(shown["network"], "Tron");
    assert_eq!(shown["status"], "CHECKING");
    assert_eq!(shown["confirmations"], json!({"count": 0, "required": 3}));
    assert_eq!(shown["covered"], "nothing");
    assert_eq!(shown["expires_in_seconds"], 900);
}

#[tokio::test]
async fn an_expired_invoice_fails_at_once_and_can_be_paid_late() {
    let world = World::start().await;
    let id = open(&world).await;
    let expired = world.control(&format!("invoices/{id}/expire"), "").await;
    assert_eq!(
        (&expired["status"], &expired["expires_in_seconds"]),
        (&json!("FAILED"), &json!(0))
    );
    let pay = r#"{"amount":"exact","confirmations":3}"#;
    let paid = world.control(&format!("invoices/{id}/pay"), pay).await;
    assert_eq!(paid["status"], "COMPLETED");
}

#[tokio::test]
async fn a_failed_invoice_takes_no_payment() {
    let world = World::start().await;
    let id = open(&world).await;
    let failed = world.control(&format!("invoices/{id}/fail"), "").await;
    assert_eq!(
        (&failed["status"], &failed["told_to_fail"]),
        (&json!("FAILED"), &json!(true))
    );
    let refused = world
        .post(&format!("invoices/{id}/pay"), r#"{"amount":"exact"}"#)
        .await;
    sentence(&refused, 409, "The invoice was told to fail");
}

#[tokio::test]
async fn a_lying_service_names_another_address() {
    let world = World::start().await;
    let id = open(&world).await;
    let path = format!("invoices/{id}/address");
    world.control(&path, r#"{"address":"TLie"}"#).await;
    assert_eq!(world.merchant().record(&id).await["wallet_address"], "TLie");
    assert_eq!(world.get("invoices").await[0]["reported_address"], "TLie");
}

#[tokio::test]
async fn the_next_invoice_can_carry_a_corrupted_address_once() {
    let world = World::start().await;
    world
        .control("next-invoice", r#"{"address":"TCorrupt"}"#)
        .await;
    let invoice = world.merchant().invoice().await;
    assert_eq!(invoice["deposit_address"], "TCorrupt");
    let followed = "tron:TCorrupt?token=TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf&amount=20.00";
    assert_eq!(invoice["qr_string"], followed);
    let invoice = world.merchant().invoice().await;
    assert_ne!(invoice["deposit_address"], "TCorrupt");
}

#[tokio::test]
async fn the_next_invoice_can_carry_a_foreign_qr_code() {
    let world = World::start().await;
    world
        .control("next-invoice", r#"{"qr_string":"tron:TOther?amount=1"}"#)
        .await;
    let invoice = world.merchant().invoice().await;
    assert_eq!(invoice["qr_string"], "tron:TOther?amount=1");
    assert_eq!(invoice["deposit_address"].as_str().unwrap().len(), 34);
}

#[tokio::test]
async fn mining_counts_for_every_invoice_and_by_the_number_asked_for() {
    let world = World::start().await;
    for _ in 0..2 {
        let id = open(&world).await;
        world
            .control(&format!("invoices/{id}/pay"), r#"{"amount":"exact"}"#)
            .await;
    }
    world.control("mine", r#"{"blocks":2}"#).await;
    let list = world.get("invoices").await;
    for invoice in list.as_array().unwrap() {
        assert_eq!(invoice["confirmations"]["count"], 2);
    }
}

#[tokio::test]
async fn the_log_says_why_a_signature_failed() {
    let world = World::start().await;
    world.merchant().prices().await;
    let call = world.merchant().get("/invoice?id=inv_1").secret("another");
    call.refused(401, "INVALID_SIGNATURE").await;
    let log = world.get("requests").await;
    assert_eq!(log[0]["number"], 2);
    assert_eq!(log[0]["method"], "GET");
    assert_eq!(log[0]["path"], "/invoice?id=inv_1");
    assert_eq!(log[0]["status"], 401);
    assert_eq!(log[0]["code"], "INVALID_SIGNATURE");
    let message = log[0]["message"].as_str().unwrap();
    assert!(
        message.ends_with("/api/1700000000/invoice?id=inv_1"),
        "{message}"
    );
    assert_eq!(
        (&log[1]["status"], &log[1]["message"]),
        (&json!(200), &json!(null))
    );
}

const NOT_TAKEN: &str = "The body is not what this endpoint takes";

/// Each body is refused by that path with a sentence that begins so.
async fn refuses(world: &World, path: &str, cases: &[(&str, u16, &str)]) {
    for (body, status, start) in cases {
        sentence(&world.post(path, body).await, *status, start);
    }
}

#[tokio::test]
async fn a_senseless_payment_is_refused_with_a_sentence() {
    let world = World::start().await;
    let id = open(&world).await;
    let pay = format!("invoices/{id}/pay");
    let fine = "The amount has more decimals than the asset has: 6";
    let cases = [
        (r#"{"amount":"all"}"#, 400, "Write \"exact\""),
        (r#"{"amount":"0"}"#, 409, "There is nothing to pay"),
        (r#"{"amount":"1.0000001"}"#, 400, fine),
        (r#"{"amount":20}"#, 400, NOT_TAKEN),
        (r#"{"amount":"1","blocks":1}"#, 400, NOT_TAKEN),
        ("", 400, NOT_TAKEN),
    ];
    refuses(&world, &pay, &cases).await;
    let most = r#"{"amount":"999999999999.999999"}"#;
    world.control(&pay, most).await;
    refuses(
        &world,
        &pay,
        &[(most, 400, "The sandbox cannot count that far")],
    )
    .await;
    let expire = format!("invoices/{id}/expire");
    refuses(
        &world,
        &expire,
        &[("", 409, "Something has arrived for this invoice")],
    )
    .await;
}

#[tokio::test]
async fn an_unknown_invoice_is_named() {
    let world = World::start().await;
    let unknown = "There is no invoice \"inv_0\"";
    for (path, body) in [
        ("pay", r#"{"amount":"1"}"#),
        ("expire", ""),
        ("fail", ""),
        ("unstick", ""),
        ("replace", ""),
        ("record", "{}"),
        ("address", r#"{"address":"T"}"#),
    ] {
        let path = format!("invoices/inv_0/{path}");
        refuses(&world, &path, &[(body, 404, unknown)]).await;
    }
}

#[tokio::test]
async fn a_path_or_method_that_leads_nowhere_is_named() {
    let world = World::start().await;
    let path = "The sandbox has no POST /sandbox/mines";
    refuses(&world, "mines", &[("", 404, path)]).await;
    let method = "The sandbox has no POST /sandbox/requests";
    refuses(&world, "requests", &[("", 404, method)]).await;
}

#[tokio::test]
async fn a_senseless_price_is_refused_with_a_sentence() {
    let world = World::start().await;
    let unknown = "The crypto_code \"XMR\" is not one of USDTTRC20,";
    let cases = [
        (r#"{"crypto_code":"XMR","usd":"1"}"#, 400, unknown),
        (
            r#"{"crypto_code":"BTC","usd":"-1"}"#,
            400,
            "The price in usd",
        ),
        (r#"{"crypto_code":"BTC"}"#, 400, "Name what changes"),
        (r#"{"crypto_code":"BTC","min":"x"}"#, 400, "The limit"),
    ];
    refuses(&world, "prices", &cases).await;
}

#[tokio::test]
async fn a_senseless_block_or_lie_is_refused_with_a_sentence() {
    let world = World::start().await;
    refuses(&world, "mine", &[(r#"{"blocks":-1}"#, 400, NOT_TAKEN)]).await;
    refuses(
        &world,
        "next-invoice",
        &[(r#"{"adress":"x"}"#, 400, NOT_TAKEN)],
    )
    .await;
}

#[tokio::test]
async fn a_senseless_fault_is_refused_with_a_sentence() {
    let world = World::start().await;
    let status = "The status of a fault is one from 400 to 599.";
    let target = "The kinds lost, duplicated,";
    let cases = [
        (r#"{"endpoint":"any","kind":"status"}"#, 400, NOT_TAKEN),
        (
            r#"{"endpoint":"any","kind":"status","status":200}"#,
            400,
            status,
        ),
        (
            r#"{"endpoint":"any","kind":"shapeless","status":600}"#,
            400,
            status,
        ),
        (r#"{"endpoint":"any","kind":"slow"}"#, 400, NOT_TAKEN),
        (
            r#"{"endpoint":"any","kind":"drop","delay_ms":1}"#,
            400,
            NOT_TAKEN,
        ),
        (r#"{"endpoint":"any","kind":"explode"}"#, 400, NOT_TAKEN),
        (r#"{"endpoint":"all","kind":"drop"}"#, 400, NOT_TAKEN),
        (r#"{"endpoint":"prices","kind":"lost"}"#, 400, target),
        (r#"{"endpoint":"callback","kind":"garbled"}"#, 400, target),
        (
            r#"{"endpoint":"any","kind":"drop","share_percent":101}"#,
            400,
            "The member share_percent",
        ),
        (
            r#"{"endpoint":"any","kind":"slow_body","bytes_per_second":0}"#,
            400,
            "The member bytes_per_second",
        ),
        (
            r#"{"endpoint":"any","kind":"huge","bytes":99999999999}"#,
            400,
            "The member bytes is at most",
        ),
        (
            r#"{"endpoint":"any","kind":"status","status":429,"retry_after_date":true}"#,
            400,
            "The member retry_after_date",
        ),
    ];
    refuses(&world, "faults", &cases).await;
}
