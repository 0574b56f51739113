//! Waiting, always with a bound.

use std::time::Duration;

use proxy::clock::{Clock as _, SystemClock};

/// Nothing takes longer: what a killed proxy was about to tell is leased for 30 s, and told then.
const BOUND: Duration = Duration::from_secs(45);
const POLL_EVERY: Duration = Duration::from_millis(40);

/// Looks until there is something, for 45 seconds at most.
///
/// # Panics
/// When there was nothing all the time; `what` says what was waited for.
pub async fn eventually<T>(what: &str, probe: impl AsyncFn() -> Option<T>) -> T {
    within(BOUND, probe)
        .await
        .unwrap_or_else(|| panic!("waited {} s for: {what}", BOUND.as_secs()))
}

/// Looks until there is something, for `bound` at most.
pub async fn within<T>(bound: Duration, probe: impl AsyncFn() -> Option<T>) -> Option<T> {
    let found = tokio::time::timeout(bound, async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            pause(POLL_EVERY).await;
        }
    });
    found.await.ok()
}

/// Lets real time pass. Only where nothing can be waited for: to see that nothing happens.
pub async fn pause(duration: Duration) {
    SystemClock.sleep(duration).await;
}
