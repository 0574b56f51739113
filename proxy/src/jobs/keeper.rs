//! The keeper: attempts whose invoice never came are given up, so that their order can be paid after all.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;

use crate::app::App;

/// Longer than POST /invoice can take: whoever began such an attempt is gone.
const STALE_AFTER: SignedDuration = SignedDuration::from_secs(20);
const PAUSE: Duration = Duration::from_secs(5);

/// Tidies up until the process ends.
pub(crate) async fn keep(app: Arc<App>) {
    while !app.shutdown.is_cancelled() {
        let now = app.now();
        match app
            .parts
            .ledger
            .abandon_stale_attempts(now - STALE_AFTER, now)
            .await
        {
            Ok(0) => {}
            Ok(attempts) => tracing::warn!(attempts, "attempts without an invoice were given up"),
            Err(error) => tracing::error!(%error, "the ledger could not be tidied up"),
        }
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            () = app.parts.clock.sleep(PAUSE) => {}
        }
    }
}
