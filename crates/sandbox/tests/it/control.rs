//! The control API and the page: what a developer can change, and the sentence when it is invalid.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::World;

#[track_caller]
fn sentence(response: &(u16, Value), status: u16, start: &str) {
    let error = response.1["error"].as_str().unwrap_or_default();
    assert_eq!(response.0, status, "{error}");
    assert!(error.starts_with(start) && error.ends_with('.'), "{error}");
}

#[tokio::test]
async fn the_list_shows_the_newest_invoice_first() {
    let world = World::start().await;
    let (first, second) = (world.open().await, world.open().await);
    let list = world.get("invoices").await;
    assert_eq!(
        [&list[0]["id"], &list[1]["id"]],
        [&json!(second), &json!(first)]
    );
    let shown = &list[0];
    assert_eq!(shown["asset"], "USDT");
    assert_eq!(shown["network"], "Tron");
    assert_eq!(shown["status"], "CHECKING");
    assert_eq!(shown["confirmations"], 0);
    assert_eq!(shown["covered"], "nothing");
    assert_eq!(shown["expires_in_seconds"], 900);
}

#[tokio::test]
async fn an_expired_invoice_fails_at_once_and_can_be_paid_late() {
    let world = World::start().await;
    let id = world.open().await;
    let expired = world.act(&id, "expire").await;
    assert_eq!(
        (&expired["status"], &expired["expires_in_seconds"]),
        (&json!("FAILED"), &json!(0))
    );
    world.pay_and_mine(&id, "exact").await;
    assert_eq!(world.status(&id).await, "COMPLETED");
}

#[tokio::test]
async fn a_failed_invoice_takes_no_payment() {
    let world = World::start().await;
    let id = world.open().await;
    let failed = world.act(&id, "fail").await;
    assert_eq!(
        (&failed["status"], &failed["has_failed"]),
        (&json!("FAILED"), &json!(true))
    );
    let rejected = world
        .post(&format!("invoices/{id}/pay"), r#"{"amount":"exact"}"#)
        .await;
    sentence(&rejected, 409, "The invoice has failed for good");
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
async fn the_next_invoice_can_carry_another_qr_code() {
    let world = World::start().await;
    world
        .control("next-invoice", r#"{"qr_string":"tron:TOther?amount=1"}"#)
        .await;
    let invoice = world.merchant().invoice().await;
    assert_eq!(invoice["qr_string"], "tron:TOther?amount=1");
    assert_eq!(invoice["deposit_address"].as_str().unwrap().len(), 34);
}

#[tokio::test]
async fn any_member_of_a_record_is_overridden_until_that_ends() {
    let world = World::start().await;
    let id = world.open().await;
    let record = world.merchant().record(&id).await;
    let path = format!("invoices/{id}/override");
    let members = r#"{"transaction_status":"REFUNDED","received_crypto_amount":null,"extra":[1]}"#;
    let shown = world.control(&path, members).await;
    assert_eq!(shown["status"], "CHECKING");
    let overridden = world.merchant().record(&id).await;
    assert_eq!(
        (&overridden["transaction_status"], &overridden["extra"]),
        (&json!("REFUNDED"), &json!([1]))
    );
    assert_eq!(overridden.get("received_crypto_amount"), None);
    world.control(&path, "{}").await;
    assert_eq!(world.merchant().record(&id).await, record);
}

#[tokio::test]
async fn the_id_latest_is_the_newest_invoice() {
    let world = World::start().await;
    world.open().await;
    let newest = world.open().await;
    assert_eq!(world.pay("latest", "half").await["id"], newest);
}

#[tokio::test]
async fn a_scenario_without_an_invoice_plays_on_the_newest_open_one() {
    let world = World::start().await;
    let play = r#"{"name":"paid"}"#;
    let rejected = world.post("scenario", play).await;
    sentence(&rejected, 409, "No invoice is open");
    let (oldest, older) = (world.open().await, world.open().await);
    let newest = world.open().await;
    world.act(&newest, "expire").await;
    // The newest is expired, and afterwards the one before it is paid.
    for open in [&older, &oldest] {
        assert_eq!(world.control("scenario", play).await["id"], **open);
        assert_eq!(world.status(open).await, "COMPLETED");
    }
    let rejected = world.post("scenario", play).await;
    sentence(&rejected, 409, "No invoice is open");
    let named = format!(r#"{{"name":"late","invoice":"{newest}"}}"#);
    assert_eq!(world.control("scenario", &named).await["id"], newest);
    let rejected = world.post("scenario", r#"{"name":"sunny"}"#).await;
    sentence(&rejected, 409, "No invoice is open");
}

#[tokio::test]
async fn requests_name_their_error() {
    let world = World::start().await;
    world.merchant().prices().await;
    let call = world.merchant().get("/invoice?id=inv_1").secret("another");
    call.rejected(401, "INVALID_SIGNATURE").await;
    let requests = world.get("requests").await;
    let newest = &requests[0];
    assert_eq!(newest["path"], "/invoice?id=inv_1");
    assert_eq!(
        (&newest["method"], &newest["status"], &newest["code"]),
        (&json!("GET"), &json!(401), &json!("INVALID_SIGNATURE"))
    );
    let message = newest["message"].as_str().unwrap();
    assert!(
        message.ends_with("/api/1700000000/invoice?id=inv_1"),
        "{message}"
    );
    assert_eq!(
        (&requests[1]["status"], &requests[1]["message"]),
        (&json!(200), &json!(null))
    );
}

#[tokio::test]
async fn a_jump_expires_invoices_and_does_not_change_nonces() {
    let world = World::start().await;
    let id = world.open().await;
    let time = world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(time["ahead_seconds"], 900);
    assert_eq!(world.status(&id).await, "FAILED");
}

/// Every scenario with the status and the coverage that its invoice ends with.
const ENDS: [(&str, &str, &str); 12] = [
    ("paid", "COMPLETED", "exact"),
    ("underpaid", "COMPLETED", "part"),
    ("overpaid", "COMPLETED", "more"),
    ("topped_up", "COMPLETED", "exact"),
    ("late", "COMPLETED", "exact"),
    ("stuck", "COMPLETED", "exact"),
    ("replaced", "CHECKING", "nothing"),
    ("reorg", "CHECKING", "exact"),
    ("expired", "FAILED", "nothing"),
    ("failed", "FAILED", "nothing"),
    ("callback_lost", "COMPLETED", "exact"),
    ("callback_repeated", "COMPLETED", "exact"),
];

#[tokio::test]
async fn a_wrong_clock_changes_nonces_and_no_invoice() {
    let world = World::start().await;
    let id = world.open().await;
    world.control("clock", r#"{"ahead_seconds":3600}"#).await;
    let prices = || world.merchant().get("/prices");
    prices().rejected(401, "INVALID_SIGNATURE").await;
    world.control("clock", r#"{"ahead_seconds":0}"#).await;
    prices().ok().await;
    assert_eq!(world.status(&id).await, "CHECKING");
}

async fn play(world: &World, id: &str, scenario: Value) -> Value {
    let path = format!("invoices/{id}/scenario");
    world.control(&path, &scenario.to_string()).await
}

#[tokio::test]
async fn every_scenario_ends_as_listed() {
    let world = World::start().await;
    let scenarios = world.get("scenarios").await;
    let names = scenarios.as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|scenario| &scenario["name"]).collect();
    assert_eq!(names, ENDS.map(|(name, ..)| name));
    for (name, status, covered) in ENDS {
        let id = world.open().await;
        let played = play(&world, &id, json!({ "name": name })).await;
        assert_eq!(
            (&played["status"], &played["covered"]),
            (&json!(status), &json!(covered)),
            "{name}"
        );
    }
}

#[tokio::test]
async fn each_step_of_a_scenario_is_journaled_and_can_be_watched() {
    let world = World::start().await;
    let id = world.open().await;
    play(&world, &id, json!({"name": "topped_up", "pause_ms": 700})).await;
    assert_eq!(world.clock.slept(), [Duration::from_millis(700); 7]);
    let journal = world.get("journal").await;
    let statuses = journal.as_array().unwrap().iter();
    let statuses = statuses.filter(|entry| entry["kind"] == "status");
    let statuses: Vec<&Value> = statuses.map(|entry| &entry["to"]).collect();
    let expected = ["PROCESSING", "COMPLETED", "PROCESSING", "COMPLETED"];
    assert_eq!(statuses, expected);
}

#[tokio::test]
async fn a_rejected_step_ends_the_scenario() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay(&id, "half").await;
    let path = format!("invoices/{id}/scenario");
    let late = world.post(&path, r#"{"name":"late"}"#).await;
    sentence(&late, 409, "The invoice has a payment");
    assert_eq!(world.get("invoices").await[0]["payments"], 1);
}

const INVALID: &str = "The body is invalid";

/// Path, body, status, and the start of the sentence.
type Case = (&'static str, &'static str, u16, &'static str);

#[tokio::test]
async fn an_invalid_action_is_rejected_with_a_sentence() {
    let world = World::start().await;
    let decimals = "The amount has more decimals";
    let written = "Write \"exact\"";
    let cases: [Case; 8] = [
        ("pay", r#"{"amount":"all"}"#, 400, written),
        ("pay", r#"{"amount":"0"}"#, 409, "There is nothing to pay"),
        ("pay", r#"{"amount":"1.0000001"}"#, 400, decimals),
        ("pay", r#"{"amount":20}"#, 400, INVALID),
        ("pay", r#"{"amount":"1","blocks":1}"#, 400, INVALID),
        ("pay", "", 400, INVALID),
        ("scenario", r#"{"name":"x"}"#, 404, "There is no scenario"),
        (
            "scenario",
            r#"{"name":"paid","pause_ms":10001}"#,
            400,
            "The member pause_ms",
        ),
    ];
    let id = world.open().await;
    for (action, body, status, start) in cases {
        let path = format!("invoices/{id}/{action}");
        sentence(&world.post(&path, body).await, status, start);
    }
    let pay = format!("invoices/{id}/pay");
    let most = r#"{"amount":"999999999999.999999"}"#;
    world.control(&pay, most).await;
    let overflow = world.post(&pay, most).await;
    sentence(&overflow, 400, "The sum has no exact value");
    for (action, body) in [
        ("pay", r#"{"amount":"1"}"#),
        ("expire", ""),
        ("fail", ""),
        ("bump-fee", ""),
        ("replace", ""),
        ("override", "{}"),
        ("scenario", r#"{"name":"paid"}"#),
    ] {
        let path = format!("invoices/inv_0/{action}");
        let unknown = world.post(&path, body).await;
        sentence(&unknown, 404, "There is no invoice \"inv_0\"");
    }
}

#[tokio::test]
async fn an_invalid_request_is_rejected_with_a_sentence() {
    let world = World::start().await;
    let status = "The status of a fault is one from 400 to 599.";
    let callback = "The kinds lost and repeated";
    let asset = "The crypto_code \"XMR\" is not one of USDTTRC20,";
    let price = "The price is no positive decimal";
    let cases: [Case; 18] = [
        ("mine", r#"{"blocks":-1}"#, 400, INVALID),
        ("mine", r#"{"chain":"monero"}"#, 400, INVALID),
        ("mines", "", 404, "The sandbox has no POST /sandbox/mines"),
        (
            "journal",
            "",
            404,
            "The sandbox has no POST /sandbox/journal",
        ),
        ("next-invoice", r#"{"adress":"x"}"#, 400, INVALID),
        ("prices", r#"{"crypto_code":"XMR","usd":"1"}"#, 400, asset),
        ("prices", r#"{"crypto_code":"BTC","usd":"-1"}"#, 400, price),
        ("prices", r#"{"crypto_code":"BTC","usd":"0"}"#, 400, price),
        ("time", r#"{"jump_seconds":-1}"#, 400, INVALID),
        (
            "time",
            r#"{"jump_seconds":99999999}"#,
            400,
            "The time jumps by",
        ),
        ("faults", r#"{"kind":"status"}"#, 400, INVALID),
        ("faults", r#"{"kind":"status","status":200}"#, 400, status),
        ("faults", r#"{"kind":"slow"}"#, 400, INVALID),
        ("faults", r#"{"kind":"drop","delay_ms":1}"#, 400, INVALID),
        ("faults", r#"{"kind":"explode"}"#, 400, INVALID),
        (
            "faults",
            r#"{"endpoint":"all","kind":"drop"}"#,
            400,
            INVALID,
        ),
        (
            "faults",
            r#"{"endpoint":"prices","kind":"lost"}"#,
            400,
            callback,
        ),
        (
            "faults",
            r#"{"endpoint":"callback","kind":"cut"}"#,
            400,
            callback,
        ),
    ];
    for (path, body, code, start) in cases {
        sentence(&world.post(path, body).await, code, start);
    }
}

#[tokio::test]
async fn the_state_has_what_the_page_shows() {
    let world = World::start().await;
    let id = world.open().await;
    world.clock.advance(15 * 60);
    world.inject(&json!({"kind": "drop", "times": 2})).await;
    let state = world.get("state").await;
    assert_eq!(state["invoices"][0]["id"], id);
    assert_eq!(state["prices"].as_array().unwrap().len(), 9);
    let fault = json!([{"endpoint": "any", "kind": "drop", "times": 2}]);
    assert_eq!(state["faults"], fault);
    let newest = &state["journal"][0];
    assert_eq!(
        (&newest["kind"], &newest["to"]),
        (&json!("status"), &json!("FAILED"))
    );
}

#[tokio::test]
async fn the_page_runs_under_a_policy_that_allows_nothing_inline() {
    let world = World::start().await;
    let response = world.http.get(&world.address).send().await.unwrap();
    assert_eq!(response.url().path(), "/sandbox");
    let policy = &response.headers()["content-security-policy"];
    let policy = policy.to_str().unwrap().to_owned();
    let start = "default-src 'none'; script-src 'self'; style-src 'self';";
    assert!(policy.starts_with(start), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let html = response.text().await.unwrap();
    for inline in ["<script>", "<style", " style=", " onclick="] {
        assert!(!html.contains(inline), "{inline}");
    }
    let files = html.split('"').filter(|text| text.starts_with("/sandbox/"));
    for file in files {
        let url = format!("{}{file}", world.address);
        let response = world.http.get(url).send().await.unwrap();
        assert_eq!(response.status(), 200, "{file}");
        assert_eq!(response.headers()["content-security-policy"], policy);
    }
}
