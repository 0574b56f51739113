//! Repeatable random numbers.

use std::time::Duration;

/// Numbers that look random and follow from a seed: splitmix64.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub(super) struct SeededRandom(u64);

impl SeededRandom {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Other random, which follow from these and a number.
    pub(super) fn split(&mut self, number: u64) -> Self {
        Self(self.next() ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// Any number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time from zero to `longest`.
    pub(super) fn up_to(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_micros()).expect("pauses are short");
        Duration::from_micros(self.below(longest + 1))
    }

    /// One of several, each as likely as its weight says.
    pub(super) fn pick<T: Copy>(&mut self, weighted: &[(u64, T)]) -> T {
        let mut remaining = self.below(weighted.iter().map(|(weight, _)| weight).sum());
        for (weight, thing) in weighted {
            match remaining.checked_sub(*weight) {
                Some(rest) => remaining = rest,
                None => return *thing,
            }
        }
        unreachable!("a next is below the sum of all weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the reference implementation's first outputs for seed 1234567.
    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut random = SeededRandom::new(1_234_567);
        let rolled = [random.next(), random.next(), random.next()];
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(rolled, reference);
    }

    #[test]
    fn what_weighs_nothing_is_never_picked() {
        let mut random = SeededRandom::new(7);
        let picked = (0..1000).map(|_| random.pick(&[(3, 'a'), (0, 'b'), (1, 'c')]));
        let picked: String = picked.collect();
        assert!(picked.contains('a') && picked.contains('c') && !picked.contains('b'));
    }
}
