//! What the gateway asks of a chain: an address for an index, what changed since the last look, and whether it can be
//! believed.

use async_trait::async_trait;
use florin_money::{Amount, CryptoCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use thiserror::Error;

/// A chain. Several assets may move on it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the chains' own names")]
pub enum Chain {
    Bitcoin,
    Litecoin,
    Dogecoin,
    BitcoinCash,
    Ethereum,
    Bnb,
    Tron,
    /// Of the sandbox alone: an asset that the specification does not list.
    Solana,
}

/// Which of a chain's networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Network {
    /// The network with real money.
    Main,
    /// The public network for tests.
    Test,
    /// A private network: regtest, or a development node.
    Regtest,
}

/// The newest block of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// Number of the block.
    pub height: u64,
    /// As explorers write it.
    pub hash: String,
    /// The block's own time.
    pub time: Timestamp,
}

/// An amount that reached an address of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Names the transfer on its chain for good, in whichever block it is: the transaction's hash and the number of the output
    /// or log; of a coin that was found by an address's balance, the block's hash and the address.
    pub id: String,
    /// The asset that moved.
    pub code: CryptoCode,
    /// Index of the address in the merchant's key. It may be one that was never issued: the database is older than the chain.
    pub index: u32,
    /// As [`ChainDriver::issue`] writes it.
    pub address: String,
    /// In the asset.
    pub amount: Amount,
    /// The transaction's hash as explorers write it; empty if the node does not name it.
    pub transaction_hash: String,
    /// Height of its block; `None` in the mempool.
    pub block: Option<u64>,
    /// No block includes it: its fee is too low.
    pub low_fee: bool,
}

/// What lies at an address of ours now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of a transfer")]
pub struct Held {
    pub index: u32,
    pub address: String,
    pub code: CryptoCode,
    pub amount: Amount,
}

/// A transfer as the gateway recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTransfer {
    /// [`Transfer::id`]
    pub id: String,
    /// [`Transfer::block`]
    pub block: Option<u64>,
}

/// What a driver needs for [`ChainDriver::changes`].
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// [`Changes::cursor`] of the last look that was recorded; `None` at the first.
    pub cursor: Option<&'a str>,
    /// The first index that was never issued: addresses below it are ours.
    pub next_index: u32,
    /// Indexes of the addresses with an invoice that may still be paid; the others are only looked for where that costs no
    /// separate call.
    pub open: &'a [u32],
    /// Recorded transfers that a reorganisation or a replacement may still change: in the mempool, or at most [`DEPTH`] blocks
    /// below the last tip.
    pub known: &'a [KnownTransfer],
}

/// Blocks below the tip that may still be replaced. A deeper reorganisation is an error: an operator decides.
pub const DEPTH: u64 = 100;

/// What changed since the last look. It is recorded whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Where the next look begins; in the driver's own form.
    pub cursor: String,
    /// The chain up to which the look is complete.
    pub tip: Tip,
    /// Every transfer that is new, and every known one whose block or fee changed. Others may be repeated.
    pub transfers: Vec<Transfer>,
    /// Ids of known transfers that the chain no longer has: replaced, double spent, or dropped.
    pub gone: Vec<String>,
    /// `false` if the node has blocks beyond the look: the next one continues.
    pub is_caught_up: bool,
}

/// Why a chain cannot be believed now. Nothing is concluded from it: invoices stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChainError {
    /// No answer, or one that cannot be read: what was tried, without the address's password.
    #[error("its node does not answer: {0}")]
    Unreachable(String),
    /// It answers, and cannot be used: another chain, behind, a lower height than before, a deep reorganisation. What is
    /// wrong and what to do.
    #[error("its node cannot be used: {0}")]
    Unusable(String),
}

/// One chain with its node and the merchant's public key.
#[async_trait]
pub trait ChainDriver: core::fmt::Debug + Send + Sync {
    /// The address of an index. The node watches it when this returns.
    ///
    /// # Errors
    /// The node cannot be asked to watch it.
    async fn issue(&self, index: u32) -> Result<String, ChainError>;

    /// What changed since the last look that was recorded. The same look twice gives the same transfers.
    ///
    /// # Errors
    /// The node cannot be believed: nothing changes.
    async fn changes(&self, look: Look<'_>) -> Result<Changes, ChainError>;

    /// The tip of a node that can be used.
    ///
    /// # Errors
    /// What is wrong with the node.
    async fn tip(&self) -> Result<Tip, ChainError>;
}

impl Chain {
    /// Its name in configuration and messages.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
