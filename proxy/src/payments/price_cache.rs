//! The price cache: one copy of GET /prices serves every customer.
//!
//! Each copy is stored before a quote of it is shown: another proxy on the same database honours the quote, and so does
//! this one after a restart.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::{CallError, Clock, PaymentGateway, PriceEntry, Prices};
use florin_money::{CryptoCode, Currency};
use florin_storage::{PriceList, Storage, StorageError};
use jiff::{SignedDuration, Timestamp};
use parking_lot::RwLock;
use tokio::sync::Mutex;

use crate::payments::quotes::priced_currencies;

/// How long an empty list is kept: a gateway that has just started has no price for a moment.
const KEEP_EMPTY: SignedDuration = SignedDuration::from_secs(2);

#[derive(Debug)]
pub(crate) struct PriceSnapshot {
    pub prices: Prices,
    pub fetched_at: Timestamp,
}

/// Keeps the prices that are still offered. Concurrent callers share one request.
#[derive(Debug)]
pub(crate) struct PriceCache {
    lifetime: RwLock<SignedDuration>,
    /// Of this process and of others, newest last; expired ones are removed when new ones arrive.
    valid_lists: RwLock<Vec<Arc<PriceSnapshot>>>,
    /// The currencies of the last prices, those that are no longer offered included.
    currencies: RwLock<BTreeSet<Currency>>,
    /// Held during a request; holds the last failure and its time.
    failed: Mutex<Option<(Timestamp, CallError)>>,
}

impl PriceCache {
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self {
            lifetime: RwLock::new(whole(lifetime)),
            valid_lists: RwLock::default(),
            currencies: RwLock::default(),
            failed: Mutex::default(),
        }
    }

    pub(crate) fn lifetime(&self) -> SignedDuration {
        *self.lifetime.read()
    }

    /// Changes how long quotes are honoured, those that are shown already included.
    pub(crate) fn set_lifetime(&self, lifetime: Duration) {
        *self.lifetime.write() = whole(lifetime);
    }

    /// Prices with at least half of their lifetime left.
    pub(crate) async fn fresh(
        &self,
        gateway: &dyn PaymentGateway,
        storage: &dyn Storage,
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
        match self.load(storage, clock.now()).await {
            Ok(()) => {
                if let Some(priced) = self.newest(clock.now()) {
                    return Ok(priced);
                }
            }
            Err(error) => log_failure(&error, "stored prices were not read"),
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
            fetched_at: whole_milliseconds(clock.now()),
        });
        if let Err(error) = keep(storage, &fetched).await {
            log_failure(&error, "prices were not stored");
        }
        self.offer(fetched.clone(), clock.now());
        Ok(fetched)
    }

    pub(crate) fn is_fetching(&self) -> bool {
        self.failed.try_lock().is_err()
    }

    async fn load(&self, storage: &dyn Storage, now: Timestamp) -> Result<(), StorageError> {
        for PriceList { fetched_at, body } in storage.prices(now - self.lifetime()).await? {
            let prices = serde_json::from_str(&body).map_err(|error| {
                StorageError::Corrupt(format!("prices of {fetched_at} ({error})"))
            })?;
            self.offer(Arc::new(PriceSnapshot { prices, fetched_at }), now);
        }
        Ok(())
    }

    fn offer(&self, priced: Arc<PriceSnapshot>, now: Timestamp) {
        let mut valid_lists = self.valid_lists.write();
        valid_lists.retain(|old| self.seconds_left(old, now) > 0);
        let is_known = valid_lists.iter().any(|known| {
            known.fetched_at == priced.fetched_at && known.prices.entries == priced.prices.entries
        });
        if !is_known {
            valid_lists.push(priced);
            valid_lists.sort_by_key(|priced| priced.fetched_at);
            let newest = valid_lists
                .last()
                .map(|newest| priced_currencies(&newest.prices));
            *self.currencies.write() = newest.unwrap_or_default();
        }
    }

    /// The currencies that orders may have at the last prices; empty before there are any.
    pub(crate) fn currencies(&self) -> BTreeSet<Currency> {
        self.currencies.read().clone()
    }

    /// The newest prices, without a request to the gateway: `None` unless half of their lifetime is left.
    pub(crate) fn newest(&self, now: Timestamp) -> Option<Arc<PriceSnapshot>> {
        let half = u32::try_from(self.lifetime().as_secs() / 2).unwrap_or(u32::MAX);
        self.newest_for(half, now)
    }

    /// The newest prices, while they are offered for more than this number of seconds. An empty list is out of date after
    /// [`KEEP_EMPTY`].
    pub(crate) fn newest_for(&self, seconds: u32, now: Timestamp) -> Option<Arc<PriceSnapshot>> {
        let valid_lists = self.valid_lists.read();
        valid_lists
            .last()
            .filter(|priced| self.seconds_left(priced, now) > seconds)
            .filter(|priced| {
                !priced.prices.entries.is_empty()
                    || now.duration_since(priced.fetched_at) < KEEP_EMPTY
            })
            .cloned()
    }

    /// Drops all prices, those of other processes too: the gateway rejected one of them.
    pub(crate) async fn invalidate(&self, storage: &dyn Storage) {
        self.valid_lists.write().clear();
        if let Err(error) = storage.invalidate_prices().await {
            log_failure(&error, "prices were not withdrawn");
        }
    }

    /// The price of an asset that a conversion id pins, while it is still offered.
    pub(crate) async fn find(
        &self,
        storage: &dyn Storage,
        code: &CryptoCode,
        conversion_id: &str,
        now: Timestamp,
    ) -> Result<Option<PriceEntry>, StorageError> {
        let known = self.known(code, conversion_id, now);
        if known.is_some() {
            return Ok(known);
        }
        self.load(storage, now).await?;
        Ok(self.known(code, conversion_id, now))
    }

    fn known(&self, code: &CryptoCode, conversion_id: &str, now: Timestamp) -> Option<PriceEntry> {
        let valid_lists = self.valid_lists.read();
        valid_lists
            .iter()
            .filter(|priced| self.seconds_left(priced, now) > 0)
            .filter_map(|priced| priced.prices.entries.get(code))
            .find(|entry| entry.conversion_id.as_str() == conversion_id)
            .cloned()
    }

    /// How long prices are still offered; 0 once they are not. Prices of a clock that is somewhat ahead are new; those of
    /// one that is far ahead are not offered.
    pub(crate) fn seconds_left(&self, priced: &PriceSnapshot, now: Timestamp) -> u32 {
        let age = now.duration_since(priced.fetched_at);
        if age < -(self.lifetime() / 2) {
            return 0;
        }
        let left = self.lifetime() - age.max(SignedDuration::ZERO);
        u32::try_from(left.as_secs().max(0)).unwrap_or(u32::MAX)
    }
}

async fn keep(storage: &dyn Storage, priced: &PriceSnapshot) -> Result<(), StorageError> {
    let body = serde_json::to_string(&priced.prices).expect("texts become JSON");
    let fetched_at = priced.fetched_at;
    storage.keep_prices(&PriceList { fetched_at, body }).await
}

/// An outage is logged once, elsewhere.
fn log_failure(error: &StorageError, what: &str) {
    if error.outage().is_none() {
        tracing::warn!(%error, "{what}");
    }
}

fn whole_milliseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(time.as_millisecond()).unwrap_or(time)
}

fn whole(lifetime: Duration) -> SignedDuration {
    SignedDuration::try_from(lifetime).expect("a lifetime is minutes at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn prices_are_offered_for_their_lifetime_by_a_clock_that_is_about_right() {
        let cache = PriceCache::new(Duration::from_mins(1));
        let priced = PriceSnapshot {
            prices: Prices::default(),
            fetched_at: at(0),
        };
        for (now, left) in [
            (0, 60),
            (1, 59),
            (59, 1),
            (60, 0),
            (90, 0),
            (-5, 60),
            (-30, 60),
            (-31, 0),
        ] {
            assert_eq!(cache.seconds_left(&priced, at(now)), left, "{now}");
        }
    }

    #[test]
    fn an_empty_list_is_asked_for_again_after_two_seconds() {
        let cache = PriceCache::new(Duration::from_mins(1));
        let empty = PriceSnapshot {
            prices: Prices::default(),
            fetched_at: at(0),
        };
        cache.offer(Arc::new(empty), at(0));
        assert!(cache.newest(at(1)).is_some());
        assert!(cache.newest(at(2)).is_none());
    }
}
