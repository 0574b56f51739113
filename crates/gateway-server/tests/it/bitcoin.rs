//! The driver of Bitcoin's family against the nodes that are installed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use florin_address::DepositKey;
use florin_gateway::chain::{
    ChainDriver as _, ChainError, Changes, KnownTransfer, Look, Network, Transfer,
};
use florin_gateway::chains::bitcoin::BitcoinDriver;
use florin_gateway::chains::json_rpc::{Access, JsonRpc};
use florin_gateway::clock::{Clock as _, SystemClock};
use florin_money::Asset;
use florin_servers::{RegtestNode, on_path};
use serde_json::{Value, json};

/// A public key for tests. Source: Bitcoin Core, `doc/descriptors.md` and its tests.
const KEY: &str = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/0/*)";

/// Looks until a test fails.
const TRIES: u32 = 300;

/// A node, a driver, and the record of the looks.
struct World {
    coin: Asset,
    node: RegtestNode,
    driver: BitcoinDriver,
    cursor: Option<String>,
    next_index: u32,
    known: Vec<KnownTransfer>,
}

/// A world for each node that is installed.
fn programs() -> Vec<(Asset, PathBuf)> {
    let programs = [(Asset::LTC, "litecoind"), (Asset::BTC, "bitcoind")];
    let found = programs.into_iter().filter_map(|(coin, program)| {
        let path = on_path(program);
        if path.is_none() {
            eprintln!("skipped: {program} is not installed");
        }
        Some((coin, path?))
    });
    found.collect()
}

fn driver(coin: Asset, network: Network, node: &RegtestNode, wallet: &str) -> BitcoinDriver {
    driver_of(KEY, coin, network, node, wallet)
}

fn driver_of(
    key: &str,
    coin: Asset,
    network: Network,
    node: &RegtestNode,
    wallet: &str,
) -> BitcoinDriver {
    let addresses = florin_address::Network::Regtest;
    let key = DepositKey::parse(coin, addresses, key).unwrap();
    let node = JsonRpc::new(node.url(), Access::Open).unwrap();
    let (wallet, clock) = (wallet.to_owned(), Arc::new(SystemClock));
    BitcoinDriver::new(coin, network, key, node, wallet, clock)
}

impl World {
    async fn start((coin, program): (Asset, PathBuf)) -> Self {
        let node = RegtestNode::start(&program).await.unwrap();
        let driver = driver(coin, Network::Regtest, &node, "watch");
        let mut world = Self {
            coin,
            node,
            driver,
            cursor: None,
            next_index: 0,
            known: Vec::new(),
        };
        world.expect(&[], 0).await;
        world
    }

    async fn try_look(&self) -> Result<Changes, ChainError> {
        let look = Look {
            cursor: self.cursor.as_deref(),
            next_index: self.next_index,
            open: &[],
            known: &self.known,
        };
        self.driver.changes(look).await
    }

    /// Looks until these transfers are there, which takes a moment in the mempool, and records the look. Each transfer
    /// has index, amount and confirmations. `gone` is the number of known transfers that are no longer there.
    async fn expect(&mut self, transfers: &[(u32, &str, u64)], gone: usize) -> Changes {
        let mut changes = self.try_look().await.unwrap();
        for _ in 0..TRIES {
            if seen(&changes) == described(transfers) {
                break;
            }
            SystemClock.sleep(Duration::from_millis(100)).await;
            changes = self.try_look().await.unwrap();
        }
        assert_eq!(seen(&changes), described(transfers));
        assert_eq!(changes.gone.len(), gone, "{changes:?}");
        assert_eq!(
            self.try_look().await.unwrap(),
            changes,
            "the same look again"
        );
        self.cursor = Some(changes.cursor.clone());
        let known = |transfer: &Transfer| KnownTransfer {
            id: transfer.id.clone(),
            block: transfer.block,
        };
        self.known = changes.transfers.iter().map(known).collect();
        changes
    }

    async fn issue(&mut self) -> String {
        let address = self.driver.issue(self.next_index).await.unwrap();
        self.next_index += 1;
        address
    }

    async fn mine(&self, blocks: u32) -> Vec<String> {
        self.node.mine(blocks).await.unwrap()
    }

    async fn pay(&self, address: &str, amount: &str) -> String {
        self.node.pay(address, amount).await.unwrap()
    }

    /// A coin of the payer.
    async fn coin(&self) -> Value {
        let coins: Vec<Value> = self.node.payer("listunspent", json!([1])).await.unwrap();
        coins[0].clone()
    }

    async fn spend(&self, coin: &Value, outputs: Value) -> String {
        self.node.spend([coin], outputs).await.unwrap()
    }

    async fn own_address(&self) -> String {
        self.node.payer("getnewaddress", json!([])).await.unwrap()
    }
}

fn described(transfers: &[(u32, &str, u64)]) -> Vec<String> {
    let lines = transfers.iter();
    lines
        .map(|(index, amount, confirmations)| format!("{index} {amount} {confirmations}"))
        .collect()
}

fn seen(changes: &Changes) -> Vec<String> {
    let mut transfers: Vec<_> = changes.transfers.iter().collect();
    transfers.sort_by_key(|transfer| (transfer.index, transfer.amount));
    let lines = transfers.iter().map(|transfer| {
        let confirmations = transfer
            .block
            .map_or(0, |block| changes.tip.height + 1 - block);
        let amount = transfer.amount.with_min_decimals(0);
        format!("{} {amount} {confirmations}", transfer.index)
    });
    lines.collect()
}

#[tokio::test]
async fn payment_is_seen_in_the_mempool_and_in_blocks() {
    for program in programs() {
        let mut world = World::start(program).await;
        let address = world.issue().await;
        let hash = world.pay(&address, "1.00000001").await;
        world.expect(&[(0, "1.00000001", 0)], 0).await;
        world.mine(1).await;
        world.expect(&[(0, "1.00000001", 1)], 0).await;
        world.mine(2).await;
        let changes = world.expect(&[(0, "1.00000001", 3)], 0).await;
        let [transfer] = &changes.transfers[..] else {
            panic!("{changes:?}");
        };
        assert_eq!(changes.tip, world.driver.tip().await.unwrap());
        assert_eq!(transfer.block, Some(changes.tip.height - 2));
        assert_eq!(
            (&transfer.address, &transfer.transaction_hash),
            (&address, &hash)
        );
        assert!(transfer.id.starts_with(&hash) && !transfer.low_fee);
    }
}

#[tokio::test]
async fn raised_fee_counts_once_and_foreign_double_spend_disappears() {
    for program in programs() {
        let mut world = World::start(program).await;
        let address = world.issue().await;
        let hash = world.pay(&address, "1").await;
        world.expect(&[(0, "1", 0)], 0).await;
        let _: Value = world.node.payer("bumpfee", json!([hash])).await.unwrap();
        world.expect(&[(0, "1", 0)], 1).await;
        world.mine(1).await;
        world.expect(&[(0, "1", 1)], 0).await;

        let other = world.own_address().await;
        let coin = world.coin().await;
        let second = world.issue().await;
        world
            .spend(&coin, json!([{second: "2"}, {&other: "0.5"}]))
            .await;
        world.expect(&[(0, "1", 1), (1, "2", 0)], 0).await;
        world.spend(&coin, json!([{&other: "0.1"}])).await;
        world.expect(&[(0, "1", 1)], 1).await;
        world.mine(2).await;
        world.expect(&[(0, "1", 3)], 0).await;
    }
}

#[tokio::test]
async fn reorganisation_takes_a_payment_back_and_a_double_spend_takes_it_away() {
    for program in programs() {
        let mut world = World::start(program).await;
        let address = world.issue().await;
        let coin = world.coin().await;
        let other = world.own_address().await;
        world
            .spend(&coin, json!([{&address: "3"}, {&other: "0.5"}]))
            .await;
        world.mine(2).await;
        world.expect(&[(0, "3", 2)], 0).await;
        world.node.reorganize(2).await.unwrap();
        world.expect(&[(0, "3", 0)], 0).await;
        world.mine(1).await;
        world.expect(&[(0, "3", 1)], 0).await;

        let best: String = world
            .node
            .call("getbestblockhash", json!([]))
            .await
            .unwrap();
        let _: Value = world
            .node
            .call("invalidateblock", json!([best]))
            .await
            .unwrap();
        world.spend(&coin, json!([{&other: "0.1"}])).await;
        // Until its blocks are there again, the payment is not gone.
        let error = world.try_look().await.unwrap_err();
        assert!(error.to_string().contains("newest block"), "{error}");
        world.mine(3).await;
        // Between two looks: known as confirmed, and gone.
        world.expect(&[], 1).await;
        world.expect(&[], 0).await;
    }
}

#[tokio::test]
async fn each_output_is_a_transfer_and_addresses_above_are_seen() {
    for program in programs() {
        let mut world = World::start(program).await;
        let first = world.issue().await;
        let second = world.issue().await;
        let beyond = world.driver.issue(700).await.unwrap();
        let coin = world.coin().await;
        let other = world.own_address().await;
        let outputs = json!([{first: "1"}, {&second: "2"}, {&beyond: "4"}, {other: "0.5"}]);
        world.spend(&coin, outputs).await;
        world.pay(&second, "8").await;
        let expected = |confirmations| {
            let outputs = [(0, "1"), (1, "2"), (1, "8"), (700, "4")];
            outputs.map(|(index, amount)| (index, amount, confirmations))
        };
        world.expect(&expected(0), 0).await;
        world.mine(1).await;
        world.expect(&expected(1), 0).await;

        // The range grows before it is used up, and another process finds it grown.
        world.next_index = 701;
        world.expect(&expected(1), 0).await;
        let other = driver(world.coin, Network::Regtest, &world.node, "watch");
        let above = other.issue(1700).await.unwrap();
        let too_far = other.issue(5000).await.unwrap_err();
        assert!(too_far.to_string().contains("address 5000"), "{too_far}");
        world.pay(&above, "16").await;
        (world.driver, world.next_index) = (other, 0);
        let expected = [&expected(1)[..], &[(1700, "16", 0)]].concat();
        world.expect(&expected, 0).await;
    }
}

#[tokio::test]
async fn node_that_stops_changes_nothing_and_continues_after_its_start() {
    for program in programs() {
        let mut world = World::start(program).await;
        let address = world.issue().await;
        world.pay(&address, "1").await;
        world.mine(1).await;
        world.pay(&address, "2").await;
        world.expect(&[(0, "1", 1), (0, "2", 0)], 0).await;
        world.node.stop().await.unwrap();
        let error = world.try_look().await.unwrap_err();
        assert!(matches!(error, ChainError::Unreachable(_)), "{error}");
        world.node.start_again().await.unwrap();
        world.mine(1).await;
        let expected = [(0, "1", 2), (0, "2", 1)];
        world.expect(&expected, 0).await;

        // A database of before: no cursor, another process.
        world.driver = driver(world.coin, Network::Regtest, &world.node, "watch");
        (world.cursor, world.next_index, world.known) = (None, 0, Vec::new());
        world.expect(&expected, 0).await;
    }
}

#[tokio::test]
async fn new_wallet_finds_what_the_cursor_covers_and_a_rescan_finds_the_rest() {
    for program in programs() {
        let mut world = World::start(program).await;
        let address = world.issue().await;
        world.pay(&address, "1").await;
        world.mine(1).await;
        world.expect(&[(0, "1", 1)], 0).await;
        world.driver = driver(world.coin, Network::Regtest, &world.node, "new");
        world.expect(&[(0, "1", 1)], 0).await;

        world.driver = driver(world.coin, Network::Regtest, &world.node, "newer");
        (world.cursor, world.next_index, world.known) = (None, 0, Vec::new());
        world.driver.rescan(1, 0).await.unwrap();
        world.expect(&[(0, "1", 1)], 0).await;

        // Another key in the same wallet.
        let key = KEY.replace("wpkh", "pkh");
        let regtest = Network::Regtest;
        world.driver = driver_of(&key, world.coin, regtest, &world.node, "newer");
        (world.cursor, world.known) = (None, Vec::new());
        world.expect(&[], 0).await;
        let address = world.issue().await;
        world.pay(&address, "2").await;
        world.expect(&[(0, "2", 0)], 0).await;
    }
}

#[tokio::test]
async fn what_lies_at_the_addresses_is_summed() {
    for program in programs() {
        let mut world = World::start(program).await;
        let [first, _, third] = [
            world.issue().await,
            world.issue().await,
            world.issue().await,
        ];
        for (address, amount) in [(&first, "0.5"), (&first, "0.25"), (&third, "2")] {
            world.pay(address, amount).await;
        }
        world.mine(1).await;
        let held = world.driver.held(world.next_index).await.unwrap();
        let held = held.into_iter();
        let held = held.map(|it| {
            (
                it.index,
                it.address,
                it.amount.with_min_decimals(0).to_string(),
            )
        });
        let expected = [(0, first, "0.75"), (2, third, "2")];
        let expected = expected.map(|(index, address, sum)| (index, address, sum.to_owned()));
        assert_eq!(held.collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn node_of_another_network_or_with_a_lost_block_is_refused() {
    for program in programs() {
        let world = World::start(program).await;
        for (network, expected) in [(Network::Main, "Main"), (Network::Test, "Test")] {
            let driver = driver(world.coin, network, &world.node, "watch");
            let error = driver.tip().await.unwrap_err();
            assert!(matches!(error, ChainError::Unusable(_)), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let other = match world.coin {
            Asset::LTC => Asset::BTC,
            _ => Asset::LTC,
        };
        let look = Look {
            cursor: None,
            next_index: 0,
            open: &[],
            known: &[],
        };
        let driver = driver(other, Network::Regtest, &world.node, "other");
        let error = driver.changes(look).await.unwrap_err();
        assert!(
            error.to_string().contains("this chain and network"),
            "{error}"
        );
    }
}
