//! What the developer's page asks for: the world in one answer, a call opened, one fault disarmed.

use serde_json::{Value, json};

use crate::world::{KEY, World};

#[tokio::test]
async fn the_world_has_what_is_new_in_the_journal_alone() {
    let world = World::start().await;
    world.merchant().invoice().await;
    let first = world.get("world").await;
    let last = first["last_entry"].as_u64().unwrap();
    assert_eq!(
        first["journal"].as_array().unwrap().len(),
        usize::try_from(last).unwrap()
    );
    assert_eq!(first["invoices"].as_array().unwrap().len(), 1);
    assert_eq!(first["chains"].as_array().unwrap().len(), 8);
    assert_eq!(first["prices"].as_array().unwrap().len(), 9);
    assert_eq!(
        (&first["seed"], &first["time"]["speed"]),
        (&json!(7), &json!(1))
    );
    world.control("mine", "").await;
    let next = world.get(&format!("world?after={last}")).await;
    let kinds: Vec<&Value> = next["journal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["kind"])
        .collect();
    assert_eq!(kinds, ["block"]);
}

#[tokio::test]
async fn what_is_due_is_in_the_world_that_is_shown() {
    let world = World::start().await;
    world
        .control("invoices", r#"{"crypto_code": "BTC", "amount": "20.00"}"#)
        .await;
    world.clock.advance(15 * 60);
    let shown = world.get("world").await;
    let last = shown["journal"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["kind"], &last["to"]),
        (&json!("status"), &json!("FAILED"))
    );
    assert_eq!(shown["last_entry"], last["number"]);
}

#[tokio::test]
async fn the_world_has_as_many_invoices_as_are_asked_for_and_counts_all() {
    let world = World::start().await;
    for _ in 0..3 {
        world.control("invoices", "").await;
        world.control("sessions", "").await;
    }
    let shown = world.get("world?limit=2").await;
    assert_eq!(shown["invoices"].as_array().unwrap().len(), 2);
    assert_eq!(shown["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(shown["invoice_count"], 3);
}

#[tokio::test]
async fn a_call_can_be_opened_from_the_journal() {
    let world = World::start().await;
    let invoice = world.merchant().invoice().await;
    let journal = world.get("journal").await;
    let created = journal
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["did"] == "created_invoice");
    let call = &world
        .get(&format!("requests/{}", created.unwrap()["call"]))
        .await;
    let headers = call["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["apikey", KEY])), "{headers:?}");
    let body: Value = serde_json::from_str(call["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        body["amount_in_crypto"],
        invoice["invoice_amount_in_crypto"]
    );
    let answer: Value = serde_json::from_str(call["answer"].as_str().unwrap()).unwrap();
    assert_eq!(answer, invoice);
    let list = world.get("requests").await;
    assert_eq!(
        (&list[0]["body"], &list[0]["headers"]),
        (&Value::Null, &Value::Null)
    );
    let url = format!("{}/sandbox/requests/999", world.address);
    assert_eq!(world.http.get(url).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn one_fault_is_disarmed_and_the_others_stay() {
    let world = World::start().await;
    let mut numbers = Vec::new();
    for kind in ["drop", "garbled", "html"] {
        let fault = json!({"endpoint": "any", "kind": kind});
        numbers.push(
            world.control("faults", &fault.to_string()).await["number"]
                .as_u64()
                .unwrap(),
        );
    }
    let url = format!("{}/sandbox/faults/{}", world.address, numbers[1]);
    assert_eq!(world.http.delete(&url).send().await.unwrap().status(), 200);
    assert_eq!(world.http.delete(&url).send().await.unwrap().status(), 404);
    let left = world.get("faults").await;
    let left: Vec<&Value> = left
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| &fault["kind"])
        .collect();
    assert_eq!(left, ["drop", "html"]);
}

#[tokio::test]
async fn a_hosted_checkout_without_a_merchant_is_closed_once() {
    let world = World::start().await;
    let opened = world.control("sessions", "").await;
    let close = format!("sessions/{}/close", opened["id"].as_str().unwrap());
    assert_eq!(world.control(&close, "").await["status"], "CANCELLED");
    assert_eq!(world.post(&close, "").await.0, 409);
    assert_eq!(world.post("sessions/ses_none/close", "").await.0, 404);
    assert_eq!(world.post("sessions", r#"{"amount": "much"}"#).await.0, 400);
}
