//! What the world gives to the gateway: numbers of a seed, a clock that may be wrong, prices that stay.

use core::time::Duration;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use florin_gateway::clock::{Clock, Sleep};
use florin_gateway::prices::PriceSource;
use florin_gateway::{Event, Observer};
use florin_money::{Amount, CryptoCode, Currency};
use jiff::Timestamp;

pub(crate) const ETHER: &str = "ETH";

pub(crate) fn text(units: u64) -> String {
    format!("{}.{:06}", units / 1_000_000, units % 1_000_000)
}

pub(crate) fn amount(units: u64) -> Amount {
    Amount::parse(&text(units)).expect("six decimals are an amount")
}

/// `SplitMix64`.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) AtomicU64);

impl Random {
    pub(crate) fn draw(&self) -> u64 {
        let mut bits = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// A number from `least` to `most`, both included.
    pub(crate) fn between(&self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below((most - least).unsigned_abs() + 1)).expect("small")
    }

    pub(crate) fn percent(&self, cases: u64) -> bool {
        self.below(100) < cases
    }

    pub(crate) fn pick<T: Copy>(&self, all: &[T]) -> Option<T> {
        let count = u64::try_from(all.len()).expect("small").max(1);
        all.get(usize::try_from(self.below(count)).expect("small"))
            .copied()
    }
}

impl florin_gateway::Random for Random {
    fn draw(&self, _: &str, _: u64) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes
            .chunks_mut(8)
            .for_each(|part| part.copy_from_slice(&self.draw().to_be_bytes()));
        bytes
    }
}

/// In seconds since 1970.
#[derive(Debug)]
pub(crate) struct SimulatedClock {
    pub(crate) right: AtomicI64,
    pub(crate) error: AtomicI64,
}

impl SimulatedClock {
    pub(crate) fn second(&self) -> i64 {
        self.right.load(Ordering::Relaxed)
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        time(self.second() + self.error.load(Ordering::Relaxed))
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(core::future::ready(()))
    }
}

pub(crate) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time of this century")
}

/// A thousand dollars for one ether, one for a tether.
#[derive(Debug)]
pub(crate) struct Prices;

impl PriceSource for Prices {
    fn usd_price(&self, code: &CryptoCode) -> Option<Amount> {
        let dollars = if code.as_str() == ETHER { 1_000 } else { 1 };
        Some(amount(dollars * 1_000_000))
    }

    fn per_usd(&self, currency: Currency) -> Option<Amount> {
        (currency == Currency::USD).then_some(Amount::ONE)
    }
}

#[derive(Debug)]
pub(crate) struct Silent;

impl Observer for Silent {
    fn observe(&self, _: Event<'_>) {}
}
