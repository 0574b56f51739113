//! Faults of the PostgreSQL server and of the network to it under the program `florin-proxy`: each is one ERROR with its
//! remedy, readiness fails while orders cannot be stored, and the proxy recovers without a restart.

use std::time::Duration;

use florin_postgres::{Durability, PostgresServer};
use sqlx::{Connection as _, PgConnection};
use support::{
    Checkout, Program, TcpProxy, World, WorldConfig, eventually, postgres_database, within,
};
use tokio::task::JoinSet;

use crate::disasters::{ebook, lines, paid_once, ready_with};
use crate::program::start_program;

/// The proxy may take this long to notice that its open connections are dead, and to replace them.
const REPLACED: Duration = Duration::from_secs(20);
const REMEDY: &str =
    "Check the database server, the network to it and the limit of its connections";

/// A proxy as a program on a server, with a network in between.
pub(crate) struct Setup {
    pub(crate) world: World,
    pub(crate) program: Program,
    pub(crate) network: TcpProxy,
    pub(crate) server: PostgresServer,
}

pub(crate) fn loopback(port: u16) -> std::net::SocketAddr {
    ([127, 0, 0, 1], port).into()
}

impl Setup {
    async fn start() -> Self {
        let server = PostgresServer::start(Durability::Full).unwrap();
        Self::start_on(server).await
    }

    pub(crate) async fn start_on(server: PostgresServer) -> Self {
        server.create_database("florin", None).unwrap();
        let url = server.url("florin");
        florin_storage::migrate_postgres(&url, "test")
            .await
            .unwrap();
        let network = TcpProxy::to(loopback(server.port())).await;
        let mut world = World::start_with(WorldConfig {
            database_url: Some(server.url_at(network.address().port(), "florin")),
            ..WorldConfig::default()
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

    pub(crate) async fn checkout(&self) -> Checkout {
        let checkout = self.world.customer().open("ebook").await;
        checkout.choose("BTC").await;
        checkout
    }

    async fn fails(&self, reason: &str, remedy: &str) {
        let report = ready_with(&self.world, &self.program, 503).await;
        let stated = report["database_reason"].as_str().unwrap_or_default();
        assert!(stated.contains(reason), "{report}");
        assert!(stated.contains(remedy), "{report}");
    }

    pub(crate) async fn reports_that_the_server_is_away(&self) {
        let reason = "the database server cannot be reached";
        self.fails(reason, REMEDY).await;
    }

    /// The customer pays, and the order is paid once, on the same process.
    async fn pays(mut self, checkout: &Checkout) {
        self.world.sandbox().pay(checkout, "exact").await;
        self.world.sandbox().mine(3).await;
        paid_once(&self.world, checkout).await;
        let ends = lines(&self.program, "INFO", "orders can be stored again");
        let outages = lines(&self.program, "ERROR", "");
        assert_eq!(ends.len(), outages.len(), "{ends:#?}\n{outages:#?}");
        assert_eq!(self.program.stop().await, Some(0));
        self.world.end().await;
    }
}

/// While no standby confirms, no commit ends: nothing is shown to a customer that a failover would lose.
#[tokio::test]
async fn a_primary_without_its_synchronous_standby_is_reported_and_over_without_a_restart() {
    let primary = PostgresServer::start(Durability::Full).unwrap();
    let mut standby = primary.start_standby().unwrap();
    primary.wait_for_standby().unwrap();
    let setup = Setup::start_on(primary).await;
    let checkout = setup.checkout().await;
    standby.stop_at_once().unwrap();
    let remedy = "Start a standby that synchronous_standby_names lists";
    setup.fails("no synchronous standby", remedy).await;
    standby.start_again().unwrap();
    ready_with(&setup.world, &setup.program, 200).await;
    reported(&setup.program, "no synchronous standby", remedy);
    setup.pays(&checkout).await;
}

#[tokio::test]
async fn a_server_that_restarts_is_reported_and_over_without_a_restart_of_the_proxy() {
    let mut setup = Setup::start().await;
    let checkout = setup.checkout().await;
    setup.server.stop_at_once().unwrap();
    setup.reports_that_the_server_is_away().await;
    setup.server.start_again().unwrap();
    ready_with(&setup.world, &setup.program, 200).await;
    reported(
        &setup.program,
        "the database server cannot be reached",
        REMEDY,
    );
    setup.pays(&checkout).await;
}

/// The network accepts connections and forwards nothing.
#[tokio::test]
async fn a_partition_is_reported_and_over_without_a_restart() {
    let mut setup = Setup::start().await;
    let checkout = setup.checkout().await;
    setup.network.freeze();
    setup.fails("no response in time", REMEDY).await;
    setup.network.restore().await;
    ready_with(&setup.world, &setup.program, 200).await;
    reported(&setup.program, "no response in time", REMEDY);
    setup.pays(&checkout).await;
}

/// A firewall that forgot the open connections lets new ones through: the proxy replaces all of them.
#[tokio::test]
async fn silently_dead_connections_are_replaced() {
    let setup = Setup::start().await;
    let checkout = setup.checkout().await;
    // Several connections are open.
    read_at_once(&checkout, 12).await;
    setup.network.silence();
    let opened = within(REPLACED, async || {
        let product = ebook();
        let opened = setup.world.customer();
        (opened.request_order(&product).await.status == 201).then_some(())
    });
    opened.await.expect("an order is opened");
    let read = within(REPLACED, async || {
        let statuses = read_at_once(&checkout, 12).await;
        statuses.iter().all(|status| *status == 200).then_some(())
    });
    read.await.expect("an order is read");
    let Setup {
        world, mut program, ..
    } = setup;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    paid_once(&world, &checkout).await;
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

/// As one that a connection holds which the proxy has lost, until the server notices. The lease of the poll is longer than
/// this test waits.
#[tokio::test]
async fn an_observation_that_meets_a_lock_is_repeated_before_its_lease_ends() {
    let url = postgres_database().await;
    let world = World::start_with(WorldConfig {
        callbacks: false,
        database_url: Some(url.clone()),
        ..WorldConfig::default()
    })
    .await;
    world.expect_error("failed to record an observation");
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.wait_for_deliveries().await;
    let mut other = PgConnection::connect(&url).await.unwrap();
    let mut holder = other.begin().await.unwrap();
    let lock = sqlx::query("SELECT 1 FROM orders FOR UPDATE").execute(&mut *holder);
    lock.await.unwrap();
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
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

/// Each outage is one ERROR, and nothing else is. A machine that is busy may see the server's silence as an outage before.
fn reported(program: &Program, reason: &str, remedy: &str) {
    let errors = lines(program, "ERROR", "");
    let outage =
        |error: &&String| error.contains("orders cannot be stored") && error.contains(remedy);
    assert!(
        errors
            .iter()
            .all(|error| outage(&error) || error.contains(reason)),
        "{errors:#?}"
    );
    let stated = errors.iter().filter(|error| error.contains(reason)).count();
    assert_eq!(stated, 1, "{errors:#?}");
}

/// Reads an order so many times at the same time; returns the statuses.
async fn read_at_once(checkout: &Checkout, times: usize) -> Vec<u16> {
    let mut reads = JoinSet::new();
    for _ in 0..times {
        let checkout = checkout.clone();
        reads.spawn(async move { checkout.get("").await.status });
    }
    reads.join_all().await
}
