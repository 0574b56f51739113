//! Scenarios: whole lives of an invoice in one call.

use std::time::Duration;

use serde_json::{Value, json};

use crate::callbacks::{next, world_with_receiver};
use crate::world::World;

async fn play(world: &World, wanted: Value) -> Value {
    world.control("scenario", &wanted.to_string()).await
}

/// Every scenario with the status and the coverage that its invoice ends with.
const ENDS: [(&str, &str, &str); 26] = [
    ("paid", "COMPLETED", "exact"),
    ("paid-less", "COMPLETED", "part"),
    ("paid-more", "COMPLETED", "more"),
    ("paid-twice", "COMPLETED", "more"),
    ("paid-in-parts", "COMPLETED", "exact"),
    ("topped-up", "COMPLETED", "exact"),
    ("late", "COMPLETED", "exact"),
    ("wrong-chain", "CHECKING", "nothing"),
    ("seen", "CHECKING", "exact"),
    ("stuck", "CHECKING", "exact"),
    ("stuck-to-the-end", "FAILED", "exact"),
    ("unstuck", "COMPLETED", "exact"),
    ("replaced", "CHECKING", "nothing"),
    ("reorg", "CHECKING", "exact"),
    ("taken-back", "CHECKING", "exact"),
    ("runs-out", "FAILED", "nothing"),
    ("failed", "FAILED", "nothing"),
    ("cancelled", "", ""),
    ("other-address", "CHECKING", "nothing"),
    ("unknown-status", "CHECKING", "nothing"),
    ("callback-lost", "COMPLETED", "exact"),
    ("callback-twice", "COMPLETED", "exact"),
    ("callback-early", "CHECKING", "exact"),
    ("callback-lies", "FAILED", "nothing"),
    ("busy", "", ""),
    ("down", "", ""),
];

#[tokio::test]
async fn every_scenario_ends_as_it_says_in_every_asset() {
    for asset in ["BTC", "USDTERC20", "LTC", "DOGE", "BCH", "BNB"] {
        let world = World::start().await;
        let known = world.get("scenarios").await;
        let names = known.as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|known| known["name"].as_str().unwrap()).collect();
        assert_eq!(names, ENDS.map(|(name, ..)| name));
        for (name, status, covered) in ENDS {
            let open = json!({"crypto_code": asset, "amount": "50.00"});
            let played = play(&world, json!({"name": name, "open": open})).await;
            let invoice = &played["invoice"];
            if status.is_empty() {
                assert_eq!(*invoice, Value::Null, "{name}");
                continue;
            }
            assert_eq!(
                (&invoice["status"], &invoice["covered"]),
                (&json!(status), &json!(covered)),
                "{name} in {asset}"
            );
            assert_eq!(invoice["crypto_code"], asset);
        }
    }
}

#[tokio::test]
async fn what_a_scenario_leaves_beside_the_status_is_there() {
    let world = World::start().await;
    let played = play(&world, json!({"name": "paid-twice"})).await;
    assert_eq!(played["invoice"]["payments"], 2);
    let played = play(&world, json!({"name": "wrong-chain"})).await;
    assert_eq!(played["invoice"]["unseen_payments"], 1);
    let played = play(&world, json!({"name": "stuck"})).await;
    assert_eq!(played["invoice"]["stuck_payments"], 1);
    let played = play(&world, json!({"name": "other-address"})).await;
    let invoice = &played["invoice"];
    let record = world
        .merchant()
        .record(invoice["id"].as_str().unwrap())
        .await;
    assert_eq!(record["wallet_address"], invoice["reported_address"]);
    assert_ne!(invoice["reported_address"], invoice["address"]);
    let played = play(&world, json!({"name": "cancelled"})).await;
    let record = world
        .merchant()
        .record(played["session"].as_str().unwrap())
        .await;
    assert_eq!(record["transaction_status"], "CANCELLED");
    play(&world, json!({"name": "busy"})).await;
    play(&world, json!({"name": "down"})).await;
    let faults = world.get("faults").await;
    assert_eq!(
        (&faults[0]["times"], &faults[1]["times"]),
        (&json!(3), &json!(10))
    );
}

#[tokio::test]
async fn a_scenario_happens_to_the_invoice_that_is_named() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let id = invoice["invoice_id"].as_str().unwrap();
    play(&world, json!({"name": "paid-less", "invoice": id})).await;
    let record = world.merchant().record(id).await;
    assert_eq!(record["transaction_status"], "COMPLETED");
    assert_eq!(world.get("invoices").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn each_step_is_told_on_its_own() {
    let (world, mut received) = world_with_receiver(200, "").await;
    let played = play(&world, json!({"name": "topped-up"})).await;
    let completed = json!({"invoice_id": played["invoice"]["id"], "status": "COMPLETED"});
    assert_eq!(next(&mut received).await, completed);
    assert_eq!(next(&mut received).await, completed);
    let journal = world.get("journal").await;
    let statuses = journal.as_array().unwrap().iter();
    let statuses: Vec<&Value> = statuses
        .filter(|entry| entry["kind"] == "status")
        .map(|entry| &entry["to"])
        .collect();
    assert_eq!(
        statuses,
        ["PROCESSING", "COMPLETED", "PROCESSING", "COMPLETED"]
    );
}

#[tokio::test]
async fn the_same_seed_plays_the_same() {
    let world = World::start().await;
    let wanted = json!({"name": "paid", "seed": 99});
    let first = play(&world, wanted.clone()).await;
    assert_eq!(play(&world, wanted).await, first);
    assert_eq!(world.get("world").await["seed"], 99);
    let other = play(&world, json!({"name": "paid", "seed": 98})).await;
    assert_ne!(other["invoice"]["address"], first["invoice"]["address"]);
}

#[tokio::test]
async fn a_pause_comes_between_the_steps() {
    let world = World::start().await;
    play(&world, json!({"name": "reorg", "pause_ms": 700})).await;
    assert_eq!(world.clock.slept(), [Duration::from_millis(700); 3]);
}

#[tokio::test]
async fn a_refused_step_ends_the_scenario_and_says_which_it_was() {
    let world = World::start().await;
    let steps = json!([
        {"path": "invoices/{invoice}/pay", "body": {"amount": "half"}},
        {"path": "invoices/{invoice}/expire"},
        {"path": "mine"},
    ]);
    let (status, answer) = world
        .post("scenario", &json!({ "steps": steps }).to_string())
        .await;
    assert_eq!(status, 409);
    let error = answer["error"].as_str().unwrap();
    assert!(
        error.starts_with("Step 2 of 3, POST invoices/inv_"),
        "{error}"
    );
    assert!(error.contains("it cannot run out any more"), "{error}");
    let invoice = &world.get("invoices").await[0];
    assert_eq!(
        (&invoice["payments"], &invoice["status"]),
        (&json!(1), &json!("CHECKING"))
    );
}

#[tokio::test]
async fn a_scenario_that_makes_no_sense_is_refused_and_opens_nothing() {
    let world = World::start().await;
    let step = json!({"path": "invoices/{invoice}/expire"});
    let too_many = vec![step.clone(); 101];
    for (status, wanted) in [
        (404, json!({"name": "nonsense"})),
        (404, json!({"name": "paid", "invoice": "inv_none"})),
        (404, json!({"name": "cancelled", "session": "ses_none"})),
        (400, json!({"name": "paid", "steps": [step]})),
        (400, json!({"steps": []})),
        (400, json!({ "steps": too_many })),
        (400, json!({"name": "paid", "pause_ms": 10_001})),
        (400, json!({"steps": [{"method": "GET", "path": "mine"}]})),
        (400, json!({"steps": [{"path": "mine", "verb": "mine"}]})),
        (
            404,
            json!({"steps": [{"path": "scenario", "body": {"name": "paid"}}]}),
        ),
        (404, json!({"steps": [{"path": "../api/prices"}]})),
        (400, json!({"steps": [{"path": "mine\r\nx: y"}]})),
        (
            400,
            json!({"name": "paid", "open": {"crypto_code": "BTC", "amount": "0.01"}}),
        ),
    ] {
        let (answered, answer) = world.post("scenario", &wanted.to_string()).await;
        assert_eq!(answered, status, "{wanted}: {answer}");
        assert!(answer["error"].as_str().unwrap().ends_with('.'), "{answer}");
    }
    assert_eq!(world.get("invoices").await, json!([]));
}
