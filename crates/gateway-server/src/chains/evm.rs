//! Chains of Ethereum's kind: coins and tokens at addresses of one key, by the JSON-RPC of a node.
//!
//! Blocks are read one after another, each by its hash, and each must name the last one as its parent. Otherwise the
//! driver returns to the last common block, at most [`DEPTH`] below; what only lost blocks had is gone. The first look
//! begins that far below the node's last block.
//!
//! **Tokens** are read from the logs of the configured contracts: what the log says is the amount, so that a fee of the
//! token counts for nothing. They are found at every index that was issued, and at some after it.
//!
//! **Coins** are read from the balance of each open address at each block, because a payment by a contract is neither a
//! transaction to the address nor a log. An increase is a transfer; its transaction is named if one pays exactly this
//! to the address. A decrease is the merchant's business: a payment in the same block counts less the decrease. An
//! address is read while its invoice is open, and [`DEPTH`] blocks longer after a payment; it must not be opened again.
//! A node without archive knows balances of late blocks only: while a look ends more than [`DEPTH`] blocks below the
//! node's last block, balances are not read, and the tip stays where they were known. Transfers of tokens may then be
//! above the tip.
//!
//! **Unconfirmed** transfers to open addresses are found in the block that the node prepares: direct calls of a token's
//! `transfer`, and coins sent by a transaction. They say only what was announced. One is gone when another transaction
//! has its sender's number, in a block or in the node's next one, or when the node has not had it for three blocks. A
//! coin's is replaced by the transfer of its block in the same look.
//!
//! **Tron** has the JSON-RPC of Ethereum with these differences. Balances are those of now alone, so coins are read at the
//! node's last block, once in a look; if another block follows meanwhile, the tip stays where it was until the next look.
//! No block is prepared, so a transfer is first seen in its block. Tron's own forms of addresses and hashes are written; the
//! node has Ethereum's. **It never ran against a real node**: none can be installed here. The tests have answers in the shape
//! of its documentation. Source: tronprotocol/documentation-en, `docs/api/json-rpc`; java-tron, `TronJsonRpcImpl.java`.
//!
//! **Calls**: a look without a new block has four, and one more for each of: senders of unconfirmed transfers (in one
//! request), transactions that the node's next block lacks (in one request). Each new block has one for its header, one
//! for the logs, and with coins one request with as many calls as addresses are watched; a payment in coins one more.
//! Requests have at most 100 calls.

mod cursor;
#[cfg(test)]
mod fake;
mod pending;
mod sweep_plan;
#[cfg(test)]
mod tests;
mod walk;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use florin_address::DepositKey;
use florin_money::{Amount, CryptoCode};
use jiff::SignedDuration;
use parking_lot::{Mutex, MutexGuard};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::cursor::Finished;
use self::walk::Walk;
use self::wire::{Address, Hash, Header, Quantity, units_of};
use super::json_rpc::{Access, JsonRpc, RpcError};
#[cfg(doc)]
use crate::chain::DEPTH;
use crate::chain::{Chain, ChainDriver, ChainError, Changes, Held, Look, Tip};
use crate::clock::Clock;
use crate::coin::Coin;

/// Indexes after the last one issued whose tokens are found: the database may be older than the chain.
const LOOK_AHEAD: u32 = 100;
/// Indexes below this have an address.
const INDEXES: u32 = 1 << 31;
/// Public nodes refuse larger requests.
const CALLS_IN_REQUEST: usize = 100;

/// A chain of Ethereum's kind.
#[derive(Debug)]
pub struct EvmDriver {
    chain: Chain,
    chain_id: u64,
    key: DepositKey,
    node: JsonRpc,
    coin: Option<Unit>,
    tokens: BTreeMap<Address, Unit>,
    max_age: Option<MaxAge>,
    addresses: Mutex<Addresses>,
}

#[derive(Clone, Debug)]
struct Unit {
    code: CryptoCode,
    decimals: u32,
}

#[derive(Debug)]
struct MaxAge {
    age: SignedDuration,
    clock: Arc<dyn Clock>,
}

/// Those derived before, since each costs a multiplication on the curve.
#[derive(Debug, Default)]
struct Addresses {
    texts: Vec<(String, Address)>,
    indexes: HashMap<Address, u32>,
}

impl EvmDriver {
    /// A driver for the coins that move on `chain`. Others of `coins` are left out.
    ///
    /// # Errors
    /// The key's addresses or a token's contract are none of the chain; the node's address is none of HTTP.
    pub fn new(
        chain: Chain,
        chain_id: u64,
        key: DepositKey,
        coins: Vec<Coin>,
        node: &str,
    ) -> anyhow::Result<Self> {
        let first = key.address(0);
        ensure!(
            Address::of_text(&first).is_some() && first.starts_with("0x") != (chain == Chain::Tron),
            "the key is none of {}: its addresses are of another form",
            chain.as_str()
        );
        let mut driver = Self {
            chain,
            chain_id,
            key,
            node: JsonRpc::new(node, Access::Open)?,
            coin: None,
            tokens: BTreeMap::new(),
            max_age: None,
            addresses: Mutex::default(),
        };
        for coin in coins.into_iter().filter(|coin| coin.chain == chain) {
            let unit = Unit {
                code: coin.code,
                decimals: coin.decimals,
            };
            let Some(contract) = coin.contract else {
                driver.coin = Some(unit);
                continue;
            };
            let address = Address::of_text(&contract).with_context(|| {
                let code = &unit.code;
                format!(
                    "the contract {contract:?} of {code} is no address: write it as explorers do"
                )
            })?;
            driver.tokens.insert(address, unit);
        }
        Ok(driver)
    }

    /// The same driver, which refuses a node whose last block is older.
    pub fn with_max_age(self, age: SignedDuration, clock: Arc<dyn Clock>) -> Self {
        let max_age = Some(MaxAge { age, clock });
        Self { max_age, ..self }
    }

    /// What lies at the addresses of some indexes, in the last block.
    ///
    /// # Errors
    /// The node cannot be believed.
    pub async fn held(&self, indexes: &[u32]) -> Result<Vec<Held>, ChainError> {
        self.latest().await?;
        let addresses: Vec<_> = indexes.iter().map(|index| self.address(*index)).collect();
        let mut held = Vec::new();
        if let Some(coin) = &self.coin {
            let params = addresses.iter().map(|(_, it)| json!([it, "latest"]));
            let params: Vec<Value> = params.collect();
            let balances: Vec<Quantity> = self.ask_each("eth_getBalance", &params).await?;
            held.extend(balances.into_iter().map(|it| (coin, Some(it.0))));
        }
        for (contract, token) in &self.tokens {
            let call =
                |it: &Address| json!([{"to": contract, "data": it.balance_call()}, "latest"]);
            let params: Vec<Value> = addresses.iter().map(|(_, it)| call(it)).collect();
            let balances: Vec<Hash> = self.ask_each("eth_call", &params).await?;
            held.extend(balances.into_iter().map(|it| (token, units_of(it))));
        }
        let places = indexes.iter().zip(&addresses).cycle();
        let held = held.into_iter().zip(places);
        let held = held.map(|((unit, units), (index, (address, _)))| {
            let amount = units.and_then(|units| unit.amount(units));
            let amount = amount.ok_or_else(|| {
                ChainError::Unusable(format!(
                    "{} of index {index} is more than an amount can hold",
                    unit.code
                ))
            })?;
            Ok(Held {
                index: *index,
                address: address.clone(),
                code: unit.code.clone(),
                amount,
            })
        });
        let held: Result<Vec<Held>, ChainError> = held.collect();
        let mut held = held?;
        held.retain(|held| !held.amount.is_zero());
        held.sort_by_key(|held| held.index);
        Ok(held)
    }

    /// The last block of a node that can be used.
    async fn latest(&self) -> Result<Finished, ChainError> {
        let id: Quantity = self.ask("eth_chainId", &json!([])).await?;
        if id.0 != u128::from(self.chain_id) {
            return Err(ChainError::Unusable(format!(
                "its chain id is {}, and {} is configured: name a node of that chain",
                id.0, self.chain_id
            )));
        }
        let syncing: Value = self.ask("eth_syncing", &json!([])).await?;
        if syncing != Value::Bool(false) {
            return Err(ChainError::Unusable(
                "it is still synchronising: wait until it is done".to_owned(),
            ));
        }
        let latest = self.header("latest").await?;
        let latest = latest.and_then(|header| Finished::of(&header));
        let latest = latest
            .ok_or_else(|| ChainError::Unusable("its last block cannot be read".to_owned()))?;
        let time = latest.tip().time;
        if let Some(MaxAge { age, clock }) = &self.max_age
            && clock.now().duration_since(time) > *age
        {
            return Err(ChainError::Unusable(format!(
                "its last block is of {time}: check that it has peers, and the clocks"
            )));
        }
        Ok(latest)
    }

    async fn header(&self, which: &str) -> Result<Option<Header>, ChainError> {
        let params = json!([which, false]);
        self.ask("eth_getBlockByNumber", &params).await
    }

    async fn header_at(&self, height: u64) -> Result<Header, ChainError> {
        let header = self.header(&format!("{height:#x}")).await?;
        let header = header.filter(|header| header.height() == Some(height));
        header.ok_or_else(|| {
            ChainError::Unusable(format!(
                "it does not have the block {height} below its last"
            ))
        })
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<T, ChainError> {
        let answer = self.node.call(method, params).await;
        answer.map_err(|error| unreachable(&error))
    }

    /// Calls a method once with each of the parameters.
    async fn ask_each<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &[Value],
    ) -> Result<Vec<T>, ChainError> {
        let mut answers = Vec::with_capacity(params.len());
        for params in params.chunks(CALLS_IN_REQUEST) {
            let batch = self.node.batch(method, params).await;
            for answer in batch.map_err(|error| unreachable(&error))? {
                answers.push(answer.map_err(|error| unreachable(&error))?);
            }
        }
        Ok(answers)
    }

    /// The addresses below an index, at least.
    fn addresses(&self, end: u32) -> MutexGuard<'_, Addresses> {
        let mut addresses = self.addresses.lock();
        let first = u32::try_from(addresses.texts.len()).unwrap_or(u32::MAX);
        for index in first..end.min(INDEXES) {
            let text = self.key.address(index);
            let address = Address::of_text(&text).expect("the key's first address is of this form");
            addresses.indexes.insert(address, index);
            addresses.texts.push((text, address));
        }
        addresses
    }

    fn address(&self, index: u32) -> (String, Address) {
        self.addresses(index + 1).texts[index as usize].clone()
    }

    fn index_of(&self, address: Address) -> Option<u32> {
        let addresses = self.addresses.lock();
        addresses.indexes.get(&address).copied()
    }

    /// A hash as the chain's explorers write it.
    fn written(&self, hash: Hash) -> String {
        let hash = hash.to_string();
        match self.chain {
            Chain::Tron => hash.trim_start_matches("0x").to_owned(),
            _ => hash,
        }
    }
}

fn unreachable(error: &RpcError) -> ChainError {
    ChainError::Unreachable(error.to_string())
}

impl Unit {
    /// `None` beyond what an amount can hold.
    fn amount(&self, units: u128) -> Option<Amount> {
        let width = usize::try_from(self.decimals).ok()?;
        let digits = format!("{units:0>width$}", width = width + 1);
        let (whole, fraction) = digits.split_at(digits.len() - width);
        let text = format!("{whole}.{fraction}");
        Amount::parse(text.trim_end_matches('0').trim_end_matches('.')).ok()
    }
}

#[async_trait]
impl ChainDriver for EvmDriver {
    /// Refuses an index whose address holds coins already: it was issued before the database was restored, and the
    /// coins would pay the new invoice. The next index is free of it.
    async fn issue(&self, index: u32) -> Result<String, ChainError> {
        let (text, address) = self.address(index);
        if self.coin.is_some() {
            let balance: Quantity = self
                .ask("eth_getBalance", &json!([address, "latest"]))
                .await?;
            if balance.0 > 0 {
                return Err(ChainError::Unusable(format!(
                    "the address of index {index} holds coins before it is issued: continue with the next index"
                )));
            }
        }
        Ok(text)
    }

    async fn changes(&self, look: Look<'_>) -> Result<Changes, ChainError> {
        let latest = self.latest().await?;
        let mut walk = Walk::begin(self, look, latest).await?;
        walk.follow().await?;
        walk.finish().await
    }

    async fn tip(&self) -> Result<Tip, ChainError> {
        Ok(self.latest().await?.tip())
    }
}
