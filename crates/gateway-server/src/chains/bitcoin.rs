//! Bitcoin's family: Bitcoin, Litecoin, Dogecoin and Bitcoin Cash, by the RPC of the merchant's own node.
//!
//! The node's wallet watches the addresses, and `listsinceblock` lists what they received. The cursor names a block so far
//! below the tip that each look lists again every transfer which may still change. What the list does not show is asked
//! for: whether a transfer without a block is in the mempool (it may be replaced, or spent twice), and why a known one
//! is missing. A node with fewer blocks than at the last look is not believed: it lost them, or is replacing them now.
//!
//! A pruned node is enough. Source: Bitcoin Core's RPC reference, version 29; Litecoin Core 0.21; Dogecoin Core 1.14.

mod answers;
#[cfg(test)]
mod tests;
mod wallet;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use florin_address::DepositKey;
use florin_money::{Amount, Asset, CryptoCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use self::answers::{ChainInfo, Entry, Header, MempoolEntry, MempoolInfo};
use self::wallet::Wallet;
use super::json_rpc::{JsonRpc, RpcError};
use crate::chain::{ChainDriver, ChainError, Changes, DEPTH, Held, Look, Network, Tip, Transfer};
use crate::clock::Clock;
use crate::coin::chain_of;

/// Headers that a node may be ahead of its blocks while it checks them.
const MAX_BEHIND: u64 = 2;
/// A block's time may be this far ahead. Source: Bitcoin Core, `MAX_FUTURE_BLOCK_TIME`.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(2);
/// `Assumed:` a transaction that this many blocks passed over has too low a fee. Disproved by invoices that fail
/// although their transactions are mined soon after.
const PASSED_OVER: u64 = 6;
/// Times that a look is repeated because a block came while it was made.
const ATTEMPTS: u32 = 5;
/// The node does not know the block or the transaction.
const NOT_FOUND: i64 = -5;
/// The node starts.
const IN_WARMUP: i64 = -28;

/// A chain of Bitcoin's family.
#[derive(Debug)]
pub struct BitcoinDriver {
    network: Network,
    code: CryptoCode,
    node: JsonRpc,
    wallet: Wallet,
    clock: Arc<dyn Clock>,
}

/// What a cursor says: `HEIGHT:HASH`, the tip's height at the last look, and a block below every change to come.
struct Since {
    tip_height: u64,
    hash: String,
    /// The block's own, in seconds since 1970.
    time: i64,
}

impl BitcoinDriver {
    /// A driver of a coin of the family; the node is not called. `wallet` is the name of the node's wallet that watches the
    /// addresses; it is created if it is not there. Dogecoin's node has one wallet, without a name.
    pub fn new(
        coin: Asset,
        network: Network,
        key: DepositKey,
        node: JsonRpc,
        wallet: String,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let wallet = Wallet::new(wallet, chain_of(coin), key, node.clone());
        Self {
            network,
            code: coin.crypto_code(),
            wallet,
            node,
            clock,
        }
    }

    /// Searches the blocks from a height on for money at every address that is watched: those below `next_index` and
    /// some above. It takes hours for years of blocks. The next look must be one without a cursor, so that it lists
    /// what was found.
    ///
    /// # Errors
    /// The node cannot be believed, or no longer has the blocks.
    pub async fn rescan(&self, from_height: u64, next_index: u32) -> Result<(), ChainError> {
        self.check().await?;
        let hash = self.block_hash(from_height).await?;
        let time = self.header(&hash).await?.time;
        self.wallet.rescan(next_index, time).await
    }

    /// What lies at the addresses that are watched: those below `next_index` and some above; the mempool counts.
    ///
    /// # Errors
    /// The node cannot be believed.
    pub async fn held(&self, next_index: u32) -> Result<Vec<Held>, ChainError> {
        self.check().await?;
        self.wallet.watch(next_index, None).await?;
        let mut sums = BTreeMap::new();
        for coin in self.wallet.unspent().await? {
            let Some(index) = self.wallet.index(&coin.address) else {
                continue;
            };
            let sum = sums.entry(index).or_insert(Amount::ZERO);
            let amount = coin.amount().map_err(ChainError::Unusable)?;
            let added = sum.checked_add(amount);
            *sum = added.map_err(|error| ChainError::Unusable(error.to_string()))?;
        }
        let held = sums.into_iter().map(|(index, amount)| Held {
            index,
            address: self.wallet.derive(index),
            code: self.code.clone(),
            amount,
        });
        Ok(held.collect())
    }

    async fn look(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        self.check().await?;
        let since = match look.cursor {
            Some(cursor) => Some(self.since(cursor).await?),
            None => None,
        };
        let time = since.as_ref().map(|since| since.time);
        self.wallet.watch(look.next_index, time).await?;
        for _ in 0..ATTEMPTS {
            if let Some(changes) = self.attempt(look, since.as_ref()).await? {
                return Ok(changes);
            }
        }
        Err(ChainError::Unreachable(
            "blocks come faster than they can be read".to_owned(),
        ))
    }

    /// The cursor's block, which must be in the node's chain: a reorganisation below it, and a node that lost blocks,
    /// are for an operator.
    async fn since(&self, cursor: &str) -> Result<Since, ChainError> {
        let parts = cursor.split_once(':');
        let parts = parts.and_then(|(height, hash)| Some((height.parse().ok()?, hash)));
        let (tip_height, hash) = parts.ok_or_else(|| {
            ChainError::Unusable(format!("the recorded cursor {cursor:?} cannot be read"))
        })?;
        let header = found(self.header(hash).await)?;
        let header = header.filter(|header| header.confirmations >= 0);
        let header = header.ok_or_else(|| {
            ChainError::Unusable(format!(
                "its chain does not have block {hash} of the last look: it lost blocks, or more than {DEPTH} were \
                 replaced. Compare it with an explorer; if it is right, rescan from before that block"
            ))
        })?;
        Ok(Since {
            tip_height,
            hash: header.hash,
            time: header.time,
        })
    }

    /// One look; `None` if a block came while it was made and it may contradict itself.
    async fn attempt(
        &self,
        look: Look<'_>,
        since: Option<&Since>,
    ) -> Result<Option<Changes>, ChainError> {
        let cursor = since.map(|since| since.hash.as_str());
        let listed = self.wallet.list(cursor).await?;
        let tip = self.tip_at(&listed.lastblock).await?;
        if let Some(since) = since.filter(|since| tip.height < since.tip_height) {
            return Err(ChainError::Unusable(format!(
                "its newest block is {}, and was {}: wait until it has them again; if it follows the right chain and \
                 stays there, rescan",
                tip.height, since.tip_height
            )));
        }
        let mut entries = Entries::default();
        for entry in listed.transactions {
            entries.add(&self.wallet, entry);
        }
        let missing = self.add_unlisted(look, &mut entries).await?;
        let unconfirmed = entries.unconfirmed();
        let mempool = self.mempool(&unconfirmed).await?;
        if missing || mempool.len() < unconfirmed.len() {
            let best: String = self.node.call("getbestblockhash", &json!([])).await?;
            if best != tip.hash {
                return Ok(None);
            }
            let info: MempoolInfo = self.node.call("getmempoolinfo", &json!([])).await?;
            if !info.loaded {
                return Err(ChainError::Unreachable(
                    "it still reads its mempool".to_owned(),
                ));
            }
        }
        let transfers = self.transfers(entries, &mempool, &tip)?;
        let ids: BTreeSet<&String> = transfers.iter().map(|transfer| &transfer.id).collect();
        let known = look.known.iter().map(|known| &known.id);
        let gone = known.filter(|id| !ids.contains(id)).cloned().collect();
        let deepest = tip.height.saturating_sub(DEPTH + 1);
        let cursor = format!("{}:{}", tip.height, self.block_hash(deepest).await?);
        Ok(Some(Changes {
            cursor,
            tip,
            transfers,
            gone,
            is_caught_up: true,
        }))
    }

    /// Adds what is known of known transfers that were not listed. Returns `true` if there are such.
    async fn add_unlisted(
        &self,
        look: Look<'_>,
        entries: &mut Entries,
    ) -> Result<bool, ChainError> {
        let known = look.known.iter().map(|known| known.id.as_str());
        let unlisted = known.filter(|id| !entries.seen.contains(*id));
        let hashes = unlisted.filter_map(|id| Some(id.split_once(':')?.0));
        let hashes: BTreeSet<&str> = hashes.collect();
        let transactions = self.wallet.transactions(hashes.iter().copied()).await?;
        for (hash, transaction) in hashes.iter().zip(transactions) {
            // A wallet keeps every transaction that it saw.
            let transaction = found(transaction)?.ok_or_else(|| {
                ChainError::Unusable(format!(
                    "its wallet lost transaction {hash}, as after a restore from an older backup: rescan"
                ))
            })?;
            for entry in transaction.entries() {
                entries.add(&self.wallet, entry);
            }
        }
        Ok(!hashes.is_empty())
    }

    /// Those of the transactions that are in the mempool, with the height at which they came in.
    async fn mempool(
        &self,
        hashes: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, u64>, ChainError> {
        let params: Vec<Value> = hashes.iter().map(|hash| json!([hash])).collect();
        let entries = self.node.batch("getmempoolentry", &params).await?;
        let mut mempool = BTreeMap::new();
        for (hash, entry) in hashes.iter().zip(entries) {
            if let Some(MempoolEntry { height }) = found(entry)? {
                mempool.insert(hash.clone(), height);
            }
        }
        Ok(mempool)
    }

    fn transfers(
        &self,
        entries: Entries,
        mempool: &BTreeMap<String, u64>,
        tip: &Tip,
    ) -> Result<Vec<Transfer>, ChainError> {
        let mut transfers = Vec::new();
        for (id, (index, entry)) in entries.ours {
            let confirmations = u64::try_from(entry.confirmations).unwrap_or(0);
            let entered = mempool.get(&entry.txid);
            // Also of a negative number: another transaction in a block spent the same coins.
            if confirmations == 0 && entered.is_none() {
                continue;
            }
            let amount = entry.amount().map_err(ChainError::Unusable)?;
            transfers.push(Transfer {
                id,
                code: self.code.clone(),
                index,
                address: self.wallet.derive(index),
                amount,
                block: (confirmations > 0).then(|| (tip.height + 1).saturating_sub(confirmations)),
                low_fee: confirmations == 0
                    && entered.is_some_and(|height| height + PASSED_OVER <= tip.height),
                transaction_hash: entry.txid,
            });
        }
        Ok(transfers)
    }

    /// Checks that the node is on the configured network and has its blocks.
    async fn check(&self) -> Result<ChainInfo, ChainError> {
        let info: ChainInfo = self.node.call("getblockchaininfo", &json!([])).await?;
        let is_expected = match self.network {
            Network::Main => info.chain == "main",
            Network::Regtest => info.chain == "regtest",
            // There are several, with the same addresses.
            Network::Test => !matches!(info.chain.as_str(), "main" | "regtest"),
        };
        if !is_expected {
            return Err(ChainError::Unusable(format!(
                "its network is {:?}, and {:?} is configured: correct the node's address or the network",
                info.chain, self.network
            )));
        }
        if info.initialblockdownload || info.headers.saturating_sub(info.blocks) > MAX_BEHIND {
            return Err(ChainError::Unusable(format!(
                "it is behind, at block {} of {} or more: wait until it has them",
                info.blocks, info.headers
            )));
        }
        Ok(info)
    }

    async fn block_hash(&self, height: u64) -> Result<String, RpcError> {
        self.node.call("getblockhash", &json!([height])).await
    }

    async fn header(&self, hash: &str) -> Result<Header, RpcError> {
        self.node.call("getblockheader", &json!([hash])).await
    }

    async fn tip_at(&self, hash: &str) -> Result<Tip, ChainError> {
        let header = self.header(hash).await?;
        let latest = self.clock.now().saturating_add(MAX_AHEAD);
        let time = Timestamp::from_second(header.time).ok();
        let time = time.filter(|time| latest.is_ok_and(|latest| *time <= latest));
        let Some(time) = time else {
            return Err(ChainError::Unusable(format!(
                "the time of its newest block, {}, is more than two hours ahead: check the clocks of both machines",
                header.time
            )));
        };
        Ok(Tip {
            height: header.height,
            hash: header.hash,
            time,
        })
    }
}

#[async_trait]
impl ChainDriver for BitcoinDriver {
    async fn issue(&self, index: u32) -> Result<String, ChainError> {
        self.wallet.address(index).await
    }

    async fn changes(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        let changes = self.look(look).await;
        if changes.is_err() {
            self.wallet.forget();
        }
        changes
    }

    async fn tip(&self) -> Result<Tip, ChainError> {
        let info = self.check().await?;
        self.tip_at(&info.bestblockhash).await
    }
}

/// What a wallet lists, by [`Transfer::id`].
#[derive(Default)]
struct Entries {
    /// At addresses of ours, with their index.
    ours: BTreeMap<String, (u32, Entry)>,
    seen: BTreeSet<String>,
}

impl Entries {
    fn add(&mut self, wallet: &Wallet, entry: Entry) {
        let (Some(id), Some(address)) = (entry.id(), entry.receiver()) else {
            return;
        };
        self.seen.insert(id.clone());
        if let Some(index) = wallet.index(address) {
            self.ours.insert(id, (index, entry));
        }
    }

    /// Transactions without a block, which need not be in the mempool.
    fn unconfirmed(&self) -> BTreeSet<String> {
        let entries = self.ours.values().map(|(_, entry)| entry);
        let unconfirmed = entries.filter(|entry| entry.confirmations == 0);
        unconfirmed.map(|entry| entry.txid.clone()).collect()
    }
}

/// The answer, or `None` if the node does not have what was asked for.
fn found<T>(answer: Result<T, RpcError>) -> Result<Option<T>, RpcError> {
    match answer {
        Err(error) if error.code() == Some(NOT_FOUND) => Ok(None),
        answer => answer.map(Some),
    }
}

impl From<RpcError> for ChainError {
    fn from(error: RpcError) -> Self {
        match error.code() {
            None | Some(IN_WARMUP) => Self::Unreachable(error.to_string()),
            Some(_) => Self::Unusable(error.to_string()),
        }
    }
}
