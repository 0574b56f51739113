//! A payment of an invoice, as its chain has it.

use florin_money::Amount;
use jiff::Timestamp;

/// A payment on the chain.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) hash: String,
    pub(crate) amount: Amount,
    pub(crate) seen_at: Timestamp,
    pub(crate) standing: Standing,
}

/// Where a transaction stands on its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In the mempool.
    Waiting,
    /// In the mempool, with a fee so low that no block takes it.
    Stuck,
    /// In a block, with so many confirmations: 1 or more.
    InBlock(u32),
    /// Its coins were spent by another transaction: it never was.
    Replaced,
}

impl Transaction {
    /// 0 while no block has it.
    pub(crate) fn confirmations(&self) -> u32 {
        match self.standing {
            Standing::InBlock(confirmations) => confirmations,
            Standing::Waiting | Standing::Stuck | Standing::Replaced => 0,
        }
    }
}
