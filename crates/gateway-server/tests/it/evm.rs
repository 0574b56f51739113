//! Ethereum's kind on anvil. The test keeps what the gateway would record.

use std::collections::BTreeMap;

use florin_address::{DepositKey, Network as AddressNetwork};
use florin_gateway::chain::{
    Chain, ChainDriver as _, ChainError, Changes, KnownTransfer, Look, Network, Transfer,
};
use florin_gateway::chains::evm::EvmDriver;
use florin_gateway::coin::Coin;
use florin_money::Asset;
use florin_servers::{ACCOUNT, Anvil, test_token};
use serde_json::{Value, json};

/// An account that no node knows.
const KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";
const LOOK_ALIKE: &str = "0x00000000000000000000000000000000000a11ce";
const FORWARDER: &str = "0x00000000000000000000000000000000000f0ed0";
/// Sends the coins on to the address that is the call's only argument.
const FORWARDER_CODE: &str = "0x6000600060006000346000355af100";
/// Any call logs two transfers: nine tenths of the second argument to the first, and one tenth to another address.
const TOKEN_WITH_FEE: &str = concat!(
    "0x602435600a900480602435036000526004353",
    "37fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a3",
    "600052610fee337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a300",
);
const ETHER: u128 = 1_000_000_000_000_000_000;
const USDT: &str = test_token::ADDRESS;

/// The gateway's part: it records what a driver answers.
struct Shop {
    node: Anvil,
    driver: EvmDriver,
    cursor: Option<String>,
    open: Vec<u32>,
    recorded: BTreeMap<String, Transfer>,
    height: u64,
}

impl Shop {
    /// Two open addresses, and a node that makes a block where the test says so.
    async fn open() -> (Self, [String; 2]) {
        let node = Anvil::start(&["--chain-id", "11155111", "--no-mining"]);
        node.put_token(USDT).await;
        let mut shop = Self {
            driver: driver(node.url()),
            node,
            cursor: None,
            open: vec![0, 1],
            recorded: BTreeMap::new(),
            height: 0,
        };
        shop.look().await;
        let addresses = [shop.address(0).await, shop.address(1).await];
        (shop, addresses)
    }

    async fn ask(&self) -> Result<Changes, ChainError> {
        let known = self.recorded.values().map(|transfer| KnownTransfer {
            id: transfer.id.clone(),
            block: transfer.block,
        });
        let known: Vec<_> = known.collect();
        let look = Look {
            cursor: self.cursor.as_deref(),
            next_index: 2,
            open: &self.open,
            known: &known,
        };
        self.driver.changes(look).await
    }

    /// A look, twice: a gateway that stopped before it recorded the first must see the same.
    async fn look(&mut self) -> Changes {
        let changes = self.ask().await.expect("the node can be used");
        assert_eq!(self.ask().await, Ok(changes.clone()));
        self.cursor = Some(changes.cursor.clone());
        self.height = changes.tip.height;
        for id in &changes.gone {
            let known = self.recorded.remove(id);
            assert!(known.is_some(), "{id} was never reported");
        }
        for transfer in &changes.transfers {
            self.recorded.insert(transfer.id.clone(), transfer.clone());
        }
        changes
    }

    async fn mine_and_look(&mut self) -> Changes {
        self.node.mine(1).await;
        self.look().await
    }

    /// What is recorded: asset, index, amount, and confirmations if a block has it.
    #[track_caller]
    fn paid(&self, expected: &[&str]) {
        let rows = self.recorded.values().map(|transfer| {
            let (code, index, amount) = (&transfer.code, transfer.index, transfer.amount);
            match transfer.block {
                Some(block) => {
                    let confirmations = (self.height + 1).saturating_sub(block);
                    format!("{code} {index}: {amount} ({confirmations})")
                }
                None => format!("{code} {index}: {amount}"),
            }
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        assert_eq!(rows, expected);
    }

    async fn address(&self, index: u32) -> String {
        let address = self.driver.issue(index).await;
        address.expect("it has no coins")
    }

    async fn call<const N: usize>(&self, method: &str, params: [Value; N]) -> Value {
        self.node.call(method, params.to_vec().into()).await
    }

    async fn send(&self, mut transaction: Value) -> Value {
        transaction["from"] = json!(ACCOUNT);
        self.call("eth_sendTransaction", [transaction]).await
    }

    async fn send_coins(&self, to: &str, units: u128) -> Value {
        let value = format!("{units:#x}");
        self.send(json!({"to": to, "value": value})).await
    }

    async fn send_tokens(&self, contract: &str, to: &str, units: u128) -> Value {
        let input = test_token::transfer(to, units);
        let transaction = json!({"to": contract, "input": input, "gas": "0x30d40"});
        self.send(transaction).await
    }
}

fn driver(node: &str) -> EvmDriver {
    let key = DepositKey::parse(Asset::ETH, AddressNetwork::Test, KEY);
    let key = key.expect("it is a key");
    let coins = [Asset::ETH, Asset::USDTERC20].map(|asset| Coin::listed(asset, Network::Test));
    let driver = EvmDriver::new(Chain::Ethereum, 11_155_111, key, coins.to_vec(), node);
    driver.expect("the settings fit")
}

#[tokio::test]
async fn tokens_count_as_the_log_of_the_exact_contract_says() {
    let (mut shop, [first, second]) = Shop::open().await;
    shop.node.put_token(LOOK_ALIKE).await;
    let [never_issued, too_far] = [shop.address(101).await, shop.address(102).await];
    for (contract, to, units) in [
        (USDT, &*first, 25_000_000),
        (USDT, &second, 1),
        (USDT, &second, 24_999_998),
        (USDT, &second, 0),
        (USDT, ACCOUNT, 7),
        (USDT, &never_issued, 5),
        (USDT, &too_far, 5),
        (LOOK_ALIKE, &first, 25_000_000),
        // More than there is: the transaction fails.
        (USDT, &first, 9_000_000_000_000),
    ] {
        shop.send_tokens(contract, to, units).await;
    }
    shop.node.mine(1).await;
    shop.call("anvil_setCode", [json!(USDT), json!(TOKEN_WITH_FEE)])
        .await;
    shop.send_tokens(USDT, &first, 1_000_000).await;
    shop.mine_and_look().await;
    shop.paid(&[
        "USDTERC20 0: 0.9 (1)",
        "USDTERC20 0: 25 (2)",
        "USDTERC20 101: 0.000005 (2)",
        "USDTERC20 1: 0.000001 (2)",
        "USDTERC20 1: 24.999998 (2)",
    ]);
    assert_eq!(shop.look().await.transfers, []);
}

#[tokio::test]
async fn what_lies_at_the_addresses_is_listed_until_it_is_moved() {
    let (shop, [first, second]) = Shop::open().await;
    shop.send_coins(&second, ETHER / 2).await;
    shop.send_tokens(USDT, &first, 25_000_000).await;
    shop.send_tokens(USDT, &second, 1).await;
    shop.node.mine(1).await;
    let held = async || {
        let held = shop.driver.held(&[0, 1, 2]).await;
        let held = held.expect("the node can be used").into_iter();
        held.map(|it| format!("{} {} {} {}", it.index, it.address, it.code, it.amount))
            .collect::<Vec<_>>()
    };
    let tokens = format!("0 {first} USDTERC20 25");
    assert_eq!(
        held().await,
        [
            tokens.clone(),
            format!("1 {second} ETH 0.5"),
            format!("1 {second} USDTERC20 0.000001"),
        ]
    );
    shop.call("anvil_setBalance", [json!(second), json!("0x0")])
        .await;
    let nothing = format!("0x{:064x}", 0);
    let slot = test_token::balance_slot(&second.to_ascii_lowercase());
    shop.call(
        "anvil_setStorageAt",
        [json!(USDT), json!(slot), json!(nothing)],
    )
    .await;
    assert_eq!(held().await, [tokens]);
}

#[tokio::test]
async fn coins_are_found_however_they_arrive() {
    let (mut shop, [first, second]) = Shop::open().await;
    shop.call("anvil_setCode", [json!(FORWARDER), json!(FORWARDER_CODE)])
        .await;
    let plain = shop.send_coins(&first, ETHER / 2).await;
    let argument = format!("0x{:0>64}", &second[2..]);
    let value = format!("{:#x}", ETHER / 4 + 1);
    shop.send(json!({"to": FORWARDER, "value": value, "input": argument}))
        .await;
    shop.mine_and_look().await;
    shop.paid(&["ETH 0: 0.5 (1)", "ETH 1: 0.250000000000000001 (1)"]);
    for transfer in shop.recorded.values() {
        let named = json!(transfer.transaction_hash) == plain;
        assert_eq!(named, transfer.index == 0, "{transfer:?}");
    }

    // The merchant takes the coins, the customer pays again; then the invoice is closed.
    shop.call("anvil_setBalance", [json!(first), json!("0x0")])
        .await;
    assert_eq!(shop.mine_and_look().await.transfers, []);
    shop.recorded.clear();
    shop.send_coins(&first, 1).await;
    shop.mine_and_look().await;
    shop.paid(&["ETH 0: 0.000000000000000001 (1)"]);
    shop.open = vec![1];
    shop.recorded.clear();
    shop.send_coins(&first, 1).await;
    shop.mine_and_look().await;
    shop.paid(&[]);

    let used = shop.driver.issue(0).await.expect_err("it has coins");
    assert!(
        used.to_string().contains("continue with the next index"),
        "{used}"
    );
}

#[tokio::test]
async fn payment_is_seen_before_its_block_and_once_after_it() {
    let (mut shop, [first, second]) = Shop::open().await;
    shop.send_coins(&first, ETHER).await;
    shop.send_tokens(USDT, &second, 3_000_000).await;
    // Not open: nothing shows it before its block.
    let later = shop.address(7).await;
    shop.send_tokens(USDT, &later, 1_000_000).await;
    for _ in 0..2 {
        shop.look().await;
        shop.paid(&["ETH 0: 1", "USDTERC20 1: 3"]);
    }
    shop.mine_and_look().await;
    shop.paid(&["ETH 0: 1 (1)", "USDTERC20 1: 3 (1)", "USDTERC20 7: 1 (1)"]);
}

#[tokio::test]
async fn announced_payment_is_gone_when_it_is_replaced_or_forgotten() {
    let (mut shop, [first, _]) = Shop::open().await;
    let with_fee = |fee: u64, to: &str| {
        json!({
            "to": to, "value": "0xde0b6b3a7640000", "nonce": "0x0", "gas": "0x5208",
            "maxFeePerGas": format!("{fee:#x}"), "maxPriorityFeePerGas": "0x1",
        })
    };
    shop.send(with_fee(3_000_000_000, &first)).await;
    shop.look().await;
    shop.paid(&["ETH 0: 1"]);
    let elsewhere = shop.send(with_fee(9_000_000_000, ACCOUNT)).await;
    shop.look().await;
    shop.paid(&[]);
    shop.call("anvil_dropTransaction", [elsewhere]).await;

    let dropped = shop.send(with_fee(3_000_000_000, &first)).await;
    shop.look().await;
    shop.call("anvil_dropTransaction", [dropped]).await;
    for _ in 0..3 {
        shop.look().await;
        shop.paid(&["ETH 0: 1"]);
        shop.node.mine(1).await;
    }
    shop.look().await;
    shop.paid(&[]);
}

#[tokio::test]
async fn reorganised_payment_is_gone_and_comes_back_with_its_new_block() {
    let (mut shop, [first, second]) = Shop::open().await;
    shop.node.mine(3).await;
    let coins = shop.send_coins(&first, ETHER).await;
    let token = shop.send_tokens(USDT, &second, 3_000_000).await;
    shop.node.mine(1).await;
    let coins = shop.call("eth_getRawTransactionByHash", [coins]).await;
    let tokens = shop
        .call("eth_getRawTransactionByHash", [token.clone()])
        .await;
    shop.mine_and_look().await;
    shop.paid(&["ETH 0: 1 (2)", "USDTERC20 1: 3 (2)"]);
    let mut before: Vec<String> = shop.recorded.keys().cloned().collect();

    // An invoice that is paid is closed: its coins are followed nevertheless.
    shop.open = Vec::new();
    let again = json!([[coins, 0], [tokens, 1]]);
    shop.call("anvil_reorg", [json!(2), again]).await;
    let gone = shop.look().await.gone;
    shop.paid(&["ETH 0: 1 (2)", "USDTERC20 1: 3 (1)"]);
    before.retain(|id| !id.starts_with(token.as_str().expect("it is a text")));
    assert_eq!(gone, before, "the id of coins names the block");

    shop.call("anvil_reorg", [json!(3), json!([])]).await;
    shop.call("eth_sendRawTransaction", [coins]).await;
    shop.call("eth_sendRawTransaction", [tokens]).await;
    shop.look().await;
    shop.paid(&["USDTERC20 1: 3"]);
    shop.open = vec![0, 1];
    shop.mine_and_look().await;
    shop.paid(&["ETH 0: 1 (1)", "USDTERC20 1: 3 (1)"]);
}

#[tokio::test]
async fn many_blocks_take_several_looks_whose_tip_waits_for_the_balances() {
    let (mut shop, [first, second]) = Shop::open().await;
    shop.send_tokens(USDT, &second, 3_000_000).await;
    shop.send_coins(&first, ETHER).await;
    shop.look().await;
    shop.node.mine(350).await;
    shop.look().await;
    assert_eq!(shop.height, 0, "balances of old blocks are unknown");
    shop.paid(&["ETH 0: 1", "USDTERC20 1: 3 (0)"]);
    shop.look().await;
    assert_eq!(shop.height, 350);
    shop.paid(&["ETH 0: 1 (101)", "USDTERC20 1: 3 (350)"]);

    // Without coins to wait for, the tip follows.
    shop.open = Vec::new();
    shop.recorded.clear();
    shop.node.mine(350).await;
    shop.look().await;
    assert_eq!(shop.height, 550);
}
