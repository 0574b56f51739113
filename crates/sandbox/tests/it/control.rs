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

/// Path, body or `-`, status, and the start of the sentence.
const REJECTED: &str = r#"
invoices/latest/pay {"amount":"all"} 400 Write "exact"
invoices/latest/pay {"amount":"0"} 409 There is nothing to pay
invoices/latest/pay {"amount":"1.0000001"} 400 The amount has more
invoices/latest/pay {"amount":20} 400 The body is invalid
invoices/latest/pay {"amount":"1","blocks":1} 400 The body is invalid
invoices/latest/pay {"amount":"999999999999.999999"} 400 The sum has no exact value
invoices/latest/bump-fee - 409 The invoice has
invoices/latest/expire - 409 The invoice has
invoices/latest/scenario {"name":"x"} 404 There is no scenario
invoices/latest/scenario {"name":"paid","pause_ms":10001} 400 The member pause_ms
invoices/inv_0/pay {"amount":"1"} 404 There is no invoice "inv_0"
invoices/inv_0/fail - 404 There is no invoice "inv_0"
invoices/inv_0/override {} 404 There is no invoice "inv_0"
invoices/inv_0/scenario {"name":"paid"} 404 There is no invoice "inv_0"
mine {"blocks":-1} 400 The body is invalid
mine {"chain":"monero"} 400 The body is invalid
mines - 404 The sandbox has no POST /sandbox/mines
next-invoice {"adress":"x"} 400 The body is invalid
prices {"crypto_code":"XMR","usd":"1"} 400 The crypto_code
prices {"crypto_code":"BTC","usd":"0"} 400 The price is no positive decimal
time {"jump_seconds":99999999} 400 The time jumps by
faults {"kind":"status"} 400 The body is invalid
faults {"kind":"status","status":200} 400 The status of a fault
faults {"kind":"slow"} 400 The body is invalid
faults {"kind":"drop","delay_ms":1} 400 The body is invalid
faults {"kind":"explode"} 400 The body is invalid
faults {"endpoint":"all","kind":"drop"} 400 The body is invalid
faults {"endpoint":"prices","kind":"lost"} 400 The kinds lost and repeated
faults {"endpoint":"callback","kind":"cut"} 400 The kinds lost and repeated
"#;

#[tokio::test]
async fn an_invalid_request_is_rejected_with_a_sentence() {
    let world = World::start().await;
    let id = world.open().await;
    world.pay(&id, "999999999999.999999").await;
    for line in REJECTED.trim().lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [path, body, status, start] = words[..] else {
            panic!("{line}");
        };
        let body = if body == "-" { "" } else { body };
        sentence(
            &world.post(path, body).await,
            status.parse().unwrap(),
            start,
        );
    }
    world.act(&id, "fail").await;
    let path = format!("invoices/{id}/pay");
    let failed = world.post(&path, r#"{"amount":"exact"}"#).await;
    sentence(&failed, 409, "The invoice has failed for good");
}

#[tokio::test]
async fn the_pages_run_under_a_policy_that_allows_nothing_inline() {
    let world = World::start().await;
    for (path, frames) in [
        ("", "frame-ancestors 'none'"),
        ("checkout", "frame-ancestors *"),
    ] {
        let url = format!("{}/{path}", world.address);
        let response = world.http.get(url).send().await.unwrap();
        let policy = &response.headers()["content-security-policy"];
        let policy = policy.to_str().unwrap();
        let start = "default-src 'none'; script-src 'self'; style-src 'self';";
        assert!(
            policy.starts_with(start) && policy.ends_with(frames),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
