//! How many confirmations complete an invoice.

use std::collections::BTreeMap;

use florin_money::Amount;
use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use crate::chain::Chain;

/// Confirmations by chain and by the invoice's amount in dollars. Never 0: an unconfirmed transaction can be replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confirmations(BTreeMap<Chain, Vec<Step>>);

/// From a sum on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// In US dollars.
    pub from_usd: Amount,
    /// 1 or more.
    pub confirmations: u32,
}

impl Confirmations {
    /// The same number for every chain and sum.
    pub fn always(confirmations: u32) -> Self {
        let from_usd = Amount::ZERO;
        let step = Step {
            from_usd,
            confirmations: confirmations.max(1),
        };
        let chains = Chain::VARIANTS.iter();
        Self(chains.map(|chain| (*chain, vec![step])).collect())
    }

    /// Replaces the steps of a chain.
    #[must_use]
    pub fn with(mut self, chain: Chain, steps: Vec<Step>) -> Self {
        self.0.insert(chain, steps);
        self
    }

    /// Confirmations of an invoice over `usd` dollars.
    pub fn required(&self, chain: Chain, usd: Amount) -> u32 {
        let steps = self.0.get(&chain).into_iter().flatten();
        let reached = steps.filter(|step| step.from_usd <= usd);
        let most = reached.map(|step| step.confirmations).max();
        most.unwrap_or(MOST).max(1)
    }
}

/// Of a chain without a step.
const MOST: u32 = 12;

/// Bitcoin by sum, as merchants do who wait for what a reversal would cost; 6 for its relatives, whose blocks cost less; 12
/// for Ethereum and its tokens, 15 for BNB Chain; 19 for Tron, whose blocks are then irreversible.
impl Default for Confirmations {
    fn default() -> Self {
        let steps = |steps: &[(u32, u32)]| {
            let step = |(from, confirmations): &(u32, u32)| Step {
                from_usd: crate::prices::whole(*from),
                confirmations: *confirmations,
            };
            steps.iter().map(step).collect::<Vec<_>>()
        };
        Self::always(6)
            .with(
                Chain::Bitcoin,
                steps(&[(0, 1), (100, 2), (1_000, 3), (10_000, 6)]),
            )
            .with(Chain::Ethereum, steps(&[(0, 12), (10_000, 64)]))
            .with(Chain::Bnb, steps(&[(0, 15)]))
            .with(Chain::Tron, steps(&[(0, 19)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmations_rise_with_the_sum_and_are_never_none() {
        let usd = |text: &str| Amount::parse(text).unwrap();
        let default = Confirmations::default();
        for (chain, sum, expected) in [
            (Chain::Bitcoin, "99.99", 1),
            (Chain::Bitcoin, "100", 2),
            (Chain::Bitcoin, "10000", 6),
            (Chain::Litecoin, "1", 6),
            (Chain::Ethereum, "9999", 12),
            (Chain::Ethereum, "10000", 64),
        ] {
            assert_eq!(
                default.required(chain, usd(sum)),
                expected,
                "{chain:?} {sum}"
            );
        }
        let none = Step {
            from_usd: Amount::ZERO,
            confirmations: 0,
        };
        let none = default.with(Chain::Bitcoin, vec![none]);
        assert_eq!(none.required(Chain::Bitcoin, usd("1")), 1);
        assert_eq!(
            none.with(Chain::Bitcoin, vec![])
                .required(Chain::Bitcoin, usd("1")),
            MOST
        );
    }
}
