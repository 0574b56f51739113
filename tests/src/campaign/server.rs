//! The PostgreSQL server of a campaign, whose primary is lost.

use std::net::SocketAddr;

use florin_postgres::{Durability, PostgresServer};

pub(super) const DATABASE: &str = "florin";

/// The primary.
#[derive(Debug)]
pub(super) struct Server {
    /// `None` while another thread calls it.
    primary: Option<PostgresServer>,
}

impl Server {
    /// Starts a server with an empty database of the proxy.
    pub(super) async fn start() -> Self {
        let primary = PostgresServer::start(Durability::Full).expect("PostgreSQL is installed");
        let created = primary.create_database(DATABASE, None);
        created.expect("the server makes databases");
        let migrated = florin_storage::migrate_postgres(&primary.url(DATABASE), "test").await;
        migrated.expect("an empty database can be migrated");
        Self {
            primary: Some(primary),
        }
    }

    fn primary(&self) -> &PostgresServer {
        self.primary.as_ref().expect("no other thread calls it")
    }

    pub(super) fn url(&self) -> String {
        self.primary().url(DATABASE)
    }

    /// The address of the database at this port: the server's own, or that of a link to it.
    pub(super) fn url_at(&self, port: u16) -> String {
        self.primary().url_at(port, DATABASE)
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.primary().port()))
    }

    /// Ends the primary without a checkpoint.
    pub(super) fn lose_primary(&mut self) {
        let primary = self.primary.as_mut().expect("no other thread calls it");
        primary.stop_at_once().expect("the primary runs");
    }

    /// Starts the primary again and waits until it has recovered.
    pub(super) async fn recover(&mut self) {
        self.call(|primary| primary.start_again().expect("the primary recovers"))
            .await;
    }

    /// Starts a standby, and lets each commit wait for it.
    pub(super) async fn start_standby(&mut self) -> PostgresServer {
        self.call(|primary| {
            let standby = primary.start_standby().expect("it follows the primary");
            primary.wait_for_standby().expect("it follows the primary");
            standby
        })
        .await
    }

    /// Makes a standby the primary; the old one is lost.
    pub(super) async fn promote(&mut self, standby: PostgresServer) {
        self.primary = Some(standby);
        self.call(|primary| primary.promote().expect("it was a standby"))
            .await;
    }

    pub(super) fn into_primary(self) -> PostgresServer {
        self.primary.expect("no other thread calls it")
    }

    /// Calls the primary in another thread: it blocks.
    async fn call<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut PostgresServer) -> T + Send + 'static,
    ) -> T {
        let mut primary = self.primary.take().expect("no other thread calls it");
        let called = tokio::task::spawn_blocking(move || {
            let done = call(&mut primary);
            (primary, done)
        });
        let (primary, done) = called.await.expect("the call does not panic");
        self.primary = Some(primary);
        done
    }
}
