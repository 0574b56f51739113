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
async fn the_list_shows_the_newest_invoice_first_which_is_latest() {
    let world = World::start().await;
    let (first, second) = (world.open().await, world.open().await);
    let list = world.get("invoices").await;
    assert_eq!(
        [&list[0]["id"], &list[1]["id"]],
        [&json!(second), &json!(first)]
    );
    for (member, expected) in [
        ("asset", json!("USDT")),
        ("network", json!("Tron")),
        ("status", json!("CHECKING")),
        ("confirmations", json!(0)),
        ("covered", json!("nothing")),
        ("expires_in_seconds", json!(900)),
    ] {
        assert_eq!(list[0][member], expected, "{member}");
    }
    assert_eq!(world.pay("latest", "half").await["id"], second);
}

#[tokio::test]
async fn the_next_invoice_can_carry_a_corrupted_address_or_qr_code_once() {
    let world = World::start().await;
    let address = r#"{"address":"TCorrupt"}"#;
    world.control("next-invoice", address).await;
    let invoice = world.merchant().invoice().await;
    assert_eq!(invoice["deposit_address"], "TCorrupt");
    let followed = "tron:TCorrupt?token=TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf&amount=20.00";
    assert_eq!(invoice["qr_string"], followed);
    let qr_string = r#"{"qr_string":"tron:TOther?amount=1"}"#;
    world.control("next-invoice", qr_string).await;
    let invoice = world.merchant().invoice().await;
    assert_eq!(invoice["qr_string"], "tron:TOther?amount=1");
    assert_eq!(invoice["deposit_address"].as_str().unwrap().len(), 34);
}

#[tokio::test]
async fn a_jump_expires_invoices_and_a_wrong_clock_changes_only_nonces() {
    let world = World::start().await;
    let id = world.open().await;
    let prices = || world.merchant().get("/prices");
    world.control("clock", r#"{"ahead_seconds":3600}"#).await;
    prices().rejected(401, "INVALID_SIGNATURE").await;
    world.control("clock", r#"{"ahead_seconds":0}"#).await;
    assert_eq!(world.status(&id).await, "CHECKING");
    let time = world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(time["ahead_seconds"], 900);
    assert_eq!(world.status(&id).await, "FAILED");
    let moved = r#"{"crypto_code":"BTC","usd":"70000"}"#;
    world.control("prices", moved).await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices["BTC"]["rates"]["amount_in_usd"], "70000.00");
}

#[tokio::test]
async fn a_block_of_one_chain_confirms_nothing_on_another() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay(&id, "exact").await;
    for (chain, status) in [("litecoin", "CHECKING"), ("tron", "COMPLETED")] {
        let blocks = format!(r#"{{"blocks":3,"chain":"{chain}"}}"#);
        world.control("mine", &blocks).await;
        assert_eq!(world.status(&id).await, status);
    }
    for (chain, status) in [("bitcoin", "COMPLETED"), ("tron", "PROCESSING")] {
        let block = format!(r#"{{"blocks":1,"chain":"{chain}"}}"#);
        world.control("reorg", &block).await;
        assert_eq!(world.status(&id).await, status);
    }
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
    let id = world.open().await;
    let watched = json!({"name": "topped_up", "pause_ms": 700});
    play(&world, &id, watched).await;
    assert_eq!(world.clock.slept(), [Duration::from_millis(700); 7]);
    // A rejected step ends the scenario.
    let path = format!("invoices/{id}/scenario");
    let late = world.post(&path, r#"{"name":"late"}"#).await;
    sentence(&late, 409, "The invoice has a payment");
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
    for action in ["bump-fee", "expire"] {
        let path = format!("invoices/{id}/{action}");
        sentence(&world.post(&path, "").await, 409, "The invoice has");
    }
    world.act(&id, "fail").await;
    let failed = world.post(&pay, r#"{"amount":"exact"}"#).await;
    sentence(&failed, 409, "The invoice has failed for good");
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
