//! Waiting, always with a bound.

use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};

/// Longest wait: a delivery of a killed proxy stays leased for 30 s and is repeated then.
const BOUND: Duration = Duration::from_secs(45);
/// The first pause between two polls. Each is longer than the last, up to `LONGEST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_millis(8);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Polls until the probe returns something, for 45 seconds at most.
pub async fn eventually<T>(what: &str, probe: impl AsyncFn() -> Option<T>) -> T {
    within(BOUND, probe)
        .await
        .unwrap_or_else(|| panic!("waited {} s for: {what}", BOUND.as_secs()))
}

/// Polls until the probe returns something, for `bound` at most.
pub async fn within<T>(bound: Duration, probe: impl AsyncFn() -> Option<T>) -> Option<T> {
    let found = tokio::time::timeout(bound, async {
        let mut wait = FIRST_PAUSE;
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            pause(wait).await;
            wait = (wait * 3 / 2).min(LONGEST_PAUSE);
        }
    });
    found.await.ok()
}

/// Sleeps in real time. Only for checks that nothing happens, where there is no condition to wait for.
pub async fn pause(duration: Duration) {
    SystemClock.sleep(duration).await;
}
