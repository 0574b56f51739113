//! All random numbers of a world, from one seed.

use std::sync::{Mutex, PoisonError};

use florin_proxy::clock::{Random, RandomBytes};

/// Pseudo-random numbers from a seed.
///
/// Source: `SplitMix64`, G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
#[derive(Debug)]
pub(crate) struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// The next 64 bits.
    pub(crate) fn draw(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn between(&self, least: i64, most: i64) -> i64 {
        let span = u64::try_from(most - least).expect("least comes first") + 1;
        least + i64::try_from(self.draw() % span).expect("a span of a few years in milliseconds")
    }

    /// Returns `true` in `cases` of a thousand cases.
    pub(crate) fn in_thousand(&self, cases: u64) -> bool {
        self.draw() % 1000 < cases
    }

    pub(crate) fn percent(&self, cases: u64) -> bool {
        self.in_thousand(cases * 10)
    }

    /// Picks one, all equally likely.
    pub(crate) fn pick<T: Copy>(&self, things: &[T]) -> T {
        let count = u64::try_from(things.len()).expect("a short list");
        things[usize::try_from(self.draw() % count).expect("below the length")]
    }

    /// Picks one by weight.
    pub(crate) fn weigh<T: Copy>(&self, things: &[(u64, T)]) -> T {
        let total: u64 = things.iter().map(|(weight, _)| weight).sum();
        let mut left = self.draw() % total;
        for (weight, thing) in things {
            if left < *weight {
                return *thing;
            }
            left -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    /// Hexadecimal digits for ids.
    pub(crate) fn hex(&self) -> String {
        format!("{:016x}{:016x}", self.draw(), self.draw())
    }
}

impl Random for SeededRandom {
    fn below(&self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }
}

impl RandomBytes for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.draw().to_le_bytes()[..chunk.len()]);
        }
    }
}
