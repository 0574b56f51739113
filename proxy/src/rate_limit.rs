//! Limits how often one key, such as a client address, may do something in a minute, by the generic cell rate algorithm (GCRA).
//!
//! Each order and each client token is a row, and each attempt a request to the gateway. A customer needs one or two.
//!
//! Several proxies on one database count together, by a row for each key. A proxy asks the database only for requests that
//! it would allow by itself: a flood from one address costs the database no more than the address may do.
//!
//! It is written here and not with `governor`: its keyed store has no bound and does not say whether it knows a key, so
//! that the bound, the removal of expired keys and the clock of the tests would be written here all the same, around a
//! sum of two times.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use florin_orders::{Reference, StoreId};
use florin_storage::{LimitKey, Storage};
use ipnet::Ipv6Net;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const SWEEP: SignedDuration = SignedDuration::from_secs(1);

/// Fails open above this many tracked keys; as many addresses take some 4 MiB.
const MAX_KEYS: usize = 50_000;

pub(crate) trait Key: Eq + Hash {
    /// Different for different keys.
    fn text(&self) -> String;
}

impl Key for IpAddr {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Key for (StoreId, Reference) {
    fn text(&self) -> String {
        let (store, reference) = self;
        format!("{store}\0{reference}")
    }
}

/// One count for each key: so many at once, and as many in each minute.
#[derive(Debug)]
pub(crate) struct RateLimit<K> {
    /// Its name in the database.
    name: &'static str,
    /// Nanoseconds between two requests at the permitted rate.
    interval: AtomicI64,
    counts: Mutex<Counts<K>>,
}

#[derive(Debug)]
struct Counts<K> {
    /// When a key's past requests are used up at the permitted rate: the theoretical arrival time of the algorithm.
    used_until: HashMap<K, Timestamp>,
    /// When expired entries were last removed; at most once a second, since that visits all of them.
    swept_at: Timestamp,
}

impl<K> Counts<K> {
    fn have_room(&mut self, now: Timestamp) -> bool {
        let is_full = self.used_until.len() >= MAX_KEYS;
        if is_full && now.duration_since(self.swept_at) >= SWEEP {
            self.used_until.retain(|_, until| *until > now);
            self.swept_at = now;
        }
        self.used_until.len() < MAX_KEYS
    }
}

impl<K: Key> RateLimit<K> {
    /// At most `per_minute`, at least one.
    pub(crate) fn new(name: &'static str, per_minute: u32) -> Self {
        Self {
            name,
            interval: AtomicI64::new(nanoseconds_between(per_minute)),
            counts: Mutex::new(Counts {
                used_until: HashMap::new(),
                swept_at: Timestamp::default(),
            }),
        }
    }

    /// Changes the limit. What a key has used stays used.
    pub(crate) fn set_per_minute(&self, per_minute: u32) {
        let interval = nanoseconds_between(per_minute);
        self.interval.store(interval, Ordering::Relaxed);
    }

    fn interval(&self) -> SignedDuration {
        SignedDuration::from_nanos(self.interval.load(Ordering::Relaxed))
    }

    /// Counts a request, here and over all proxies on the same database. While the database cannot count, each proxy does.
    ///
    /// # Errors
    /// The key has made too many: when the next one is allowed.
    pub(crate) async fn check(
        &self,
        storage: &dyn Storage,
        key: K,
        now: Timestamp,
    ) -> Result<(), SignedDuration> {
        self.used_until(&mut self.counts.lock(), &key, now)?;
        let shared = LimitKey::new(self.name, &key.text());
        if let Ok(Some(wait)) = storage.count_request(shared, self.interval(), now).await {
            return Err(wait);
        }
        self.check_here(key, now)
    }

    /// Counts a request in this process alone, which costs the database nothing.
    ///
    /// # Errors
    /// As of [`Self::check`].
    pub(crate) fn check_here(&self, key: K, now: Timestamp) -> Result<(), SignedDuration> {
        let mut counts = self.counts.lock();
        if let Some(until) = self.used_until(&mut counts, &key, now)? {
            counts.used_until.insert(key, until);
        }
        Ok(())
    }

    /// Until when the key has used its minute with one more request; `None` of a key that cannot be tracked.
    fn used_until(
        &self,
        counts: &mut Counts<K>,
        key: &K,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, SignedDuration> {
        let before = counts.used_until.get(key).copied();
        if before.is_none() && !counts.have_room(now) {
            return Ok(None);
        }
        let until = before.map_or(now, |until| until.max(now)) + self.interval();
        let too_early = until.duration_since(now) - MINUTE;
        if too_early.is_positive() {
            return Err(too_early);
        }
        Ok(Some(until))
    }
}

fn nanoseconds_between(per_minute: u32) -> i64 {
    const MINUTE_NANOSECONDS: i64 = 60_000_000_000;
    MINUTE_NANOSECONDS / i64::from(per_minute.max(1))
}

/// Returns what one customer has: an IPv4 address, or 64 bits of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Net::new_assert(address, 64).network().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn taken(limit: &RateLimit<IpAddr>, address: &str, now: Timestamp) -> usize {
        let address = network(address.parse().unwrap());
        (0..100)
            .take_while(|_| limit.check_here(address, now).is_ok())
            .count()
    }

    #[test]
    fn an_address_opens_so_many_at_once_and_as_many_in_a_minute() {
        let limit = RateLimit::new("orders", 30);
        assert_eq!(taken(&limit, "192.0.2.1", at(0)), 30);
        assert_eq!(taken(&limit, "192.0.2.1", at(10)), 5);
        assert_eq!(taken(&limit, "192.0.2.1", at(60)), 25);
        assert_eq!(taken(&limit, "192.0.2.1", at(600)), 30);
        let address = "192.0.2.1".parse().unwrap();
        let wait = limit.check_here(address, at(600)).unwrap_err();
        assert_eq!(wait, SignedDuration::from_secs(2));
    }

    #[test]
    fn one_address_takes_nothing_from_another() {
        let limit = RateLimit::new("orders", 3);
        for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
            assert_eq!(taken(&limit, address, at(0)), 3, "{address}");
        }
        assert_eq!(
            taken(&limit, "2001:db8::2", at(0)),
            0,
            "of the same 64 bits"
        );
    }

    #[test]
    fn a_flood_of_addresses_has_bounded_memory_and_blocks_no_customer() {
        let limit = RateLimit::new("orders", 1);
        for bits in 0..60_000_u32 {
            let address = IpAddr::from(bits.to_be_bytes());
            limit.check_here(address, at(0)).unwrap();
        }
        let kept = || limit.counts.lock().used_until.len();
        assert_eq!(kept(), MAX_KEYS);
        limit
            .check_here("203.0.113.1".parse().unwrap(), at(61))
            .unwrap();
        assert_eq!(kept(), 1);
    }
}
