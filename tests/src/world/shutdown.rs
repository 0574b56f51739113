//! How a world ends: with a look at what no single test would look at.

use std::sync::PoisonError;

use florin_storage::{SqliteStorage, Storage as _};

use super::World;
use crate::answer::Answer;
use crate::wait::eventually;

impl World {
    /// Waits until no event waits to be told.
    pub async fn wait_for_deliveries(&self) {
        eventually("no event waits to be told", async || {
            let answer = self
                .http
                .get(format!("{}/health/ready", self.admin_url()))
                .send()
                .await;
            let answer = Answer::read(answer.ok()?).await;
            (answer.body["events_waiting"] == 0).then_some(())
        })
        .await;
    }

    /// How many events wait to be told, by the ledger of a proxy that does not run.
    async fn backlog(&self) -> u64 {
        let url = format!("sqlite://{}", self.database().display());
        let ledger = SqliteStorage::open(&url, self.config.environment)
            .await
            .expect("the proxy's own database");
        let backlog = ledger.backlog().await.expect("the ledger answers");
        ledger.close().await;
        backlog
    }

    /// Waits until everything is told, ends all, and fails when something was wrong.
    ///
    /// # Panics
    /// An event still waits to be told, a delivery was not signed, or an error was logged that nobody expected; or one
    /// was expected and did not come.
    pub async fn end(mut self) {
        if self.proxy.is_some() {
            self.wait_for_deliveries().await;
        }
        self.has_ended = true;
        self.stop_proxy().await;
        let mut backlog = self.backlog().await;
        if backlog > 0 {
            // An order moved while the proxy was stopped: the next start tells it.
            self.start_proxy().await;
            self.wait_for_deliveries().await;
            self.stop_proxy().await;
            backlog = self.backlog().await;
        }
        let expected = self
            .expected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let errors = self.log.errors();
        let is_expected = |error: &&String| expected.iter().any(|text| error.contains(text));
        let surprises: Vec<_> = errors.iter().filter(|error| !is_expected(error)).collect();
        let missing = expected
            .iter()
            .find(|text| !errors.iter().any(|error| error.contains(*text)));
        let faults = self.webhooks.faults();
        self.shutdown.cancel();
        assert!(
            surprises.is_empty(),
            "unexpected errors: {surprises:#?}\n{}",
            self.log
        );
        assert_eq!(
            missing, None,
            "an error that was expected was not logged\n{}",
            self.log
        );
        assert!(
            faults.is_empty(),
            "deliveries that no store would take: {faults:#?}"
        );
        assert_eq!(backlog, 0, "events wait to be told\n{}", self.log);
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
