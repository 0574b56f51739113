//! What lies where, as the gateway's machine wrote it.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use anyhow::ensure;
use florin_money::{Amount, CryptoCode};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::address::Address;

const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);
/// How far this machine's clock may be behind that of the gateway's machine.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(10);

/// A plan: TOML, written by `florin-gateway sweep-plan`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    written: Timestamp,
    pub(crate) chain_id: u64,
    /// The account that pays the gas, and alone may start the move.
    pub(crate) sponsor: Address,
    /// Transactions that the sponsor has sent.
    pub(crate) sponsor_nonce: u64,
    pub(crate) destination: Address,
    /// Wei for one unit of gas.
    pub(crate) max_fee_per_gas: u64,
    /// Wei for one unit of gas.
    pub(crate) max_priority_fee_per_gas: u64,
    #[serde(rename = "address")]
    pub(crate) sources: Vec<Source>,
}

/// An address with what it holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// At `/0/INDEX` below the account.
    pub(crate) index: u32,
    pub(crate) address: Address,
    /// Transactions and delegations of the address so far.
    pub(crate) nonce: u64,
    pub(crate) holds: Vec<Holding>,
}

/// A sum of one token, or of coins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Holding {
    asset: CryptoCode,
    /// To show: what is there at the time is moved, all of it.
    amount: Amount,
    /// `None`: coins.
    pub(crate) contract: Option<Address>,
    /// What an ordinary transaction with this transfer needs.
    pub(crate) gas: u32,
}

impl Plan {
    /// Reads and checks a plan whose destination must be `to`.
    pub(crate) fn read(text: &str, to: Address, now: Timestamp) -> anyhow::Result<Self> {
        let plan: Self = toml::from_str(text)?;
        let (written, destination) = (plan.written, plan.destination);
        let age = now.duration_since(written);
        ensure!(
            (-CLOCK_DIFFERENCE..=MAX_AGE).contains(&age),
            "the plan is of {written}, and this machine's clock shows {now}. A plan is good for 24 hours, since numbers and \
             fees change: write a new one, or correct the clock"
        );
        ensure!(
            destination == to,
            "the plan moves everything to {destination}, and --to names {to}: if you chose {to}, the plan was changed, or \
             asked for with another address. Find out before you sign"
        );
        let own = [plan.sponsor, destination];
        let is_own = plan.sources.iter().any(|one| own.contains(&one.address));
        ensure!(
            !is_own,
            "the plan takes from the account that pays the gas, or from the destination: take that address off the list"
        );
        Ok(plan)
    }

    /// What is moved, to where.
    pub(crate) fn summary(&self) -> anyhow::Result<String> {
        let mut lines = String::new();
        let mut totals = BTreeMap::new();
        for source in &self.sources {
            for Holding { asset, amount, .. } in &source.holds {
                let (index, address) = (source.index, source.address);
                writeln!(lines, "{index:>8}  {address}  {amount} {asset}")?;
                let total = totals.entry(asset.as_str()).or_insert(Amount::ZERO);
                *total = total.checked_add(*amount)?;
            }
        }
        for (asset, total) in totals {
            writeln!(lines, "Total     {total} {asset}")?;
        }
        writeln!(lines, "To        {}", self.destination)?;
        writeln!(lines, "Chain id  {}", self.chain_id)?;
        Ok(lines)
    }
}
