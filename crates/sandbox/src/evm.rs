//! A chain of Ethereum's kind whose transfers pay the invoices: a node of a test, or of a developer.
//!
//! The node is polled: each new block once, and again from the block at which a reorganisation begins. Coins are read from
//! the transactions, tokens from the logs of `Transfer`, and both from the block that is being made, whose transactions have
//! no confirmation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use florin_money::Amount;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::asset::Chain;
use crate::invoice::{Invoice, Transaction, TransactionState};
use crate::state::Sandbox;

const INTERVAL: Duration = Duration::from_millis(300);
/// Blocks that are read at once, and those without a transfer that are remembered.
const MAX_BLOCKS: u64 = 5_000;
/// The first topic of a token's transfer: the Keccak-256 digest of `Transfer(address,address,uint256)`. Source: EIP-20.
const TRANSFER_LOG: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/// The first bytes of a call of `transfer(address,uint256)`. Source: EIP-20.
const TRANSFER_CALL: &str = "0xa9059cbb";

const CHAINS: [(u64, Chain); 2] = [(11_155_111, Chain::Ethereum), (97, Chain::Bnb)];

/// A transfer in a transaction. Addresses are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Transfer {
    hash: String,
    to: String,
    /// `None` for the chain's coin.
    token: Option<String>,
    units: u128,
}

#[derive(Debug)]
struct Block {
    hash: String,
    transfers: Vec<Transfer>,
}

/// Follows the node until the shutdown. An unreachable node is asked again, and named in the log once.
pub(crate) async fn follow(
    client: reqwest::Client,
    url: &str,
    sandbox: &Sandbox,
    shutdown: &CancellationToken,
) {
    let mut follower = Follower {
        client,
        url: url.to_owned(),
        chain: None,
        before: None,
        head: 0,
        blocks: BTreeMap::new(),
        pending: Vec::new(),
    };
    let mut interval = tokio::time::interval(INTERVAL);
    let mut is_lost = false;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = interval.tick() => {}
        }
        match follower.read().await {
            Ok(()) => {
                if core::mem::take(&mut is_lost) {
                    tracing::info!("the chain at {url} can be read again");
                }
                follower.apply(sandbox);
            }
            Err(error) if !is_lost => {
                is_lost = true;
                tracing::warn!("the chain at {url} cannot be read, is its node running? {error:#}");
            }
            Err(_) => {}
        }
    }
}

struct Follower {
    client: reqwest::Client,
    url: String,
    chain: Option<Chain>,
    /// The last block before the sandbox began to follow.
    before: Option<u64>,
    head: u64,
    blocks: BTreeMap<u64, Block>,
    pending: Vec<Transfer>,
}

impl Follower {
    async fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.client.post(&self.url).json(&request).send();
        let mut response: Value = response.await?.error_for_status()?.json().await?;
        if let Some(error) = response.get("error") {
            bail!("{method}: {error}");
        }
        Ok(response["result"].take())
    }

    async fn block(&self, which: &str) -> anyhow::Result<Value> {
        let block = json!([which, true]);
        self.call("eth_getBlockByNumber", block).await
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        if self.chain.is_none() {
            let id = number(&self.call("eth_chainId", json!([])).await?)?;
            let known = CHAINS.iter().find(|(known, _)| *known == id);
            let (_, chain) = known.with_context(|| {
                format!("its chain id is {id}: start the node with 11155111 for ETH and USDTERC20, or with 97 for BNB")
            })?;
            self.chain = Some(*chain);
        }
        let latest = self.block("latest").await?;
        let head = number(&latest["number"])?;
        let before = *self.before.get_or_insert(head);
        self.blocks.split_off(&(head + 1));
        let mut at = latest;
        loop {
            let height = number(&at["number"])?;
            let hash = text(&at["hash"])?.to_owned();
            let known = self.blocks.get(&height);
            if height <= before || known.is_some_and(|block| block.hash == hash) {
                break;
            }
            ensure!(head - height < MAX_BLOCKS, "too many new blocks");
            let transfers = self.transfers_in(&at, &hash).await?;
            self.blocks.insert(height, Block { hash, transfers });
            at = self.block(&format!("{:#x}", height - 1)).await?;
        }
        self.blocks.retain(|height, block| {
            !block.transfers.is_empty() || height.saturating_add(MAX_BLOCKS) > head
        });
        self.head = head;
        let pending = self.block("pending").await?;
        self.pending = list(&pending["transactions"]).filter_map(planned).collect();
        Ok(())
    }

    /// The transfers of a block: of the transactions that succeeded.
    async fn transfers_in(&self, block: &Value, hash: &str) -> anyhow::Result<Vec<Transfer>> {
        if list(&block["transactions"]).next().is_none() {
            return Ok(Vec::new());
        }
        let receipts = self.call("eth_getBlockReceipts", json!([hash])).await?;
        ensure!(receipts.is_array(), "receipts cannot be read");
        let succeeded = || list(&receipts).filter(|receipt| receipt["status"] == "0x1");
        let coins = list(&block["transactions"]).filter(|transaction| {
            let mut succeeded = succeeded();
            succeeded.any(|receipt| receipt["transactionHash"] == transaction["hash"])
        });
        let coins = coins.filter_map(coin_transfer);
        let logs = succeeded().flat_map(|receipt| list(&receipt["logs"]));
        Ok(coins.chain(logs.filter_map(token_transfer)).collect())
    }

    fn apply(&self, sandbox: &Sandbox) {
        let Some(chain) = self.chain else { return };
        let confirmed = self.blocks.iter().flat_map(|(height, block)| {
            let confirmations = u32::try_from(self.head - height + 1).unwrap_or(u32::MAX);
            let state = TransactionState::Confirmed(confirmations);
            let transfers = block.transfers.iter();
            transfers.map(move |transfer| (transfer, state))
        });
        let mut seen: Vec<_> = confirmed.collect();
        let mined: BTreeSet<&str> = seen.iter().map(|(mined, _)| mined.hash.as_str()).collect();
        let pending = self.pending.iter();
        let pending = pending.filter(|transfer| !mined.contains(transfer.hash.as_str()));
        let pending: Vec<_> = pending
            .map(|transfer| (transfer, TransactionState::Pending))
            .collect();
        seen.extend(pending);
        sandbox.update(|state, now| {
            state.invoices.change_all(|invoice| {
                invoice.coin.chain == chain && invoice.follow(payments_of(invoice, &seen, now))
            });
        });
    }
}

fn payments_of(
    invoice: &Invoice,
    seen: &[(&Transfer, TransactionState)],
    now: Timestamp,
) -> Vec<Transaction> {
    let address = invoice.address.to_ascii_lowercase();
    let token = invoice.coin.contract.map(str::to_ascii_lowercase);
    let ours = seen
        .iter()
        .filter(|(transfer, _)| transfer.to == address && transfer.token == token);
    ours.filter_map(|(transfer, state)| {
        Some(Transaction {
            hash: transfer.hash.clone(),
            amount: amount(transfer.units, invoice.coin.decimals)?,
            seen_at: now,
            state: *state,
            is_followed: true,
        })
    })
    .collect()
}

/// What a transaction transfers that is not in a block yet, if it succeeds.
fn planned(transaction: &Value) -> Option<Transfer> {
    let input = transaction["input"].as_str()?;
    let Some(arguments) = input.strip_prefix(TRANSFER_CALL) else {
        return coin_transfer(transaction);
    };
    let (to, units) = arguments.split_at_checked(64)?;
    Some(Transfer {
        hash: transaction["hash"].as_str()?.to_owned(),
        to: format!("0x{}", to.get(24..)?.to_ascii_lowercase()),
        token: Some(transaction["to"].as_str()?.to_ascii_lowercase()),
        units: u128::from_str_radix(units, 16).ok()?,
    })
}

fn coin_transfer(transaction: &Value) -> Option<Transfer> {
    Some(Transfer {
        hash: transaction["hash"].as_str()?.to_owned(),
        to: transaction["to"].as_str()?.to_ascii_lowercase(),
        token: None,
        units: units(&transaction["value"])?,
    })
    .filter(|transfer| transfer.units > 0)
}

fn token_transfer(log: &Value) -> Option<Transfer> {
    let topics = log["topics"].as_array()?;
    let [kind, _, to] = topics.as_slice() else {
        return None;
    };
    if kind != TRANSFER_LOG {
        return None;
    }
    Some(Transfer {
        hash: log["transactionHash"].as_str()?.to_owned(),
        to: format!("0x{}", to.as_str()?.get(26..)?.to_ascii_lowercase()),
        token: Some(log["address"].as_str()?.to_ascii_lowercase()),
        units: units(&log["data"])?,
    })
}

fn amount(units: u128, decimals: u32) -> Option<Amount> {
    let width = usize::try_from(decimals).ok()?;
    let digits = format!("{units:0>width$}", width = width + 1);
    let (whole, fraction) = digits.split_at(digits.len() - width);
    let fraction = fraction.trim_end_matches('0');
    let text = if fraction.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{fraction}")
    };
    Amount::parse(&text).ok()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("the node's response is no text")
}

fn units(quantity: &Value) -> Option<u128> {
    u128::from_str_radix(quantity.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn number(quantity: &Value) -> anyhow::Result<u64> {
    let number = units(quantity).and_then(|units| u64::try_from(units).ok());
    number.with_context(|| format!("{quantity} is no quantity"))
}

/// A token for a node of a test: at the address that the invoices name.
pub mod test_token {
    /// Where the invoices expect USDT. Source: `asset.rs`.
    pub const ADDRESS: &str = crate::asset::USDT_ON_SEPOLIA;

    /// A token with `balanceOf`, `transfer` and the log `Transfer` of EIP-20, and nothing else, in the machine's own code: the
    /// balance of an account is stored under its address, and a transfer beyond the balance is reverted.
    pub const CODE: &str = concat!(
        "0x",
        // The selector decides: balanceOf, transfer, or nothing.
        "60003560e01c806370a0823114601e5763a9059cbb14602b5760006000fd",
        "5b6004355460005260206000f3",
        "5b6024353354808211607d57819003335560043554810160043555600052600435337f",
        "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
        "60206000a3600160005260206000f35b60006000fd",
    );

    /// The slot in which the token stores the balance of an account.
    pub fn balance_slot(account: &str) -> String {
        format!("0x{:0>64}", account.trim_start_matches("0x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_call_of_a_token_is_its_transfer_and_no_coin() {
        let to = "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
        let input = format!("{TRANSFER_CALL}{to:0>64}{:064x}", 19_900_000);
        let call = json!({"hash": "0xab", "to": "0xAAbb", "value": "0x0", "input": input});
        let transfer = planned(&call).unwrap();
        assert_eq!(transfer.to, format!("0x{to}"));
        assert_eq!(transfer.token.as_deref(), Some("0xaabb"));
        assert_eq!(transfer.units, 19_900_000);
        assert_eq!(coin_transfer(&call), None);
    }
}
