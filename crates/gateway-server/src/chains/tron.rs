//! Tron, by the JSON-RPC of its nodes, which is Ethereum's with these differences:
//!
//! - Balances are those of now alone, so coins are read at the node's last block, once in a look. If another block
//!   follows meanwhile, the tip stays where it was until the next look.
//! - No block is prepared, so a transfer is first seen in its block.
//! - Its own forms of addresses and hashes are written; the node has Ethereum's.
//!
//! **It never ran against a real node**: none can be installed here. The tests have answers in the shape of its
//! documentation.
//!
//! Source: tronprotocol/documentation-en, `docs/api/json-rpc`; java-tron, `TronJsonRpcImpl.java`.

use florin_address::DepositKey;

use super::evm::{EvmDriver, EvmSettingsError};
use crate::chain::Chain;
use crate::coin::Coin;

/// A driver for Tron. Its main network has the chain id 728126428, Nile 3448148188.
///
/// # Errors
/// As [`EvmDriver::new`].
pub fn driver(
    chain_id: u64,
    key: DepositKey,
    coins: Vec<Coin>,
    node: &str,
) -> Result<EvmDriver, EvmSettingsError> {
    EvmDriver::new(Chain::Tron, chain_id, key, coins, node)
}

#[cfg(test)]
mod tests {
    use florin_address::Network as AddressNetwork;
    use florin_money::Asset;
    use serde_json::{Value, json};

    use super::super::evm::fake::{Block, log, start, word};
    use super::*;
    use crate::chain::{ChainDriver as _, Look, Network};

    const KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";
    /// The contract of USDT on Nile, and the key's first address, as the node writes them.
    const USDT: &str = "0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f";
    const OURS: &str = "0xe2e1a54926527fbb4e4420de4c6bab82beaee24d";

    #[tokio::test]
    async fn tokens_are_read_from_logs_and_coins_at_the_last_block_alone() {
        let (node, url) = start(3_448_148_188).await;
        let key = DepositKey::parse(Asset::TRX, AddressNetwork::Test, KEY).unwrap();
        let coins = [Asset::TRX, Asset::USDTTRC20].map(|asset| Coin::listed(asset, Network::Test));
        let driver = driver(3_448_148_188, key, coins.to_vec(), &url).unwrap();
        assert_eq!(
            driver.issue(0).await.unwrap(),
            "TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6"
        );
        let look = Look {
            cursor: None,
            next_index: 1,
            open: &[0],
            known: &[],
        };
        let first = driver.changes(look).await.unwrap();
        let transfer = json!({
            "hash": word(0xcccc), "from": USDT, "nonce": "0x0000000000000000", "to": OURS, "value": "0x16e360",
            "input": "0x", "blockNumber": "0x1", "type": "0x0",
        });
        node.lock().add(Block {
            logs: vec![log(1, USDT, OURS, "4c4b40")],
            transactions: vec![transfer],
            balance: 1_500_000,
            parent: None,
        });

        // The next block comes while balances are asked for.
        let (last, next) = (
            node.lock().header(1),
            json!({"result": {
                "number": "0x2", "hash": word(2), "parentHash": word(1), "timestamp": "0x697999f2", "transactions": Value::Null,
            }}),
        );
        let answers = [last.clone(), last.clone(), next];
        node.lock().answer("eth_getBlockByNumber", &answers);
        let look = Look {
            cursor: Some(&first.cursor),
            ..look
        };
        let second = driver.changes(look).await.unwrap();
        assert_eq!(second.tip, first.tip);
        let found = |changes: &crate::chain::Changes| {
            let transfers = changes.transfers.iter();
            let transfers = transfers.map(|transfer| {
                (
                    transfer.code.to_string(),
                    transfer.amount.to_string(),
                    transfer.transaction_hash.clone(),
                )
            });
            transfers.collect::<Vec<_>>()
        };
        let row = |code: &str, amount: &str, hash: u64| {
            (
                code.to_owned(),
                amount.to_owned(),
                word(hash)[2..].to_owned(),
            )
        };
        assert_eq!(found(&second), [row("USDTTRC20", "5", 0xaaaa)]);

        node.lock().answer("eth_getBlockByNumber", &[last]);
        let look = Look {
            cursor: Some(&second.cursor),
            ..look
        };
        let third = driver.changes(look).await.unwrap();
        assert_eq!(third.tip.height, 1);
        assert_eq!(found(&third), [row("TRX", "1.5", 0xcccc)]);
        assert_eq!(
            third.transfers[0].address,
            "TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6"
        );
    }
}
