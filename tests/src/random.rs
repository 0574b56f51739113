//! Repeatable random numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use florin_proxy::clock::{Random, RandomBytes};

/// Distance between two states.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Pseudo-random numbers from a seed: `SplitMix64`.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Other numbers, which follow from these and `number`.
    pub fn split(&self, number: u64) -> Self {
        Self::new(self.draw() ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    pub fn draw(&self) -> u64 {
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub fn below(&self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&self, least: i64, most: i64) -> i64 {
        let span = u64::try_from(most - least).expect("least comes first") + 1;
        least + i64::try_from(self.below(span)).expect("a span of a few years in milliseconds")
    }

    /// Returns `true` in `cases` of a thousand cases.
    pub fn in_thousand(&self, cases: u64) -> bool {
        self.below(1000) < cases
    }

    pub fn percent(&self, cases: u64) -> bool {
        self.in_thousand(cases * 10)
    }

    /// A time from zero to `longest`.
    pub fn up_to(&self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_micros()).expect("pauses are short");
        Duration::from_micros(self.below(longest + 1))
    }

    pub fn pick<T: Copy>(&self, things: &[T]) -> T {
        let count = u64::try_from(things.len()).expect("a short list");
        things[usize::try_from(self.below(count)).expect("below the length")]
    }

    pub fn weigh<T: Copy>(&self, things: &[(u64, T)]) -> T {
        let mut left = self.below(things.iter().map(|(weight, _)| weight).sum());
        for (weight, thing) in things {
            if left < *weight {
                return *thing;
            }
            left -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    pub fn hex(&self) -> String {
        format!("{:016x}{:016x}", self.draw(), self.draw())
    }
}

impl Random for SeededRandom {
    fn below(&self, bound: u64) -> u64 {
        self.below(bound)
    }
}

impl RandomBytes for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.draw().to_le_bytes()[..chunk.len()]);
        }
    }
}
