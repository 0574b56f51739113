//! The node's wallet that watches the addresses of a key. It holds no private key.
//!
//! Addresses are watched ahead of those that were issued, in whole steps. The node is asked how far it watches: nothing
//! about it is stored here. Where it lacks addresses that were issued before (the node or its wallet is a new one),
//! their import searches the blocks since the last look.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use florin_address::DepositKey;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Coin, Listed, Transaction};
use crate::chain::{Chain, ChainError};
use crate::chains::json_rpc::{JsonRpc, RpcError};

/// The wallet is not there, or not loaded.
const WALLET_NOT_FOUND: i64 = -18;
/// The node was built without descriptor wallets; or another refusal, which is then repeated.
const WALLET_ERROR: i64 = -4;
/// The node does not know wallets with descriptors.
const WRONG_PARAMETERS: i64 = -1;
/// A search through many blocks.
const IMPORT_TIMEOUT: Duration = Duration::from_hours(24);
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
    desc: String,
    /// First and last index.
    range: Option<[u32; 2]>,
}

#[derive(Deserialize)]
struct AddressInfo {
    /// Of `validateaddress` alone.
    #[serde(default)]
    isvalid: bool,
    #[serde(default)]
    ismine: bool,
    #[serde(default)]
    iswatchonly: bool,
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
    pub(super) async fn address(&self, index: u32) -> Result<String, ChainError> {
        let address = self.derive(index);
        if index < self.watched.lock().count || self.watches(index).await? {
            return Ok(address);
        }
        Err(ChainError::Unusable(format!(
            "it does not watch address {index} yet; the next look at the chain adds it"
        )))
    }

    /// Watches the addresses below `next_index` and half a step or more above. If one of those below was not watched,
    /// the blocks from the time `since` on are searched for it.
    pub(super) async fn watch(
        &self,
        next_index: u32,
        since: Option<i64>,
    ) -> Result<(), ChainError> {
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
    pub(super) async fn rescan(&self, next_index: u32, since: i64) -> Result<(), ChainError> {
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

    /// The coins at watched addresses, with or without a block.
    pub(super) async fn unspent(&self) -> Result<Vec<Coin>, RpcError> {
        self.rpc.call("listunspent", &json!([0])).await
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
    async fn open(&self) -> Result<(), ChainError> {
        let address = self.derive(0);
        let info: AddressInfo = self.node.call("validateaddress", &json!([address])).await?;
        if !info.isvalid {
            return Err(ChainError::Unusable(format!(
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
                Err(error) if error.code() == Some(WALLET_NOT_FOUND) => self.create().await?,
                result => drop(result?),
            }
        }
        let info: WalletInfo = self.rpc.call("getwalletinfo", &json!([])).await?;
        self.watched.lock().has_descriptors = info.descriptors;
        Ok(())
    }

    /// Creates a wallet without private keys: with descriptors where the node has them.
    async fn create(&self) -> Result<(), ChainError> {
        let with_descriptors = json!([self.name, true, true, "", false, true]);
        let simple = json!([self.name, true, true]);
        let mut result: Result<Value, _> = self.node.call("createwallet", &with_descriptors).await;
        let refused = result.as_ref().err().and_then(RpcError::code);
        if matches!(refused, Some(WALLET_ERROR | WRONG_PARAMETERS)) {
            result = self.node.call("createwallet", &simple).await;
        }
        result?;
        tracing::info!(
            chain = self.chain.as_str(),
            wallet = self.name,
            "wallet created on the node"
        );
        Ok(())
    }

    /// The number of addresses that a wallet with descriptors watches; those of another key do not count.
    async fn range(&self) -> Result<u32, ChainError> {
        let own = self.key.descriptor().map(|text| unmarked(&text));
        let listed: Descriptors = self.rpc.call("listdescriptors", &json!([])).await?;
        let listed = listed.descriptors.into_iter();
        let mut listed = listed.filter(|listed| own.as_ref() == Some(&unmarked(&listed.desc)));
        let range = listed.next().and_then(|listed| listed.range);
        Ok(range.map_or(0, |[_, last]| last + 1))
    }

    /// The number of addresses that a wallet without descriptors watches, in whole steps.
    async fn count(&self) -> Result<u32, ChainError> {
        let step = self.step();
        let mut count = 0;
        while self.watches(count + step - 1).await? {
            count += step;
        }
        Ok(count)
    }

    async fn watches(&self, index: u32) -> Result<bool, ChainError> {
        let method = match self.chain {
            Chain::Dogecoin => "validateaddress",
            _ => "getaddressinfo",
        };
        let address = json!([self.derive(index)]);
        let info: AddressInfo = self.rpc.call(method, &address).await?;
        Ok(info.ismine || info.iswatchonly)
    }

    /// Watches the addresses from `first` up to but not including `end`. Returns the number that is watched then.
    async fn import(&self, first: u32, end: u32, since: Option<i64>) -> Result<u32, ChainError> {
        if first >= end {
            return Ok(end);
        }
        let has_descriptors = self.watched.lock().has_descriptors;
        let end = if has_descriptors {
            end.max(self.range().await?)
        } else {
            end
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
            Some(refused) => Err(ChainError::Unusable(format!(
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

/// A descriptor without its checksum, and with one of the two marks of a hardened step, in which nodes differ.
fn unmarked(descriptor: &str) -> String {
    let text = descriptor.split('#').next().unwrap_or_default();
    text.replace('h', "'")
}
