//! The control API's own list: every verb in it works as its example says.

use serde_json::{Value, json};

use crate::world::World;

async fn send(world: &World, method: &str, path: &str, body: &Value) -> u16 {
    let method = method.parse().unwrap();
    let request = world
        .http
        .request(method, format!("{}{path}", world.address));
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = request.body(body).send().await.unwrap();
    answer.status().as_u16()
}

/// A hosted checkout for the verbs of its page.
async fn session(world: &World) -> String {
    let request = json!({
        "client_email_id": "customer@shop.example",
        "client_preferred_fiat_currency": "USD",
        "amount": "50.00",
        "merchant_website": "https://shop.example",
        "invoice_callback_url": "http://127.0.0.1:9/",
    });
    let opened = world.merchant().post("/checkout", &request).ok().await;
    opened["session_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_example_works_in_the_order_of_the_list() {
    let world = World::start().await;
    let session = session(&world).await;
    let mut session_after_reset = session.clone();
    let mut fault_number = String::new();
    let verbs = world.get("api").await;
    for verb in verbs.as_array().unwrap() {
        let (method, path) = (
            verb["method"].as_str().unwrap(),
            verb["path"].as_str().unwrap(),
        );
        if path.ends_with("/expire")
            || path.ends_with("/replace")
            || verb["example"]["late"] == true
        {
            let fresh = json!({"crypto_code": "BTC", "amount": "20.00"});
            send(&world, "POST", "/sandbox/invoices", &fresh).await;
        }
        if path.ends_with("/replace") {
            let pay = json!({"amount": "exact"});
            send(&world, "POST", "/sandbox/invoices/latest/pay", &pay).await;
        }
        if path.ends_with("/faults/{number}") {
            let fault = json!({"endpoint": "any", "kind": "drop"});
            fault_number = world.control("faults", &fault.to_string()).await["number"].to_string();
        }
        let number = if path.contains("requests") {
            "1"
        } else {
            &fault_number
        };
        let filled = path
            .replace("{id}", "latest")
            .replace("{number}", number)
            .replace("{session}", &session_after_reset);
        let example = verb["example"]
            .to_string()
            .replace("{session}", &session_after_reset);
        let example: Value = serde_json::from_str(&example).unwrap();
        assert_eq!(
            send(&world, method, &filled, &example).await,
            200,
            "{method} {filled} {example}"
        );
        if path == "/sandbox/reset" {
            session_after_reset = self::session(&world).await;
        }
        if path == "/sandbox/faults" {
            send(&world, "DELETE", "/sandbox/faults", &Value::Null).await;
        }
    }
}

#[tokio::test]
async fn a_reset_begins_a_new_world_from_its_seed() {
    let world = World::start().await;
    let first = world.merchant().invoice().await;
    world
        .control("faults", r#"{"endpoint":"any","kind":"drop","times":9}"#)
        .await;
    world.control("reset", "").await;
    assert_eq!(world.get("invoices").await, json!([]));
    assert_eq!(world.merchant().invoice().await, first);
    world.control("reset", r#"{"seed":8}"#).await;
    let other = world.merchant().invoice().await;
    assert_ne!(other["deposit_address"], first["deposit_address"]);
    let journal = world.get("journal").await;
    let started = journal
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["kind"] == "started");
    let seeds: Vec<&Value> = started.map(|entry| &entry["seed"]).collect();
    assert_eq!(seeds, [7, 7, 8]);
}
