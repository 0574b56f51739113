//! Storage monitor: notices within a second that orders cannot be stored, and that they can again.
//!
//! An outage is one ERROR with its remedy, and its end one line, however many requests fail meanwhile. Nothing here
//! restarts anything: the storage opens a new connection by itself.

use std::sync::Arc;
use std::time::Duration;

use florin_storage::StorageError;
use jiff::{SignedDuration, Timestamp};

use crate::state::AppState;

/// Pause between two checks of the database; during an outage, also between two writes.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause between two writes while all is well. An idle proxy hardly wears out a memory card.
const WRITE_EVERY: SignedDuration = SignedDuration::from_secs(60);
/// A probe that comes sooner after a write uses its result, so that probes cause no further writes.
const WRITE_IS_FRESH: SignedDuration = SignedDuration::from_secs(1);
/// A disk that does not answer by then has failed. Readiness has to fail within five seconds.
const LONGEST_WRITE: Duration = Duration::from_secs(3);

/// A read that takes longer is the reason to try a write.
const LONGEST_READ: Duration = Duration::from_secs(1);

/// A larger difference between the clocks of this machine and of a database server is reported.
pub(crate) const MOST_SKEW: SignedDuration = SignedDuration::from_secs(2);
const COMPARE_EVERY: SignedDuration = SignedDuration::from_secs(60);

pub(crate) async fn run(app: Arc<AppState>) {
    let (mut compared_at, mut agree) = (None, true);
    while !app.shutdown.is_cancelled() {
        check(&app, WRITE_EVERY).await;
        let is_old = |at: Timestamp| app.now().duration_since(at).abs() >= COMPARE_EVERY;
        if compared_at.is_none_or(is_old) {
            compared_at = Some(app.now());
            agree = compare_clocks(&app, agree).await;
        }
        app.pause(PAUSE).await;
    }
}

/// Reports once that the clock of the database server differs from this machine's, and that it does not any more. Returns
/// `true` if the clocks agree.
async fn compare_clocks(app: &AppState, agreed: bool) -> bool {
    let Ok(Some(server)) = app.storage.server_state().await else {
        return agreed;
    };
    let ahead = server.now.duration_since(app.now());
    let agree = ahead.abs() <= MOST_SKEW;
    if agreed && !agree {
        tracing::warn!(
            server_ahead_seconds = ahead.as_secs(),
            "the clocks of this machine and of the database server differ: orders expire and payments are polled at the \
             wrong time. Synchronise both, by chrony or systemd-timesyncd"
        );
    } else if agree && !agreed {
        tracing::info!("the clocks of this machine and of the database server agree again");
    }
    agree
}

/// Checks for the readiness page that an order could be stored and read now. Returns the number of events that wait.
pub(crate) async fn probe(app: &AppState) -> Result<u64, String> {
    check(app, WRITE_IS_FRESH).await;
    if let Some(reason) = app.storage_health.reason() {
        return Err(reason);
    }
    let read = tokio::time::timeout(LONGEST_READ, app.storage.backlog()).await;
    let error = match read {
        Ok(Ok(waiting)) => return Ok(waiting),
        Ok(Err(error)) => reason(&error),
        Err(_) => "the database does not answer".to_owned(),
    };
    // A read that fails says nothing about the next write, which is tried now.
    check(app, SignedDuration::ZERO).await;
    Err(app.storage_health.reason().unwrap_or(error))
}

/// Checks the database, and writes unless the last write is younger than `fresh`. Each failure before is checked by a write.
async fn check(app: &AppState, fresh: SignedDuration) {
    let now = app.now();
    let is_fresh = app.storage_health.is_fresh(now, fresh);
    let storage = &app.storage;
    let found = storage.check_database().await;
    if found.is_ok() && is_fresh {
        return;
    }
    let written = tokio::time::timeout(LONGEST_WRITE, storage.check_writing(now)).await;
    match written {
        Ok(Ok(())) => record_success(app, now),
        Ok(Err(error)) => record_failure(app, now, &reason(&error)),
        Err(_) => record_failure(
            app,
            now,
            "the disk does not answer. Check the disk and its mount. The proxy continues by itself; no restart is needed",
        ),
    }
}

fn reason(error: &StorageError) -> String {
    match error.outage() {
        Some(outage) => format!("{error}. {}", outage.remedy()),
        None => error.to_string(),
    }
}

fn record_success(app: &AppState, now: Timestamp) {
    if let Some(outage) = app.storage_health.record_success(now) {
        tracing::info!(seconds = outage.as_secs(), "orders can be stored again");
        // What waited during the outage is due now.
        app.poller_wakeup.notify_one();
        app.dispatcher_wakeup.send_replace(());
    }
}

fn record_failure(app: &AppState, now: Timestamp, reason: &str) {
    if app.storage_health.record_failure(now, reason) {
        app.metrics.storage_outage();
        tracing::error!(reason, "orders cannot be stored");
    }
}
