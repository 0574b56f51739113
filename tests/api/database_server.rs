//! Faults of the PostgreSQL server and of the network to it under the program `florin-proxy`: each is one ERROR with its
//! remedy, readiness fails while orders cannot be stored, and the proxy recovers without a restart. A failover to an
//! asynchronous standby costs what docs/operations/postgresql.md states; the campaign fails over to a synchronous one, which
//! costs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use florin_servers::{Durability, PostgresServer};
use sqlx::{Connection as _, PgConnection};
use support::{Checkout, Program, TcpProxy, World, eventually, postgres_database, within};
use tokio::task::JoinSet;

use crate::disasters::{fails, lines, paid_once, ready_with};
use crate::helpers::{ebook, lamp, paid_event_count};
use crate::program::{assert_ended, end, run_for, start_program};

/// The proxy may take this long to notice that its open connections are dead, and to replace them.
const REPLACED: Duration = Duration::from_secs(20);
const AWAY: &str = "the database server cannot be reached";
const REMEDY: &str =
    "Check the database server, the network to it and the limit of its connections";

/// A proxy as a program on a server, with a network in between.
struct Setup {
    world: World,
    program: Program,
    network: TcpProxy,
    server: PostgresServer,
}

fn loopback(port: u16) -> std::net::SocketAddr {
    ([127, 0, 0, 1], port).into()
}

impl Setup {
    async fn start_on(server: PostgresServer) -> Self {
        server.create_database("florin", None).unwrap();
        let url = server.url("florin");
        florin_storage::migrate_postgres(&url, "test")
            .await
            .unwrap();
        let network = TcpProxy::to(loopback(server.port())).await;
        let mut world = World::with(|config| {
            config.database_url = Some(server.url_at(network.address().port(), "florin"));
        })
        .await;
        let program = start_program(&mut world).await;
        Self {
            world,
            program,
            network,
            server,
        }
    }

    async fn checkout(&self) -> Checkout {
        let checkout = self.world.customer().open("ebook").await;
        checkout.choose("BTC").await;
        checkout
    }

    /// Waits until orders cannot be stored; `until` ends the outage, which was one ERROR.
    async fn is_over(&mut self, reason: &str, remedy: &str, until: impl AsyncFnOnce(&mut Self)) {
        fails(&self.world, &self.program, &[reason, remedy]).await;
        until(self).await;
        ready_with(&self.world, &self.program, 200).await;
        reported(&self.program, reason, remedy);
    }

    async fn pays(self, checkout: &Checkout) {
        self.world.sandbox().settle(checkout, "exact").await;
        paid_once(&self.world, checkout).await;
        let ends = lines(&self.program, "INFO", "orders can be stored again");
        let outages = lines(&self.program, "ERROR", "");
        assert_eq!(ends.len(), outages.len(), "{ends:#?}\n{outages:#?}");
        end(self.world, self.program).await;
    }
}

/// While no standby confirms, no commit ends: nothing is shown to a customer that a failover would lose.
#[tokio::test]
async fn a_primary_without_its_synchronous_standby_is_reported_and_over_without_a_restart() {
    let primary = PostgresServer::start(Durability::Full).unwrap();
    let mut standby = primary.start_standby().unwrap();
    primary.wait_for_standby().unwrap();
    let mut setup = Setup::start_on(primary).await;
    let checkout = setup.checkout().await;
    standby.stop_at_once().unwrap();
    let remedy = "Start a standby that synchronous_standby_names lists";
    let start = async |_: &mut Setup| standby.start_again().unwrap();
    setup.is_over("no synchronous standby", remedy, start).await;
    setup.pays(&checkout).await;
}

/// A server that restarts, then a network that accepts connections and forwards nothing.
#[tokio::test]
async fn a_restart_and_a_partition_are_reported_and_over_without_a_restart_of_the_proxy() {
    let server = PostgresServer::start(Durability::Full).unwrap();
    let mut setup = Setup::start_on(server).await;
    let checkout = setup.checkout().await;
    setup.server.stop_at_once().unwrap();
    let start = async |setup: &mut Setup| setup.server.start_again().unwrap();
    setup.is_over(AWAY, REMEDY, start).await;
    setup.network.freeze();
    let restore = async |setup: &mut Setup| setup.network.restore().await;
    setup.is_over("no response in time", REMEDY, restore).await;
    setup.pays(&checkout).await;
}

/// A firewall that forgot the open connections lets new ones through: the proxy replaces all of them.
#[tokio::test]
async fn silently_dead_connections_are_replaced() {
    let server = PostgresServer::start(Durability::Full).unwrap();
    let setup = Setup::start_on(server).await;
    let checkout = setup.checkout().await;
    // Several connections are open.
    read_at_once(&checkout).await;
    setup.network.silence();
    let opened = within(REPLACED, async || {
        let product = ebook();
        let opened = setup.world.customer();
        (opened.request_order(&product).await.status == 201).then_some(())
    });
    opened.await.expect("an order is opened");
    let read = within(REPLACED, async || {
        let statuses = read_at_once(&checkout).await;
        statuses.iter().all(|status| *status == 200).then_some(())
    });
    read.await.expect("an order is read");
    let Setup { world, program, .. } = setup;
    world.sandbox().settle(&checkout, "exact").await;
    paid_once(&world, &checkout).await;
    end(world, program).await;
}

/// As one that a connection holds which the proxy has lost, until the server notices. The lease of the poll is longer than
/// this test waits.
#[tokio::test]
async fn an_observation_that_meets_a_lock_is_repeated_before_its_lease_ends() {
    let url = postgres_database().await;
    let world = World::with(|config| {
        config.callbacks = false;
        config.database_url = Some(url.clone());
    })
    .await;
    world.expect_error("failed to record an observation");
    let checkout = world.customer().open_with("ebook", "BTC").await;
    world.wait_for_deliveries().await;
    let mut other = PgConnection::connect(&url).await.unwrap();
    let mut holder = other.begin().await.unwrap();
    let lock = sqlx::query("SELECT 1 FROM orders FOR UPDATE").execute(&mut *holder);
    lock.await.unwrap();
    world.sandbox().settle(&checkout, "exact").await;
    eventually("the observation meets the lock", async || {
        checkout.view().await;
        let failed = world.logged("failed to record an observation");
        failed.then_some(())
    })
    .await;
    holder.rollback().await.unwrap();
    paid_once(&world, &checkout).await;
    world.end().await;
}

/// Each outage is one ERROR with its remedy, and nothing else is. A busy machine may see the server's silence before.
fn reported(program: &Program, reason: &str, remedy: &str) {
    let errors = lines(program, "ERROR", "orders cannot be stored");
    assert_eq!(errors, lines(program, "ERROR", ""));
    let stated = errors.iter().find(|error| error.contains(reason));
    assert!(
        stated.is_some_and(|error| error.contains(remedy)),
        "{errors:#?}"
    );
}

async fn read_at_once(checkout: &Checkout) -> Vec<u16> {
    let mut reads = JoinSet::new();
    for _ in 0..12 {
        let checkout = checkout.clone();
        reads.spawn(async move { checkout.get("").await.status });
    }
    reads.join_all().await
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
    for event in world.store().events_of(&paid.order).await {
        assert!(!paid_before.contains(event["id"].as_str().unwrap()));
    }
    assert_eq!(accepted(&world, &paid.order, "order.paid").len(), 2);

    // The attempt is unknown: its order waits for another one, and the gateway alone knows the money.
    assert_eq!(waiting.view().await["status"], "open");
    world.sandbox().settle_invoice(&invoice, "exact").await;
    let asked = run_for(&world, &["gateway", "invoice", &invoice], &[]).await;
    assert_ended(&asked, 0, &["COMPLETED"]);
    assert_eq!(waiting.view().await["status"], "open");
    assert_eq!(credits(&standby, &waiting.order), "0");

    // The store opens the order again by the same reference.
    let path = format!("/v1/orders/{last}");
    world.store().get(&path).await.refused(404, "not_found");
    let opened = world.store().open(&lamp()).await.with(201);
    assert_ne!(opened.text_at("/order/id"), last);

    // The store reads its list from an older event, or from the beginning.
    let after = format!("/v1/events?after={cursor}");
    let refused = world.store().get(&after).await;
    refused.refused(400, "invalid_request").naming("after");

    end(world, program).await;
}
