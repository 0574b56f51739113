//! A proxy that runs in this process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use florin_gateway::Deadlines;
use florin_proxy::clock::SystemRandom;
use florin_proxy::config::load;
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners, gateway_account};
use florin_storage::Database;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::MovableClock;

/// Shorter than the 10 s of production, so that tests of a slow gateway are quick.
const DEADLINES: Deadlines = Deadlines {
    connect: Duration::from_secs(2),
    total: Duration::from_secs(2),
};
const END: Duration = Duration::from_secs(15);

pub(super) struct RunningProxy {
    shutdown: CancellationToken,
    ended: JoinHandle<anyhow::Result<()>>,
    database: Database,
}

impl RunningProxy {
    pub(super) async fn start(
        file: &Path,
        clock: MovableClock,
        public: TcpListener,
        admin: TcpListener,
    ) -> Self {
        let config = load(Some(file), &BTreeMap::new());
        let config = config.unwrap_or_else(|problems| panic!("our own configuration: {problems}"));
        let environment = config.environment.as_str();
        let database = Database::open(&config.database_url, environment).await;
        let database = database.expect("a database of this test");
        let mut settings = config.gateway.client_settings();
        settings.deadlines = DEADLINES;
        let (clock, random) = (Arc::new(clock), Arc::new(SystemRandom));
        let client = gateway_account::client(settings, &database, clock.clone());
        let dependencies = Dependencies {
            storage: database.storage(),
            gateway: Arc::new(client.expect("our own settings")),
            webhooks: Arc::new(WebhookSender::new().expect("the machine has TLS roots")),
            clock,
            random,
        };
        let shutdown = CancellationToken::new();
        let listeners = Listeners {
            public,
            admin,
            public_connections: 10_000,
        };
        let run = florin_proxy::run(listeners, config, dependencies, shutdown.clone());
        Self {
            shutdown,
            ended: tokio::spawn(run),
            database,
        }
    }

    pub(super) async fn end(self) {
        self.shutdown.cancel();
        let ended = tokio::time::timeout(END, self.ended).await;
        let ended = ended.expect("the proxy ends within 15 s when it is asked to");
        ended
            .expect("the proxy does not panic")
            .expect("the proxy ends well when it is asked to");
        self.database.close().await;
    }
}
