//! A node of Ethereum's kind in place of a simulated chain: a developer's own, or one of the tests.

use std::sync::Arc;

use anyhow::Context as _;
use florin_gateway::chain::{Chain, ChainDriver};
use florin_gateway::chains::evm::EvmDriver;
use florin_gateway::chains::json_rpc::{Access, JsonRpc};
use florin_gateway::chains::{DepositKey, KeyNetwork};
use florin_gateway::coin::Coin;
use florin_money::Asset;
use serde_json::json;

/// The ids of Sepolia and of BNB Chain's test network, which the invoices name. Source: the EIP-155 registry.
const CHAINS: [(u64, Chain, Asset); 2] = [
    (11_155_111, Chain::Ethereum, Asset::ETH),
    (97, Chain::Bnb, Asset::BNB),
];

/// An account whose addresses are fresh on a development node: a coin's payment is what a balance has more.
const KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";

/// The driver of the chain whose id the node says.
pub(crate) async fn driver(
    url: &str,
    coins: &[Coin],
) -> anyhow::Result<(Chain, Arc<dyn ChainDriver>)> {
    let node = JsonRpc::new(url, Access::Open)?;
    let id: anyhow::Result<String> = node
        .call("eth_chainId", &json!([]))
        .await
        .map_err(Into::into);
    let id =
        id.with_context(|| format!("the chain at {url} cannot be read: is its node running?"))?;
    let id = u64::from_str_radix(id.trim_start_matches("0x"), 16)?;
    let known = CHAINS.into_iter().find(|(known, _, _)| *known == id);
    let (_, chain, asset) = known.with_context(|| {
        format!("its chain id is {id}: start the node with 11155111 for ETH and USDTERC20, or with 97 for BNB")
    })?;
    let key = DepositKey::parse(asset, KeyNetwork::Test, KEY)?;
    let driver = EvmDriver::new(chain, id, key, coins.to_vec(), url)?;
    Ok((chain, Arc::new(driver)))
}
