//! Transfers that no block has: what the node's next block would do, and what becomes of those that were reported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::json_rpc::RpcError;
use super::cursor::Unconfirmed;
use super::walk::Walk;
use super::wire::{Address, Block, Hash, Quantity, Transaction};
use crate::chain::{ChainError, Transfer};

/// Blocks after which a transaction that the node does not have any more is given up: a node behind a balancer may miss
/// one for a moment.
pub(super) const FORGOTTEN: u64 = 3;

impl Walk<'_> {
    /// Adds transfers that no block has, and drops those that no block will have.
    pub(super) async fn read_pending(&mut self) -> Result<(), ChainError> {
        let has_lost = self.lost().next().is_some();
        if self.look.open.is_empty() && self.cursor.unconfirmed.is_empty() && !has_lost {
            return Ok(());
        }
        let transactions = self.next_transactions().await?;
        let senders = transactions.iter();
        let senders = senders.map(|transaction| (transaction.from, transaction.nonce.to_u64()));
        let senders: BTreeSet<(Address, Option<u64>)> = senders.collect();

        let mut announced = BTreeMap::new();
        for transaction in transactions {
            if let Some((transfer, nonce)) =
                self.announced(&transaction).zip(transaction.nonce.to_u64())
                && self.found.iter().all(|found| found.id != transfer.id)
            {
                let entry = Unconfirmed {
                    from: transaction.from,
                    nonce,
                    seen: self.cursor.last().height,
                };
                announced.insert(transfer.id.clone(), (transfer, entry));
            }
        }
        let known = core::mem::take(&mut self.cursor.unconfirmed).into_iter();
        let known: Vec<_> = known
            .filter(|(id, _)| !announced.contains_key(id))
            .collect();
        let entries = announced.values().map(|(_, entry)| entry);
        let entries = entries.chain(known.iter().map(|(_, entry)| entry));
        let used = self.used_nonces(entries).await?;
        let is_used = |entry: &Unconfirmed| {
            let next = used.get(&entry.from);
            next.is_some_and(|next| *next > u128::from(entry.nonce))
        };

        let (replaced, missing): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, entry)| {
            is_used(entry) || senders.contains(&(entry.from, Some(entry.nonce)))
        });
        self.dropped.extend(replaced.into_iter().map(|(id, _)| id));
        let hashes: Vec<Hash> = missing.iter().filter_map(|(id, _)| hash_of(id)).collect();
        let still_there = self.transactions(&hashes).await?;
        let last = self.cursor.last().height;
        for ((id, mut entry), transaction) in missing.into_iter().zip(still_there) {
            if transaction.is_some() {
                entry.seen = last;
            }
            if last >= entry.seen.saturating_add(FORGOTTEN) {
                self.dropped.push(id);
            } else {
                self.cursor.unconfirmed.insert(id, entry);
            }
        }
        for (id, (transfer, entry)) in announced {
            if !is_used(&entry) {
                self.found.push(transfer);
                self.cursor.unconfirmed.insert(id, entry);
            }
        }
        Ok(())
    }

    /// Of the block that the node prepares. A node that does not show it has none.
    async fn next_transactions(&self) -> Result<Vec<Transaction>, ChainError> {
        let node = &self.driver.node;
        let params = json!(["pending", true]);
        match node
            .call::<Option<Block>>("eth_getBlockByNumber", &params)
            .await
        {
            Ok(block) => Ok(block.into_iter().flat_map(Block::transactions).collect()),
            Err(RpcError::Refused { .. }) => Ok(Vec::new()),
            Err(error) => Err(super::unreachable(&error)),
        }
    }

    async fn transactions(&self, hashes: &[Hash]) -> Result<Vec<Option<Transaction>>, ChainError> {
        let params: Vec<Value> = hashes.iter().map(|hash| json!([hash])).collect();
        self.driver
            .ask_each("eth_getTransactionByHash", &params)
            .await
    }

    /// What a transaction transfers if it succeeds: to an open address, or what a reorganisation returned. An amount
    /// that is too large is left out: anyone may announce it.
    fn announced(&self, transaction: &Transaction) -> Option<Transfer> {
        let to = transaction.to?;
        let hash = transaction.hash;
        let transfer = if let Some((recipient, units)) = transaction.token_transfer() {
            let transfer = self.token_transfer(hash, to, recipient, units, None);
            transfer.ok()??
        } else {
            let coin = self.driver.coin.as_ref()?;
            let index = self.index_of(to)?;
            let transfer = self.transfer(coin, index, Some(transaction.value.0));
            Transfer {
                id: format!("{hash}:{to}"),
                transaction_hash: self.driver.written(hash),
                ..transfer.ok()?
            }
        };
        let is_open = self.look.open.contains(&transfer.index);
        let is_payment = is_open || self.look.known.iter().any(|known| known.id == transfer.id);
        (is_payment && !transfer.amount.is_zero()).then_some(transfer)
    }

    /// The next number of each sender after the last block that was read.
    async fn used_nonces<'e>(
        &self,
        entries: impl Iterator<Item = &'e Unconfirmed>,
    ) -> Result<BTreeMap<Address, u128>, ChainError> {
        let senders: BTreeSet<Address> = entries.map(|entry| entry.from).collect();
        let at = json!({"blockHash": self.cursor.last().hash});
        let params: Vec<Value> = senders.iter().map(|sender| json!([sender, at])).collect();
        let counts = self
            .driver
            .ask_each("eth_getTransactionCount", &params)
            .await?;
        let counts = counts.into_iter().map(|count: Quantity| count.0);
        Ok(senders.into_iter().zip(counts).collect())
    }
}

/// The first part of a transfer's id.
fn hash_of(id: &str) -> Option<Hash> {
    let (hash, _) = id.split_once(':')?;
    serde_json::from_value(json!(hash)).ok()
}
