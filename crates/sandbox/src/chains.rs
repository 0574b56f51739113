//! The chains' blocks: how many each has, and those that are found without anybody asking.

use jiff::Timestamp;
use serde::Serialize;

use crate::chain::Chain;

/// Blocks that are found at once after a jump of time: more confirm nothing that these do not.
const MAX_AT_ONCE: u32 = 100;
/// Where every chain begins, so that a height looks like one.
const FIRST_HEIGHT: u64 = 800_000;

/// Every chain with its blocks.
#[derive(Debug)]
pub(crate) struct Chains(Vec<Blocks>);

#[derive(Debug)]
struct Blocks {
    chain: Chain,
    height: u64,
    /// Seconds from block to block; `None` leaves it to the developer.
    every_seconds: Option<u32>,
    /// Since when the next block is looked for.
    since: Timestamp,
}

/// A chain as the developer sees it.
#[derive(Debug, Serialize)]
pub(crate) struct ChainView {
    chain: &'static str,
    height: u64,
    every_seconds: Option<u32>,
}

impl Chains {
    pub(crate) fn new(now: Timestamp) -> Self {
        let blocks = Chain::ALL.map(|chain| Blocks {
            chain,
            height: FIRST_HEIGHT,
            every_seconds: None,
            since: now,
        });
        Self(blocks.into())
    }

    /// Counts blocks of one chain, or of all.
    pub(crate) fn mine(&mut self, chain: Option<Chain>, blocks: u32) {
        for counted in self.of(chain) {
            counted.height += u64::from(blocks);
        }
    }

    /// Takes back blocks of one chain, or of all; as many others and one more take their place, without what was in
    /// them.
    pub(crate) fn reorganize(&mut self, chain: Option<Chain>) {
        for counted in self.of(chain) {
            counted.height += 1;
        }
    }

    /// From now on a block is found every so many seconds; `None` stops it.
    pub(crate) fn mine_every(
        &mut self,
        chain: Option<Chain>,
        every_seconds: Option<u32>,
        now: Timestamp,
    ) {
        for counted in self.of(chain) {
            counted.every_seconds = every_seconds.filter(|seconds| *seconds > 0);
            counted.since = now;
        }
    }

    /// The blocks that were found since the last look.
    pub(crate) fn found(&mut self, now: Timestamp) -> Vec<(Chain, u32)> {
        let mut found = Vec::new();
        for counted in &mut self.0 {
            let Some(every) = counted.every_seconds else {
                continue;
            };
            let passed = now.duration_since(counted.since).as_secs().max(0);
            let Ok(blocks @ 1..) = u32::try_from(passed / i64::from(every)) else {
                continue;
            };
            let used = i64::from(blocks) * i64::from(every);
            let used = jiff::SignedDuration::from_secs(used);
            counted.since = counted.since.saturating_add(used).unwrap_or(now);
            let blocks = blocks.min(MAX_AT_ONCE);
            counted.height += u64::from(blocks);
            found.push((counted.chain, blocks));
        }
        found
    }

    pub(crate) fn views(&self) -> Vec<ChainView> {
        let views = self.0.iter().map(|counted| ChainView {
            chain: counted.chain.as_str(),
            height: counted.height,
            every_seconds: counted.every_seconds,
        });
        views.collect()
    }

    fn of(&mut self, chain: Option<Chain>) -> impl Iterator<Item = &mut Blocks> {
        let wanted = move |counted: &&mut Blocks| chain.is_none_or(|chain| chain == counted.chain);
        self.0.iter_mut().filter(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn blocks_are_found_at_their_interval_and_on_their_chain() {
        let mut chains = Chains::new(at(0));
        chains.mine_every(Some(Chain::Tron), Some(3), at(0));
        assert_eq!(chains.found(at(2)), []);
        assert_eq!(chains.found(at(7)), [(Chain::Tron, 2)]);
        assert_eq!(chains.found(at(8)), []);
        assert_eq!(chains.found(at(9)), [(Chain::Tron, 1)]);
        chains.mine_every(None, None, at(9));
        assert_eq!(chains.found(at(99)), []);
    }

    #[test]
    fn a_jump_of_a_year_finds_a_hundred_blocks() {
        let mut chains = Chains::new(at(0));
        chains.mine_every(Some(Chain::Bitcoin), Some(1), at(0));
        assert_eq!(chains.found(at(31_536_000)), [(Chain::Bitcoin, 100)]);
        assert_eq!(chains.found(at(31_536_000)), []);
    }
}
