//! The end of a world, with checks that apply to every test.

use std::time::Duration;

use florin_storage::Database;

use super::World;
use crate::http_response::HttpResponse;
use crate::wait::eventually;

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
