//! The price cache: one copy of GET /prices serves everybody.

use std::sync::Arc;
use std::time::Duration;

use florin_gateway::{CallError, Clock, PaymentGateway, PriceEntry, Prices};
use florin_money::CryptoCode;
use jiff::{SignedDuration, Timestamp};
use parking_lot::RwLock;
use tokio::sync::Mutex;

/// The prices as they were at one moment.
#[derive(Debug)]
pub(crate) struct PriceSnapshot {
    /// The gateway's prices.
    pub prices: Prices,
    /// When they were fetched.
    pub fetched_at: Timestamp,
}

/// Keeps the prices that are still offered. Concurrent callers share one request.
#[derive(Debug)]
pub(crate) struct PriceCache {
    lifetime: SignedDuration,
    /// Newest last; expired ones are removed when new ones arrive.
    offered: RwLock<Vec<Arc<PriceSnapshot>>>,
    /// Held during a request; holds the last failure and its time.
    failed: Mutex<Option<(Timestamp, CallError)>>,
}

impl PriceCache {
    /// A cache whose prices are offered for `lifetime` after they were fetched.
    pub(crate) fn new(lifetime: Duration) -> Self {
        let lifetime = SignedDuration::try_from(lifetime).expect("a lifetime is minutes at most");
        Self {
            lifetime,
            offered: RwLock::default(),
            failed: Mutex::default(),
        }
    }

    /// Prices with at least half of their lifetime left.
    ///
    /// # Errors
    /// The gateway's error, if there is no fresh copy.
    pub(crate) async fn fresh(
        &self,
        gateway: &dyn PaymentGateway,
        clock: &dyn Clock,
    ) -> Result<Arc<PriceSnapshot>, CallError> {
        if let Some(priced) = self.newest(clock.now()) {
            return Ok(priced);
        }
        let asked_at = clock.now();
        let mut failed = self.failed.lock().await;
        if let Some(priced) = self.newest(clock.now()) {
            return Ok(priced);
        }
        // Waiters share the result of the request in flight, including its error.
        if let Some((at, error)) = &*failed
            && *at >= asked_at
        {
            return Err(error.clone());
        }
        let prices = match gateway.prices().await {
            Ok(prices) => prices,
            Err(error) => {
                *failed = Some((clock.now(), error.clone()));
                return Err(error);
            }
        };
        for skipped in &prices.skipped {
            tracing::warn!(asset = %skipped.key, reason = %skipped.reason, "price skipped");
        }
        let fetched = Arc::new(PriceSnapshot {
            prices,
            fetched_at: clock.now(),
        });
        let mut offered = self.offered.write();
        offered.retain(|old| self.seconds_left(old, clock.now()) > 0);
        offered.push(fetched.clone());
        Ok(fetched)
    }

    /// The same without a request: `None` if there is no fresh copy.
    pub(crate) fn newest(&self, now: Timestamp) -> Option<Arc<PriceSnapshot>> {
        let offered = self.offered.read();
        let half = u32::try_from(self.lifetime.as_secs() / 2).unwrap_or(u32::MAX);
        offered
            .last()
            .filter(|priced| self.seconds_left(priced, now) > half)
            .cloned()
    }

    /// Drops all prices: the gateway does not honour one of them.
    pub(crate) fn forget(&self) {
        self.offered.write().clear();
    }

    /// The price of an asset that a conversion id pins, while it is still offered.
    pub(crate) fn find(
        &self,
        code: &CryptoCode,
        conversion_id: &str,
        now: Timestamp,
    ) -> Option<PriceEntry> {
        let offered = self.offered.read();
        offered
            .iter()
            .filter(|priced| self.seconds_left(priced, now) > 0)
            .filter_map(|priced| priced.prices.entries.get(code))
            .find(|entry| entry.conversion_id.as_str() == conversion_id)
            .cloned()
    }

    /// How long prices are still offered; 0 once they are not.
    pub(crate) fn seconds_left(&self, priced: &PriceSnapshot, now: Timestamp) -> u32 {
        let left = self.lifetime - now.duration_since(priced.fetched_at);
        u32::try_from(left.as_secs().max(0)).unwrap_or(u32::MAX)
    }
}
