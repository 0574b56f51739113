//! Answers of a node of Bitcoin's family, as far as they are read.

use florin_money::Amount;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Of `getblockchaininfo`.
#[derive(Debug, Deserialize)]
pub(super) struct ChainInfo {
    /// `main`, `test`, `regtest`, or the name of another test network.
    pub(super) chain: String,
    pub(super) blocks: u64,
    pub(super) headers: u64,
    pub(super) bestblockhash: String,
    /// Dogecoin's node does not say it.
    #[serde(default)]
    pub(super) initialblockdownload: bool,
}

/// Of `getblockheader`.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) hash: String,
    pub(super) height: u64,
    /// Seconds since 1970.
    pub(super) time: i64,
    /// -1 if the block is not part of the node's chain.
    pub(super) confirmations: i64,
}

/// Of `listsinceblock`.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    pub(super) transactions: Vec<Entry>,
    /// The tip when the list was made.
    pub(super) lastblock: String,
}

/// An output that the wallet watches, or what it sent.
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    category: String,
    address: Option<String>,
    amount: Box<RawValue>,
    vout: Option<u32>,
    /// 0 in the mempool, or nowhere; negative if another transaction in a block spent the same coins.
    #[serde(default)]
    pub(super) confirmations: i64,
    /// In `details` of `gettransaction` it stands outside.
    #[serde(default)]
    pub(super) txid: String,
}

/// A coin of `listunspent`.
#[derive(Debug, Deserialize)]
pub(super) struct Coin {
    pub(super) address: String,
    amount: Box<RawValue>,
}

/// Of `gettransaction`.
#[derive(Debug, Deserialize)]
pub(super) struct Transaction {
    confirmations: i64,
    txid: String,
    details: Vec<Entry>,
}

/// Of `getmempoolentry`.
#[derive(Debug, Deserialize)]
pub(super) struct MempoolEntry {
    /// Of the chain when the transaction came in.
    pub(super) height: u64,
}

/// Of `getmempoolinfo`.
#[derive(Debug, Deserialize)]
pub(super) struct MempoolInfo {
    /// `false` after a start, until the mempool of the last run is read. Dogecoin's node does not say it.
    #[serde(default = "yes")]
    pub(super) loaded: bool,
}

fn yes() -> bool {
    true
}

impl Transaction {
    /// Its entries as `listsinceblock` has them.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        self.details.into_iter().map(move |entry| Entry {
            confirmations: self.confirmations,
            txid: self.txid.clone(),
            ..entry
        })
    }
}

impl Coin {
    /// The exact amount.
    pub(super) fn amount(&self) -> Result<Amount, String> {
        let amount = Amount::parse(self.amount.get());
        amount.map_err(|error| format!("a coin at {}: {error}", self.address))
    }
}

impl Entry {
    /// Transaction and output: see [`crate::chain::Transfer::id`].
    pub(super) fn id(&self) -> Option<String> {
        Some(format!("{}:{}", self.txid, self.vout?))
    }

    /// Where money came in; `None` of what was sent, and of a reward whose block was lost.
    pub(super) fn receiver(&self) -> Option<&str> {
        let is_received = matches!(self.category.as_str(), "receive" | "generate" | "immature");
        self.address.as_deref().filter(|_| is_received)
    }

    /// The exact amount.
    pub(super) fn amount(&self) -> Result<Amount, String> {
        let amount = Amount::parse(self.amount.get());
        amount.map_err(|error| format!("transaction {}: {error}", self.txid))
    }
}
