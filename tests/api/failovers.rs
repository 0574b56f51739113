//! Failovers to a standby. An asynchronous one costs what docs/operations/postgresql.md states, a synchronous one nothing.

use std::collections::{BTreeMap, BTreeSet};

use florin_postgres::{Durability, PostgresServer};
use serde_json::{Value, json};
use support::{Checkout, Program, World, eventually};

use crate::database_server::{Setup, loopback};
use crate::disasters::ready_with;
use crate::helpers::paid_event_count;

/// What customers and store have done before the primary is lost.
struct Before {
    /// A customer has paid this order; its attempt was opened before `cut`.
    paid: Checkout,
    /// Its attempt was opened after `cut`.
    waiting: Checkout,
    /// The invoice of that attempt.
    invoice: String,
    /// The order that the store has opened after `cut`.
    last: String,
    /// The `next` of the store's list of events.
    cursor: String,
}

fn lamp() -> Value {
    json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp" })
}

/// Opens and pays orders. `cut` is called between what each standby has and what an asynchronous one may lack.
async fn trade(setup: &Setup, cut: impl FnOnce()) -> Before {
    let world = &setup.world;
    let paid = setup.checkout().await;
    let waiting = world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    cut();
    waiting.choose("BTC").await;
    let address = waiting.address().await;
    let opened = world.store().open(&lamp()).await.with(201);
    world.sandbox().pay(&paid, "exact").await;
    world.sandbox().mine(3).await;
    paid.wait_for("paid").await;
    world.wait_for_deliveries().await;
    assert_eq!(paid_event_count(world, &paid.order).await, 1);
    let page = world.store().get("/v1/events?limit=100").await.with(200);
    let events = page.body["events"].as_array().unwrap().clone();
    Before {
        invoice: world.sandbox().invoice_of(&address).await,
        paid,
        waiting,
        last: opened.body["order"]["id"].as_str().unwrap().to_owned(),
        cursor: events.last().unwrap()["id"].as_str().unwrap().to_owned(),
    }
}

/// The primary is destroyed, and the standby takes its place.
async fn fail_over(setup: &mut Setup, standby: &PostgresServer) {
    setup.server.stop_at_once().unwrap();
    setup.reports_that_the_server_is_away().await;
    standby.promote().unwrap();
    setup.network.redirect(loopback(standby.port())).await;
    ready_with(&setup.world, &setup.program, 200).await;
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
    let before = trade(&setup, || {
        standby.catch_up(&setup.server).unwrap();
        standby.stop_following(&setup.server).unwrap();
    })
    .await;
    let paid_before = accepted(&setup.world, &before.paid.order, "order.paid");
    assert_eq!(paid_before.len(), 1);
    fail_over(&mut setup, &standby).await;
    let Setup {
        world, mut program, ..
    } = setup;

    // The credit is found again, by a poll: the attempt is still there. Its event comes again with another id.
    before.paid.wait_for("paid").await;
    eventually("order.paid is delivered again", async || {
        let paid = accepted(&world, &before.paid.order, "order.paid");
        (paid.len() == 2).then_some(())
    })
    .await;
    world.wait_for_deliveries().await;
    assert_eq!(credits(&standby, &before.paid.order), "1");
    assert_eq!(paid_event_count(&world, &before.paid.order).await, 1);
    assert!(
        ids_of(&world, &before.paid.order)
            .await
            .is_disjoint(&paid_before)
    );
    assert_eq!(accepted(&world, &before.paid.order, "order.paid").len(), 2);

    // The attempt is unknown: its order waits for another one, and the gateway alone knows the money.
    assert_eq!(before.waiting.view().await["status"], "open");
    world.sandbox().pay_invoice(&before.invoice, "exact").await;
    world.sandbox().mine(3).await;
    let invoice = gateway_invoice(&world, &before.invoice).await;
    assert!(invoice.contains("COMPLETED"), "{invoice}");
    assert_eq!(before.waiting.view().await["status"], "open");
    assert_eq!(credits(&standby, &before.waiting.order), "0");

    // The store opens the order again by the same reference.
    let lost = format!("/v1/orders/{}", before.last);
    world.store().get(&lost).await.refused(404, "not_found");
    let opened = world.store().open(&lamp()).await.with(201);
    assert_ne!(opened.body["order"]["id"], before.last.as_str());

    // The store reads its list from an older event, or from the beginning.
    let after = format!("/v1/events?after={}", before.cursor);
    let refused = world.store().get(&after).await;
    refused.refused(400, "invalid_request").naming("after");

    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}

#[tokio::test]
async fn a_failover_to_a_synchronous_standby_loses_no_credit_event_attempt_or_order() {
    let primary = PostgresServer::start(Durability::Full).unwrap();
    let standby = primary.start_standby().unwrap();
    primary.wait_for_standby().unwrap();
    let mut setup = Setup::start_on(primary).await;
    let before = trade(&setup, || {}).await;
    let events = ids_of(&setup.world, &before.paid.order).await;
    fail_over(&mut setup, &standby).await;
    let Setup {
        world, mut program, ..
    } = setup;

    assert_eq!(before.paid.view().await["status"], "paid");
    assert_eq!(ids_of(&world, &before.paid.order).await, events);
    assert_eq!(credits(&standby, &before.paid.order), "1");

    world.sandbox().pay_invoice(&before.invoice, "exact").await;
    world.sandbox().mine(3).await;
    before.waiting.wait_for("paid").await;
    world.wait_for_deliveries().await;
    assert_eq!(credits(&standby, &before.waiting.order), "1");
    for order in [&before.paid.order, &before.waiting.order] {
        assert_eq!(accepted(&world, order, "order.paid").len(), 1);
    }

    let opened = world.store().open(&lamp()).await.with(200);
    assert_eq!(opened.body["order"]["id"], before.last.as_str());
    let after = format!("/v1/events?after={}", before.cursor);
    world.store().get(&after).await.with(200);

    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}

/// What `florin-proxy gateway invoice` prints.
async fn gateway_invoice(world: &World, id: &str) -> String {
    let config = world.config_file().display().to_string();
    let words = ["--config", &config, "gateway", "invoice", id];
    let printed = Program::run_beside(&words, &[]).await;
    assert_eq!(printed.code, Some(0), "{}", printed.printed);
    printed.printed
}
