//! Where a look ended: the last blocks, what is known of balances, and transfers that no block has.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::wire::{Address, Hash, Header};
use crate::chain::{DEPTH, Tip};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Never empty; oldest first. The oldest is the deepest that a reorganisation may leave in place.
    blocks: VecDeque<Finished>,
    /// The last block with everything up to it: balances of old blocks cannot be read.
    pub(super) complete: Tip,
    /// The coin's smallest units at each watched address, by index, as far as transfers were reported.
    pub(super) balances: BTreeMap<u32, u128>,
    /// By [`Transfer::id`](crate::chain::Transfer::id).
    pub(super) unconfirmed: BTreeMap<String, Unconfirmed>,
}

/// A block that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) height: u64,
    pub(super) hash: Hash,
    time: Timestamp,
    /// Balances before this block, of the indexes that it changed: a reorganisation restores them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    before: BTreeMap<u32, u128>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unconfirmed {
    /// Sender of the transaction.
    pub(super) from: Address,
    /// The sender's number of the transaction: a block has only one of each.
    pub(super) nonce: u64,
    /// Height of the last block at which the node had the transaction.
    pub(super) seen: u64,
}

impl Cursor {
    pub(super) fn begin(block: Finished) -> Self {
        Self {
            complete: block.tip(),
            blocks: VecDeque::from([block]),
            balances: BTreeMap::new(),
            unconfirmed: BTreeMap::new(),
        }
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let cursor: Self = serde_json::from_str(text).ok()?;
        (!cursor.blocks.is_empty()).then_some(cursor)
    }

    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts can be written")
    }

    pub(super) fn last(&self) -> &Finished {
        self.blocks.back().expect("there is always a block")
    }

    pub(super) fn has(&self, block: &Finished) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|finished| finished.hash == block.hash)
    }

    pub(super) fn push(&mut self, block: Finished) {
        self.blocks.push_back(block);
        if self.blocks.len() as u64 > DEPTH + 1 {
            self.blocks.pop_front();
        }
    }

    /// Forgets the last block: another took its place. Returns its height, or `None` if no older one is known.
    pub(super) fn undo(&mut self) -> Option<u64> {
        if self.blocks.len() == 1 {
            return None;
        }
        let lost = self.blocks.pop_back()?;
        self.balances.extend(lost.before);
        Some(lost.height)
    }

    /// Takes the balance of an index at the last block. Returns the increase, if it is one.
    pub(super) fn take_balance(&mut self, index: u32, balance: u128) -> Option<u128> {
        let before = self.balances.insert(index, balance).unwrap_or(0);
        if balance != before {
            let last = self.blocks.back_mut().expect("there is always a block");
            last.before.entry(index).or_insert(before);
        }
        balance.checked_sub(before).filter(|increase| *increase > 0)
    }
}

impl Finished {
    /// `None` for numbers that no block has.
    pub(super) fn of(header: &Header) -> Option<Self> {
        Some(Self {
            height: header.height()?,
            hash: header.hash,
            time: Timestamp::from_second(header.time()?).ok()?,
            before: BTreeMap::new(),
        })
    }

    pub(super) fn tip(&self) -> Tip {
        Tip {
            height: self.height,
            hash: self.hash.to_string(),
            time: self.time,
        }
    }
}
