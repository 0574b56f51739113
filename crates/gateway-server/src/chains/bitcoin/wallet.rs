//! The node's wallet that watches the addresses of a key. It holds no private key.
//!
//! Addresses are watched ahead of those that were issued, in whole steps. The node is asked how far it watches: nothing about
//! it is stored here. Where it lacks addresses that were issued before (the node or its wallet is a new one), their import
//! searches the blocks since the last look.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use florin_address::DepositKey;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::NodeError;
use super::answers::{Listed, Transaction};
use crate::chain::Chain;
use crate::chains::json_rpc::{JsonRpc, RpcError};

/// The wallet is not there, or not loaded.
const WALLET_NOT_FOUND: i64 = -18;
/// Several refusals of wallets: here the node was built without descriptor wallets.
const WALLET_ERROR: i64 = -4;
/// A search through many blocks.
const IMPORT_TIMEOUT: Duration = Duration::from_hours(24);
/// Steps whose watching is asked for in one request.
const STEPS_PER_REQUEST: u32 = 20;
/// No public key derives addresses from here on.
const END: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct Wallet {
    name: String,
    chain: Chain,
    key: Arc<DepositKey>,
    node: JsonRpc,
    /// The wallet's own path on the node.
    rpc: JsonRpc,
    watched: Mutex<Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    /// The node watches the addresses below this index; 0: it has to be asked.
    count: u32,
    /// The wallet has descriptors instead of addresses.
    has_descriptors: bool,
    /// Indexes of the addresses below the highest count that there was, in the form of [`bare`].
    indexes: HashMap<String, u32>,
}

#[derive(Deserialize)]
struct WalletInfo {
    #[serde(default)]
    descriptors: bool,
}

#[derive(Deserialize)]
struct Descriptors {
    descriptors: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    /// First and last index.
    range: Option<[u32; 2]>,
}

#[derive(Deserialize)]
struct AddressInfo {
    #[serde(default)]
    ismine: bool,
    #[serde(default)]
    iswatchonly: bool,
}

#[derive(Deserialize)]
struct Validity {
    isvalid: bool,
}

#[derive(Deserialize)]
struct Imported {
    success: bool,
    #[serde(default)]
    error: Value,
}

impl Wallet {
    pub(super) fn new(name: String, chain: Chain, key: DepositKey, node: JsonRpc) -> Self {
        let rpc = match chain {
            Chain::Dogecoin => node.clone(),
            _ => node.at(&format!("/wallet/{name}")),
        };
        Self {
            name,
            chain,
            key: Arc::new(key),
            node,
            rpc,
            watched: Mutex::default(),
        }
    }

    /// Makes the next look ask the node again.
    pub(super) fn forget(&self) {
        self.watched.lock().count = 0;
    }

    pub(super) fn index(&self, address: &str) -> Option<u32> {
        self.watched.lock().indexes.get(bare(address)).copied()
    }

    pub(super) fn derive(&self, index: u32) -> String {
        self.key.address(index)
    }

    /// The address of an index that the node watches.
    pub(super) async fn address(&self, index: u32) -> Result<String, NodeError> {
        let address = self.derive(index);
        if index < self.watched.lock().count || self.watches(&[index]).await?[0] {
            return Ok(address);
        }
        Err(NodeError::Unusable(format!(
            "it does not watch address {index} yet; the next look at the chain adds it"
        )))
    }

    /// Watches the addresses below `next_index` and half a step or more above. If one of those below was not watched, the blocks
    /// from the time `since` on are searched for it.
    pub(super) async fn watch(&self, next_index: u32, since: Option<i64>) -> Result<(), NodeError> {
        let step = self.step();
        let wanted = next_index.saturating_add(step / 2) / step * step + step;
        let before = self.watched.lock().count;
        if before == 0 {
            self.open().await?;
        }
        let has_descriptors = self.watched.lock().has_descriptors;
        let count = match before {
            // The node watches more whenever an address was paid.
            _ if has_descriptors => self.range().await?,
            0 => self.count().await?,
            before => before,
        };
        let first = match before {
            // The node may have been killed while it imported the last step.
            0 if !has_descriptors => count.saturating_sub(step),
            _ => count,
        };
        let end = wanted.min(END).max(count);
        let since = since.filter(|_| count < next_index);
        let end = self.import(first, end, since).await?;
        self.learn(end).await;
        self.watched.lock().count = end;
        Ok(())
    }

    /// Watches as [`Self::watch`], and searches all blocks from the time `since` on for all addresses.
    pub(super) async fn rescan(&self, next_index: u32, since: i64) -> Result<(), NodeError> {
        self.watch(next_index, None).await?;
        let count = self.watched.lock().count;
        self.import(0, count, Some(since)).await.map(drop)
    }

    /// What the wallet has in the mempool, in the blocks after `block`, and of what the node gave up.
    pub(super) async fn list(&self, block: Option<&str>) -> Result<Listed, RpcError> {
        let has_descriptors = self.watched.lock().has_descriptors;
        let block = block.unwrap_or_default();
        // Without the last parameter a descriptor wallet hides what the merchant's wallet paid to itself.
        let params = if has_descriptors {
            json!([block, 1, true, false, true])
        } else {
            json!([block, 1, true])
        };
        self.rpc.call("listsinceblock", &params).await
    }

    pub(super) async fn transactions<'a>(
        &self,
        hashes: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<Result<Transaction, RpcError>>, RpcError> {
        let params: Vec<Value> = hashes.map(|hash| json!([hash, true])).collect();
        self.rpc.batch("gettransaction", &params).await
    }

    /// Addresses that are imported at once. Without descriptors each is written on its own, in some 15 ms.
    fn step(&self) -> u32 {
        match self.chain {
            Chain::Dogecoin | Chain::BitcoinCash => 100,
            _ => 1000,
        }
    }

    /// Loads the wallet, or creates it.
    async fn open(&self) -> Result<(), NodeError> {
        let address = self.derive(0);
        let validity: Validity = self.node.call("validateaddress", &json!([address])).await?;
        if !validity.isvalid {
            return Err(NodeError::Unusable(format!(
                "it does not know addresses like {address}: check that it is a node of this chain and network"
            )));
        }
        if self.chain == Chain::Dogecoin {
            return Ok(());
        }
        let loaded: Vec<String> = self.node.call("listwallets", &json!([])).await?;
        if !loaded.contains(&self.name) {
            let load = self.node.within(IMPORT_TIMEOUT);
            let result: Result<Value, _> = load.call("loadwallet", &json!([self.name])).await;
            match result {
                Err(RpcError::Refused {
                    code: WALLET_NOT_FOUND,
                    ..
                }) => self.create().await?,
                result => drop(result?),
            }
        }
        let info: WalletInfo = self.rpc.call("getwalletinfo", &json!([])).await?;
        self.watched.lock().has_descriptors = info.descriptors;
        Ok(())
    }

    /// Creates a wallet without private keys: with descriptors where the node has them.
    async fn create(&self) -> Result<(), NodeError> {
        let create = async |params: Value| self.node.call::<Value>("createwallet", &params).await;
        let simple = json!([self.name, true, true]);
        let result = match self.chain {
            Chain::BitcoinCash => create(simple).await,
            _ => match create(json!([self.name, true, true, "", false, true])).await {
                Err(RpcError::Refused {
                    code: WALLET_ERROR,
                    message,
                    ..
                }) if message.contains("sqlite") => create(simple).await,
                result => result,
            },
        };
        result?;
        tracing::info!(
            chain = self.chain.as_str(),
            wallet = self.name,
            "wallet created on the node"
        );
        Ok(())
    }

    /// The number of addresses that a wallet with descriptors watches.
    async fn range(&self) -> Result<u32, NodeError> {
        let listed: Descriptors = self.rpc.call("listdescriptors", &json!([])).await?;
        let ends = listed
            .descriptors
            .iter()
            .filter_map(|descriptor| Some(descriptor.range?[1] + 1));
        Ok(ends.max().unwrap_or(0))
    }

    /// The number of addresses that a wallet without descriptors watches, in whole steps.
    async fn count(&self) -> Result<u32, NodeError> {
        let step = self.step();
        let mut count = 0;
        loop {
            let last = (1..=STEPS_PER_REQUEST).map(|n| (count + n * step).min(END) - 1);
            let watched = self.watches(&last.collect::<Vec<_>>()).await?;
            let whole = watched.iter().take_while(|watched| **watched).count();
            let whole = u32::try_from(whole).unwrap_or(u32::MAX);
            count = (count + whole * step).min(END);
            if whole < STEPS_PER_REQUEST {
                return Ok(count);
            }
        }
    }

    /// For each index whether the node watches its address.
    async fn watches(&self, indexes: &[u32]) -> Result<Vec<bool>, NodeError> {
        let method = match self.chain {
            Chain::Dogecoin => "validateaddress",
            _ => "getaddressinfo",
        };
        let addresses = indexes.iter().map(|index| json!([self.derive(*index)]));
        let params: Vec<Value> = addresses.collect();
        let mut watched = Vec::new();
        for info in self.rpc.batch::<AddressInfo>(method, &params).await? {
            let info = info?;
            watched.push(info.ismine || info.iswatchonly);
        }
        Ok(watched)
    }

    /// Watches the addresses from `first` up to but not including `end`. Returns the number that is watched then.
    async fn import(&self, first: u32, end: u32, since: Option<i64>) -> Result<u32, NodeError> {
        if first >= end {
            return Ok(end);
        }
        let has_descriptors = self.watched.lock().has_descriptors;
        let end = match has_descriptors {
            true => end.max(self.range().await?),
            false => end,
        };
        let timestamp = since.map_or_else(|| json!("now"), |time| json!(time));
        let descriptor = self.key.descriptor();
        let descriptor = descriptor
            .filter(|_| self.chain != Chain::Dogecoin && self.chain != Chain::BitcoinCash);
        let requests: Vec<Value> = match descriptor {
            // A range of a descriptor is replaced, and must hold the one before.
            Some(descriptor) if has_descriptors => vec![json!({
                "desc": descriptor, "range": [0, end - 1], "timestamp": timestamp,
            })],
            Some(descriptor) => vec![json!({
                "desc": descriptor, "range": [first, end - 1], "timestamp": timestamp, "watchonly": true,
            })],
            None => (first..end)
                .map(|index| {
                    json!({
                        "scriptPubKey": {"address": self.derive(index)},
                        "timestamp": timestamp,
                        "watchonly": true,
                    })
                })
                .collect(),
        };
        let wallet = self.rpc.within(IMPORT_TIMEOUT);
        let imported: Vec<Imported> = if has_descriptors {
            wallet.call("importdescriptors", &json!([requests])).await?
        } else {
            let options = json!({"rescan": since.is_some()});
            wallet
                .call("importmulti", &json!([requests, options]))
                .await?
        };
        match imported.iter().find(|imported| !imported.success) {
            Some(refused) => Err(NodeError::Unusable(format!(
                "it does not watch addresses {first} to {end}: {}",
                refused.error
            ))),
            None if has_descriptors => self.range().await,
            None => Ok(end),
        }
    }

    /// Derives the addresses below `end`: some 10,000 in a second.
    async fn learn(&self, end: u32) {
        let key = Arc::clone(&self.key);
        let known = self.watched.lock().indexes.len();
        let known = u32::try_from(known).unwrap_or(END);
        if known >= end {
            return;
        }
        let derive = move || -> Vec<_> {
            let indexes = known..end;
            indexes
                .map(|index| (bare(&key.address(index)).to_owned(), index))
                .collect()
        };
        let derived = tokio::task::spawn_blocking(derive).await;
        let derived = derived.expect("no address below 2^31 is refused");
        self.watched.lock().indexes.extend(derived);
    }
}

/// Without the prefix of a Bitcoin Cash address, which nodes write and others leave out.
fn bare(address: &str) -> &str {
    address
        .rsplit_once(':')
        .map_or(address, |(_, address)| address)
}
