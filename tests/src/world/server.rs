//! A proxy that runs in this process, the log in which an unexpected error fails the test, and the end of a world, with checks that
//! apply to every test.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::Deadlines;
use florin_proxy::clock::SystemRandom;
use florin_proxy::config::load;
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners, gateway_account};
use florin_storage::Database;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::World;
use crate::clock::MovableClock;
use crate::http_response::HttpResponse;
use crate::wait::eventually;

/// Shorter than the 10 s of production, so that tests of a slow gateway are quick; long enough for a machine that starts browsers.
const DEADLINES: Deadlines = Deadlines {
    connect: Duration::from_secs(2),
    total: Duration::from_secs(4),
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
        let mut settings = config.gateway.client.clone();
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
        let run = florin_proxy::run(listeners, config, dependencies, shutdown.clone(), None);
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

/// Longer than the lease of a delivery.
const LEASE: Duration = Duration::from_secs(31);

impl World {
    pub async fn wait_for_deliveries(&self) {
        eventually("every event is delivered", async || {
            let request = self.http.get(format!("{}/health/ready", self.admin_url()));
            let response = HttpResponse::read(request.send().await.ok()?).await;
            (response.body["events_waiting"] == 0).then_some(())
        })
        .await;
    }

    /// Returns the number of undelivered events in the database of a stopped proxy.
    async fn backlog(&self) -> u64 {
        let database = Database::open(&self.database_url(), self.config.environment)
            .await
            .expect("the proxy's own database");
        let backlog = database.storage().backlog().await;
        let backlog = backlog.expect("the database responds");
        database.close().await;
        backlog
    }

    /// Waits until every event is delivered, ends everything, and runs the final checks.
    pub async fn end(mut self) {
        if self.proxy.is_some() {
            self.wait_for_deliveries().await;
        }
        self.has_ended = true;
        self.stop_proxy().await;
        let mut backlog = self.backlog().await;
        if backlog > 0 {
            // An order changed while the proxy was stopped, or a program was killed during a delivery, which is its own for 30 s:
            // the next start delivers its events. PostgreSQL counts such a lease by its own clock.
            if self.database_url().starts_with("sqlite:") {
                self.skip(LEASE);
            }
            self.start_proxy().await;
            self.wait_for_deliveries().await;
            self.stop_proxy().await;
            backlog = self.backlog().await;
        }
        let expected = self.expected.lock().clone();
        let errors = self.log.errors();
        let is_expected = |error: &&String| expected.iter().any(|text| error.contains(text));
        let surprises: Vec<_> = errors.iter().filter(|error| !is_expected(error)).collect();
        let missing = expected
            .iter()
            .find(|text| !errors.iter().any(|error| error.contains(*text)));
        let faults = self.webhooks.faults();
        self.shutdown.cancel();
        let log = &self.log;
        assert!(
            surprises.is_empty(),
            "unexpected errors: {surprises:#?}\n{log}"
        );
        assert_eq!(
            missing, None,
            "an error that was expected was not logged\n{log}"
        );
        assert!(
            faults.is_empty(),
            "deliveries that no store would accept: {faults:#?}"
        );
        assert_eq!(backlog, 0, "undelivered events\n{log}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.shutdown.cancel();
        if std::thread::panicking() {
            eprintln!("what the world logged:\n{}", self.log);
        } else {
            assert!(self.has_ended, "a test ends its world: world.end().await");
        }
    }
}

/// The lines of one world. Tests run on one thread each, and so does all that a test
/// spawns: what this thread logs is this world's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Line>>>);

#[derive(Debug)]
struct Line {
    level: Level,
    text: String,
}

impl Log {
    /// Begins to keep what this thread logs, from the level INFO on, until the guard is dropped.
    pub(crate) fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        let guard = tracing::subscriber::set_default(subscriber);
        (log, guard)
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        let lines = self.0.lock();
        let errors = lines.iter().filter(|line| line.level == Level::ERROR);
        errors.map(|line| line.text.clone()).collect()
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        let lines = self.0.lock();
        lines.iter().any(|line| line.text.contains(text))
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.lock();
        for Line { level, text } in lines.iter() {
            writeln!(f, "{level:5} {text}")?;
        }
        Ok(())
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        if level > Level::INFO {
            return;
        }
        let mut text = Text(format!("{target}:"));
        event.record(&mut text);
        let mut lines = self.0.lock();
        lines.push(Line {
            level,
            text: text.0,
        });
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
