//! A failover to an asynchronous standby costs what docs/operations/postgresql.md states. The campaign fails over to a
//! synchronous one, which costs nothing.

use std::collections::{BTreeMap, BTreeSet};

use florin_postgres::{Durability, PostgresServer};
use serde_json::{Value, json};
use support::{Program, World, eventually};

use crate::database_server::{AWAY, REMEDY, Setup, loopback};
use crate::disasters::{fails, ready_with};
use crate::helpers::paid_event_count;
use crate::program::{assert_ended, end};

fn lamp() -> Value {
    json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp" })
}

/// The ids of the events of a kind that the store has accepted of an order. No id of any event has two contents.
fn accepted(world: &World, order: &str, kind: &str) -> BTreeSet<String> {
    let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for delivery in world.webhooks.deliveries() {
        let first = contents
            .entry(delivery.id.clone())
            .or_insert_with(|| delivery.bytes.to_vec());
        assert_eq!(*first, delivery.bytes, "{}", delivery.id);
    }
    let accepted = world.webhooks.accepted(order).into_iter();
    let accepted = accepted.filter(|delivery| delivery.kind == kind);
    accepted.map(|delivery| delivery.id).collect()
}

async fn ids_of(world: &World, order: &str) -> BTreeSet<String> {
    let events = world.store().events_of(order).await;
    let ids = events.iter().map(|event| event["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

fn credits(server: &PostgresServer, order: &str) -> String {
    let credits = format!("SELECT count(*) FROM credits WHERE order_id = '{order}'");
    server.psql("florin", &credits).unwrap()
}

#[tokio::test]
async fn a_lossy_failover_costs_what_the_documentation_states() {
    let primary = PostgresServer::start(Durability::Full).unwrap();
    let standby = primary.start_standby().unwrap();
    let mut setup = Setup::start_on(primary).await;
    let paid = setup.checkout().await;
    let waiting = setup.world.customer().open("ebook").await;
    setup.world.wait_for_deliveries().await;
    standby.catch_up(&setup.server).unwrap();
    standby.stop_following(&setup.server).unwrap();
    // What follows is lost: an attempt, an order of the store, a credit with its event.
    waiting.choose("BTC").await;
    let address = waiting.address().await;
    let invoice = setup.world.sandbox().invoice_of(&address).await;
    let last = setup.world.store().open(&lamp()).await.with(201);
    let last = last.text_at("/order/id");
    setup.world.sandbox().settle(&paid, "exact").await;
    paid.wait_for("paid").await;
    setup.world.wait_for_deliveries().await;
    let page = setup.world.store().get("/v1/events?limit=100").await;
    let events = page.with(200).body["events"].as_array().unwrap().clone();
    let cursor = events.last().unwrap()["id"].as_str().unwrap();
    let paid_before = accepted(&setup.world, &paid.order, "order.paid");
    assert_eq!(paid_before.len(), 1);

    setup.server.stop_at_once().unwrap();
    fails(&setup.world, &setup.program, &[AWAY, REMEDY]).await;
    standby.promote().unwrap();
    setup.network.redirect(loopback(standby.port())).await;
    ready_with(&setup.world, &setup.program, 200).await;
    let Setup { world, program, .. } = setup;

    // The credit is found again, by a poll: the attempt is still there. Its event comes again with another id.
    paid.wait_for("paid").await;
    eventually("order.paid is delivered again", async || {
        let paid = accepted(&world, &paid.order, "order.paid");
        (paid.len() == 2).then_some(())
    })
    .await;
    world.wait_for_deliveries().await;
    assert_eq!(credits(&standby, &paid.order), "1");
    assert_eq!(paid_event_count(&world, &paid.order).await, 1);
    assert!(ids_of(&world, &paid.order).await.is_disjoint(&paid_before));
    assert_eq!(accepted(&world, &paid.order, "order.paid").len(), 2);

    // The attempt is unknown: its order waits for another one, and the gateway alone knows the money.
    assert_eq!(waiting.view().await["status"], "open");
    world.sandbox().settle_invoice(&invoice, "exact").await;
    let config = world.config_file().display().to_string();
    let words = ["--config", &config, "gateway", "invoice", &invoice];
    assert_ended(&Program::run_beside(&words, &[]).await, 0, &["COMPLETED"]);
    assert_eq!(waiting.view().await["status"], "open");
    assert_eq!(credits(&standby, &waiting.order), "0");

    // The store opens the order again by the same reference.
    let lost = format!("/v1/orders/{}", last);
    world.store().get(&lost).await.refused(404, "not_found");
    let opened = world.store().open(&lamp()).await.with(201);
    assert_ne!(opened.text_at("/order/id"), last);

    // The store reads its list from an older event, or from the beginning.
    let after = format!("/v1/events?after={}", cursor);
    let refused = world.store().get(&after).await;
    refused.refused(400, "invalid_request").naming("after");

    end(world, program).await;
}
