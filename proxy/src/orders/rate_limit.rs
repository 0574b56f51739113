//! Limits the orders that one address opens without a store's signature: by a product or a donation.
//!
//! Each order is a row that is kept for good. A customer opens one or two.
//!
//! It is written here and not with `governor`: its keyed store has no bound and does not say whether it knows a key, so
//! that the bound, the removal of expired keys and the clock of the tests would be written here all the same, around a
//! sum of two times.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use ipnet::Ipv6Net;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const SWEEP: SignedDuration = SignedDuration::from_secs(1);

/// Fails open above this many tracked addresses, which take some 4 MiB.
const MOST_ADDRESSES: usize = 50_000;

/// One count for each address: so many at once, and as many in each minute.
#[derive(Debug)]
pub(crate) struct OrderRateLimit {
    /// What one order takes of the minute.
    each: SignedDuration,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Until when an address has used its minute.
    used_until: HashMap<IpAddr, Timestamp>,
    /// When expired entries were last removed; at most once a second, since that visits all of them.
    swept_at: Timestamp,
}

impl Counts {
    /// Returns `true` if one more address can be tracked.
    fn have_room(&mut self, now: Timestamp) -> bool {
        let is_full = self.used_until.len() >= MOST_ADDRESSES;
        if is_full && now.duration_since(self.swept_at) >= SWEEP {
            self.used_until.retain(|_, until| *until > now);
            self.swept_at = now;
        }
        self.used_until.len() < MOST_ADDRESSES
    }
}

impl OrderRateLimit {
    /// At most `per_minute`, at least one.
    pub(crate) fn new(per_minute: u32) -> Self {
        let each = Duration::from_mins(1) / per_minute.max(1);
        Self {
            each: SignedDuration::try_from(each).expect("it is a minute at most"),
            counts: Mutex::default(),
        }
    }

    /// Counts an order.
    ///
    /// # Errors
    /// The address has opened too many: when it may open the next one.
    pub(crate) fn check(&self, address: IpAddr, now: Timestamp) -> Result<(), SignedDuration> {
        let mut counts = self.counts.lock();
        let network = network(address);
        let before = counts.used_until.get(&network).copied();
        if before.is_none() && !counts.have_room(now) {
            return Ok(());
        }
        let until = before.map_or(now, |until| until.max(now)) + self.each;
        let too_early = until.duration_since(now) - MINUTE;
        if too_early.is_positive() {
            return Err(too_early);
        }
        counts.used_until.insert(network, until);
        Ok(())
    }
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

    fn taken(limit: &OrderRateLimit, address: &str, now: Timestamp) -> usize {
        let address = address.parse().unwrap();
        (0..100)
            .take_while(|_| limit.check(address, now).is_ok())
            .count()
    }

    #[test]
    fn an_address_opens_so_many_at_once_and_as_many_in_a_minute() {
        let limit = OrderRateLimit::new(30);
        assert_eq!(taken(&limit, "192.0.2.1", at(0)), 30);
        assert_eq!(taken(&limit, "192.0.2.1", at(10)), 5);
        assert_eq!(taken(&limit, "192.0.2.1", at(60)), 25);
        assert_eq!(taken(&limit, "192.0.2.1", at(600)), 30);
        let address = "192.0.2.1".parse().unwrap();
        let wait = limit.check(address, at(600)).unwrap_err();
        assert_eq!(wait, SignedDuration::from_secs(2));
    }

    #[test]
    fn one_address_takes_nothing_from_another() {
        let limit = OrderRateLimit::new(3);
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
        let limit = OrderRateLimit::new(1);
        for bits in 0..60_000_u32 {
            let address = IpAddr::from(bits.to_be_bytes());
            limit.check(address, at(0)).unwrap();
        }
        let kept = || limit.counts.lock().used_until.len();
        assert_eq!(kept(), MOST_ADDRESSES);
        limit.check("203.0.113.1".parse().unwrap(), at(61)).unwrap();
        assert_eq!(kept(), 1);
    }
}
