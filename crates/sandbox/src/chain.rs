//! A simulated chain: its blocks are mined and taken back by the developer, who also pays.
//!
//! The cursor of a look is the whole chain, so that the gateway's database keeps it over a restart.

use std::sync::Arc;

use async_trait::async_trait;
use florin_gateway::Clock;
use florin_gateway::chain::{Chain, ChainDriver, ChainError, Changes, DEPTH, Look, Tip, Transfer};
use florin_gateway::invoice::Invoice;
use florin_money::{Amount, CryptoCode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::address;
use crate::settings::Seed;

/// Height at the start: there are blocks to take back.
const START: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct SimulatedChain {
    chain: Chain,
    seed: Seed,
    clock: Arc<dyn Clock>,
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Blocks {
    height: u64,
    /// Those in the mempool, or at most [`DEPTH`] blocks below the tip of the last look.
    transactions: Vec<Transaction>,
    /// Counts transactions: no two have the same hash.
    count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Transaction {
    hash: String,
    index: u32,
    address: String,
    code: CryptoCode,
    amount: Amount,
    block: Option<u64>,
    low_fee: bool,
}

impl SimulatedChain {
    pub(crate) fn new(chain: Chain, seed: Seed, clock: Arc<dyn Clock>) -> Self {
        let blocks = Mutex::new(Blocks {
            height: START,
            transactions: Vec::new(),
            count: 0,
        });
        Self {
            chain,
            seed,
            clock,
            blocks,
        }
    }

    /// Sends `amount` to an invoice's address. Returns the transaction's hash.
    pub(crate) fn pay(&self, invoice: &Invoice, amount: Amount, low_fee: bool) -> String {
        let mut blocks = self.blocks.lock();
        let drawn = self.seed.draw(&invoice.id, blocks.count);
        let hash = address::transaction_hash(self.chain, &drawn);
        blocks.count += 1;
        blocks.transactions.push(Transaction {
            hash: hash.clone(),
            index: invoice.address_index,
            address: invoice.address.clone(),
            code: invoice.coin.code.clone(),
            amount,
            block: None,
            low_fee,
        });
        hash
    }

    /// The next block includes every transaction but those with a low fee.
    pub(crate) fn mine(&self, count: u32) {
        let mut blocks = self.blocks.lock();
        let next = blocks.height + 1;
        blocks.height += u64::from(count);
        if count > 0 {
            for transaction in &mut blocks.transactions {
                if !transaction.low_fee {
                    transaction.block.get_or_insert(next);
                }
            }
        }
    }

    /// Takes blocks back: their transactions wait for the next block.
    pub(crate) fn reorganize(&self, count: u32) {
        let mut blocks = self.blocks.lock();
        let height = blocks.height.saturating_sub(u64::from(count));
        blocks.height = height;
        for transaction in &mut blocks.transactions {
            transaction.block = transaction.block.filter(|block| *block <= height);
        }
    }

    /// Raises the fee of every payment to an address that no block includes. Returns `false` if there is none.
    pub(crate) fn bump_fee(&self, index: u32) -> bool {
        let mut blocks = self.blocks.lock();
        let stuck = |one: &&mut Transaction| one.index == index && one.low_fee;
        let stuck = blocks.transactions.iter_mut().filter(stuck);
        let mut found = false;
        for transaction in stuck {
            transaction.low_fee = false;
            found = true;
        }
        found
    }

    /// Replaces the latest payment to an address by one to another address. Returns its hash; `None` if there is none.
    pub(crate) fn replace(&self, index: u32) -> Option<String> {
        let mut blocks = self.blocks.lock();
        let mut transactions = blocks.transactions.iter();
        let latest = transactions.rposition(|one| one.index == index)?;
        Some(blocks.transactions.remove(latest).hash)
    }

    /// Continues after a restart: the chain is the one of the last look.
    fn restore(&self, cursor: Option<&str>) -> Result<(), ChainError> {
        let mut blocks = self.blocks.lock();
        if blocks.count == 0
            && blocks.height == START
            && let Some(cursor) = cursor
        {
            *blocks = serde_json::from_str(cursor).map_err(|error| {
                ChainError::Unusable(format!("its state cannot be read: {error}"))
            })?;
        }
        Ok(())
    }
}

#[async_trait]
impl ChainDriver for SimulatedChain {
    async fn issue(&self, index: u32) -> Result<String, ChainError> {
        let drawn = self.seed.draw(self.chain.as_str(), index.into());
        Ok(address::address(self.chain, &drawn))
    }

    async fn changes(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        self.restore(look.cursor)?;
        let tip = self.tip().await?;
        let mut blocks = self.blocks.lock();
        // What the last look had within its depth is asked for once more: without it, the payment would be gone.
        let is_kept = |one: &Transaction| {
            let is_shallow = one.block.is_none_or(|block| block + DEPTH > tip.height);
            is_shallow || look.known.iter().any(|known| known.id == one.hash)
        };
        blocks.transactions.retain(is_kept);
        let all = || blocks.transactions.iter();
        let is_new = |one: &&Transaction| {
            let known = look.known.iter().find(|known| known.id == one.hash);
            one.block.is_none() || known.is_none_or(|known| known.block != one.block)
        };
        let transfers = all().filter(is_new).map(|one| Transfer {
            id: one.hash.clone(),
            code: one.code.clone(),
            index: one.index,
            address: one.address.clone(),
            amount: one.amount,
            transaction_hash: one.hash.clone(),
            block: one.block,
            low_fee: one.low_fee,
        });
        let is_gone = |id: &&String| all().all(|one| one.hash != **id);
        let known = look.known.iter().map(|known| &known.id);
        Ok(Changes {
            transfers: transfers.collect(),
            gone: known.filter(is_gone).cloned().collect(),
            cursor: serde_json::to_string(&*blocks).expect("it has text keys"),
            tip,
            is_caught_up: true,
        })
    }

    async fn tip(&self) -> Result<Tip, ChainError> {
        let height = self.blocks.lock().height;
        Ok(Tip {
            height,
            hash: format!("{height:x}"),
            time: self.clock.now(),
        })
    }
}
