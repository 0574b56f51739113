//! One look: from the cursor's last block to the node's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cursor::{Cursor, Finished};
use super::wire::{Address, Block, Hash, Header, Log, Quantity, TRANSFER_LOG};
use super::{EvmDriver, LOOK_AHEAD, Unit};
use crate::chain::{Chain, ChainError, Changes, DEPTH, Look, Transfer};

/// Blocks that one look reads at most.
const BLOCKS_IN_LOOK: u64 = 200;

pub(super) struct Walk<'a> {
    pub(super) driver: &'a EvmDriver,
    pub(super) look: Look<'a>,
    /// The node's last block.
    latest: Finished,
    pub(super) cursor: Cursor,
    pub(super) found: Vec<Transfer>,
    /// Ids of unconfirmed transfers that are not, or not known to be, unconfirmed any more.
    pub(super) dropped: Vec<String>,
    /// The lowest height whose block was lost.
    lost_from: Option<u64>,
    lost_blocks: u64,
    /// Whose balances are read: open, or with a payment in coins that a reorganisation may still move.
    watched: BTreeMap<u32, Address>,
    /// The balances at the last block are known.
    is_complete: bool,
}

impl<'a> Walk<'a> {
    pub(super) async fn begin(
        driver: &'a EvmDriver,
        look: Look<'a>,
        latest: Finished,
    ) -> Result<Self, ChainError> {
        let cursor = if let Some(text) = look.cursor {
            let cursor = Cursor::read(text);
            cursor.ok_or_else(|| {
                ChainError::Unusable("the recorded cursor cannot be read".to_owned())
            })?
        } else {
            let first = latest.height.saturating_sub(DEPTH);
            Cursor::begin(finished(&driver.header_at(first).await?)?)
        };
        drop(driver.addresses(end_of(look)));
        let mut watched = BTreeMap::new();
        if driver.coin.is_some() {
            let paid = look
                .known
                .iter()
                .filter_map(|known| known.id.split_once(':'));
            let paid = paid.filter_map(|(_, address)| driver.index_of(Address::of_text(address)?));
            let indexes = paid.chain(look.open.iter().copied());
            watched = indexes
                .map(|index| (index, driver.address(index).1))
                .collect();
        }
        Ok(Self {
            driver,
            look,
            latest,
            cursor,
            found: Vec::new(),
            dropped: Vec::new(),
            lost_from: None,
            lost_blocks: 0,
            is_complete: watched.is_empty(),
            watched,
        })
    }

    /// Reads blocks until the node's last one, or as many as one look may.
    pub(super) async fn follow(&mut self) -> Result<(), ChainError> {
        let before = self.cursor.last().height;
        let height = self.latest.height;
        if height < before && (before - height > DEPTH || self.cursor.has(&self.latest)) {
            return Err(ChainError::Unusable(format!(
                "its last block is {height}, and was {before}: it lost blocks, or another node answers"
            )));
        }
        while self.cursor.last().height > height
            || self.cursor.last().height == height && self.cursor.last().hash != self.latest.hash
        {
            self.undo()?;
        }
        let end = height.min(before.saturating_add(BLOCKS_IN_LOOK));
        while self.cursor.last().height < end {
            let header = self.driver.header_at(self.cursor.last().height + 1).await?;
            if header.parent_hash == self.cursor.last().hash {
                self.read(&header).await?;
            } else {
                self.undo()?;
            }
        }
        Ok(())
    }

    fn undo(&mut self) -> Result<(), ChainError> {
        let lost = self.cursor.undo();
        let lost = lost.filter(|_| self.lost_blocks < DEPTH).ok_or_else(|| {
            ChainError::Unusable(format!(
                "more than {DEPTH} blocks were replaced: check on an explorer whether the node follows the right chain"
            ))
        })?;
        self.lost_blocks += 1;
        self.lost_from = self.lost_from.min(Some(lost)).or(Some(lost));
        self.found.retain(|transfer| transfer.block != Some(lost));
        Ok(())
    }

    async fn read(&mut self, header: &Header) -> Result<(), ChainError> {
        let block = finished(header)?;
        if !self.driver.tokens.is_empty() {
            self.read_logs(&block).await?;
        }
        self.cursor.push(block.clone());
        let is_late = block.height.saturating_add(DEPTH) >= self.latest.height;
        if is_late && self.driver.chain != Chain::Tron {
            let at = json!({"blockHash": block.hash});
            let balances = self.balances(&at).await?;
            self.take(&block, balances).await?;
        }
        Ok(())
    }

    /// A transaction's transfers of one token to one address are one transfer, so that its name is the same in every
    /// block.
    async fn read_logs(&mut self, block: &Finished) -> Result<(), ChainError> {
        let contracts: Vec<&Address> = self.driver.tokens.keys().collect();
        let filter =
            json!([{"blockHash": block.hash, "address": contracts, "topics": [TRANSFER_LOG]}]);
        let logs: Vec<Log> = self.driver.ask("eth_getLogs", &filter).await?;
        let mut sums = BTreeMap::<(Hash, Address, Address), Option<u128>>::new();
        for log in logs.iter().filter(|log| !log.removed) {
            if log.block_hash != block.hash {
                return Err(ChainError::Unusable(format!(
                    "it was asked for the logs of {}, and answers with those of {}",
                    block.hash, log.block_hash
                )));
            }
            let Some((to, units)) = log.transfer() else {
                continue;
            };
            let sum = sums.entry((log.transaction_hash, log.address, to));
            let sum = sum.or_insert(Some(0));
            *sum = sum
                .zip(units)
                .and_then(|(sum, units)| sum.checked_add(units));
        }
        for ((transaction, contract, to), units) in sums {
            let block = Some(block.height);
            let transfer = self.token_transfer(transaction, contract, to, units, block)?;
            self.found.extend(transfer);
        }
        Ok(())
    }

    /// `None` for another token, an address that is not ours, or nothing.
    pub(super) fn token_transfer(
        &self,
        transaction: Hash,
        contract: Address,
        to: Address,
        units: Option<u128>,
        block: Option<u64>,
    ) -> Result<Option<Transfer>, ChainError> {
        let token = self.driver.tokens.get(&contract);
        let Some((token, index)) = token.zip(self.index_of(to)) else {
            return Ok(None);
        };
        let transfer = Transfer {
            id: format!("{transaction}:{contract}:{to}"),
            transaction_hash: self.driver.written(transaction),
            block,
            ..self.transfer(token, index, units)?
        };
        Ok(Some(transfer).filter(|transfer| !transfer.amount.is_zero()))
    }

    /// An address that was derived for another reason is none of a look.
    pub(super) fn index_of(&self, address: Address) -> Option<u32> {
        let index = self.driver.index_of(address);
        index.filter(|index| *index < end_of(self.look))
    }

    /// Without what names it.
    pub(super) fn transfer(
        &self,
        unit: &Unit,
        index: u32,
        units: Option<u128>,
    ) -> Result<Transfer, ChainError> {
        let amount = units.and_then(|units| unit.amount(units));
        let amount = amount.ok_or_else(|| {
            ChainError::Unusable(format!(
                "{} to the address of index {index} is more than an amount can hold: check the asset's decimals",
                unit.code
            ))
        })?;
        Ok(Transfer {
            id: String::new(),
            code: unit.code.clone(),
            index,
            address: self.driver.address(index).0,
            amount,
            transaction_hash: String::new(),
            block: None,
            low_fee: false,
        })
    }

    async fn balances(&self, at: &Value) -> Result<Vec<Quantity>, ChainError> {
        let addresses = self.watched.values();
        let params: Vec<Value> = addresses.map(|address| json!([address, at])).collect();
        self.driver.ask_each("eth_getBalance", &params).await
    }

    /// Takes the balances at the last block of the cursor.
    async fn take(&mut self, block: &Finished, balances: Vec<Quantity>) -> Result<(), ChainError> {
        let Some(coin) = &self.driver.coin else {
            return Ok(());
        };
        let balances = self.watched.iter().zip(balances);
        let increases = balances.filter_map(|((index, address), balance)| {
            let increase = self.cursor.take_balance(*index, balance.0)?;
            Some((*index, *address, increase))
        });
        let increases: Vec<_> = increases.collect();
        if increases.is_empty() {
            return Ok(());
        }
        let whole = json!([block.hash, true]);
        let whole: Option<Block> = self.driver.ask("eth_getBlockByHash", &whole).await?;
        let transactions: Vec<_> = whole.into_iter().flat_map(Block::transactions).collect();
        for (index, address, increase) in increases {
            // One of them may be this payment. Others are announced again when the look reaches the last block.
            let unconfirmed = &mut self.cursor.unconfirmed;
            let to = address.to_string();
            let coins = |id: &String| id.split_once(':').is_some_and(|(_, it)| it == to);
            self.dropped
                .extend(unconfirmed.keys().filter(|id| coins(id)).cloned());
            unconfirmed.retain(|id, _| !coins(id));
            let direct = transactions.iter().find(|transaction| {
                transaction.to == Some(address) && transaction.value.0 == increase
            });
            let hash = direct.map(|transaction| self.driver.written(transaction.hash));
            let transfer = Transfer {
                id: format!("{}:{address}", block.hash),
                transaction_hash: hash.unwrap_or_default(),
                block: Some(block.height),
                ..self.transfer(coin, index, Some(increase))?
            };
            self.found.push(transfer);
        }
        Ok(())
    }

    /// Nodes of Tron know the balances of now alone. They are those of the last block if no other follows meanwhile; a
    /// look in which one does is not complete.
    async fn read_balances_of_now(&mut self) -> Result<(), ChainError> {
        let balances = self.balances(&json!("latest")).await?;
        let still = self.driver.header("latest").await?;
        if still.is_some_and(|header| header.hash == self.cursor.last().hash) {
            let block = self.cursor.last().clone();
            self.take(&block, balances).await?;
            self.is_complete = true;
        }
        Ok(())
    }

    pub(super) async fn finish(mut self) -> Result<Changes, ChainError> {
        let is_last = self.cursor.last().hash == self.latest.hash;
        let unconfirmed = &mut self.cursor.unconfirmed;
        unconfirmed.retain(|id, _| self.found.iter().all(|transfer| transfer.id != *id));
        if self.driver.chain == Chain::Tron {
            if is_last && !self.watched.is_empty() {
                self.read_balances_of_now().await?;
            }
        } else {
            let height = self.cursor.last().height;
            self.is_complete |= height.saturating_add(DEPTH) >= self.latest.height;
            if is_last {
                self.read_pending().await?;
            }
        }
        let gone = self.lost().chain(self.dropped.iter().cloned());
        let gone = gone.filter(|id| self.found.iter().all(|transfer| transfer.id != *id));
        let gone: BTreeSet<String> = gone.collect();
        if self.is_complete {
            self.cursor.complete = self.cursor.last().tip();
        }
        let balances = &mut self.cursor.balances;
        balances.retain(|index, units| *units > 0 && self.watched.contains_key(index));
        Ok(Changes {
            cursor: self.cursor.write(),
            tip: self.cursor.complete,
            transfers: self.found,
            gone: gone.into_iter().collect(),
            is_caught_up: is_last,
        })
    }

    /// Ids of recorded transfers whose block was lost.
    pub(super) fn lost(&self) -> impl Iterator<Item = String> + use<'a> {
        let lost_from = self.lost_from.unwrap_or(u64::MAX);
        let known = self.look.known.iter();
        let lost = known.filter(move |known| known.block.is_some_and(|block| block >= lost_from));
        lost.map(|known| known.id.clone())
    }
}

/// The first index whose address is not looked for.
fn end_of(look: Look<'_>) -> u32 {
    look.next_index.saturating_add(LOOK_AHEAD)
}

fn finished(header: &Header) -> Result<Finished, ChainError> {
    let finished = Finished::of(header);
    finished.ok_or_else(|| ChainError::Unusable(format!("its block {} has no time", header.hash)))
}
