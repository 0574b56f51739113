//! Cleanup: abandons attempts whose invoice was never made, so that their order can still be paid; expires orders; deletes
//! expired tokens, links of staff and idempotency records.

use std::sync::Arc;
use std::time::Duration;

use florin_orders::EventType;
use florin_storage::StorageError;
use jiff::SignedDuration;

use crate::state::AppState;
use crate::storage_health::error_unless_outage;

/// Longer than POST /invoice can take: the process that began such an attempt is gone.
const ATTEMPT_TIMEOUT: SignedDuration = SignedDuration::from_secs(20);
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) async fn run(app: Arc<AppState>) {
    while !app.shutdown.is_cancelled() {
        run_once(&app).await;
        app.pause(PAUSE).await;
    }
}

pub(crate) async fn run_once(app: &AppState) {
    if let Err(error) = clean_up(app).await {
        error_unless_outage!(error, "cleanup failed");
    }
}

async fn clean_up(app: &AppState) -> Result<(), StorageError> {
    let (storage, now) = (&app.deps.storage, app.now());
    let mut abandoned = 0;
    loop {
        // In batches, so that no customer waits for all of them.
        let stale = storage.abandon_stale_attempts(now - ATTEMPT_TIMEOUT, now);
        match stale.await? {
            0 => break,
            some => abandoned += some,
        }
    }
    if abandoned > 0 {
        tracing::warn!(
            attempts = abandoned,
            "abandoned attempts without an invoice"
        );
    }
    while storage.delete_expired_tokens(now).await? > 0 {}
    while storage.delete_expired_staff_access(now).await? > 0 {}
    while storage.delete_expired_requests(now).await? > 0 {}
    while storage.delete_unused_counts(now).await? > 0 {}
    while storage
        .delete_expired_prices(now - app.prices.lifetime())
        .await?
        > 0
    {}
    while !app.shutdown.is_cancelled() {
        let expired = storage.expire_orders(now).await?;
        if expired.is_empty() {
            break;
        }
        app.metrics
            .order_events(&vec![EventType::Expired; expired.len()]);
        app.wake_dispatcher();
    }
    Ok(())
}
