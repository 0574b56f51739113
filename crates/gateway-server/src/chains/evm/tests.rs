use florin_address::Network as AddressNetwork;
use florin_money::Asset;
use jiff::Timestamp;
use std::time::Duration;

use super::fake::{Block, Shared, log, start, word};
use super::*;
use crate::chain::{DEPTH, Network};
use crate::clock::Sleep;

const KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";
const USDT: &str = "0xaa8e23fb1079ea71e0a56f48a2aa51851d8433d0";
const LOOK: Look<'static> = Look {
    cursor: None,
    next_index: 2,
    open: &[0, 1],
    known: &[],
};

#[derive(Debug)]
struct Fixed(Timestamp);

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn sleep(&self, _: Duration) -> Sleep {
        unreachable!("a driver does not wait")
    }
}

async fn node() -> (Shared, EvmDriver, String) {
    let (node, url) = start(1).await;
    let key = DepositKey::parse(Asset::ETH, AddressNetwork::Main, KEY).unwrap();
    let coins = [Asset::ETH, Asset::USDTERC20, Asset::BNB];
    let coins = coins.map(|asset| Coin::listed(asset, Network::Test));
    let driver = EvmDriver::new(Chain::Ethereum, 1, key, coins.to_vec(), &url).unwrap();
    let address = driver.issue(0).await.unwrap();
    (node, driver, address.to_ascii_lowercase())
}

/// A method, its answers, and a part of the error.
const REFUSED: &str = r#"
eth_chainId | [{"result": "0x38"}] | its chain id is 56, and 1 is configured
eth_syncing | [{"result": {"currentBlock": "0x1"}}] | still synchronising
eth_getBlockByNumber | [{"result": null}] | its last block cannot be read
eth_getBlockByNumber | [LAST, OTHER_NUMBER] | does not have the block 0
eth_getBlockByNumber | [LAST, FIRST, OTHER_PARENT] | more than 100 blocks were replaced
eth_getLogs | [{"error": {"code": -32000, "message": "unknown block"}}] | unknown block
eth_getLogs | [{"result": null}] | does not answer
eth_getLogs | [{"result": [OTHER_BLOCK]}] | answers with those of 0x
eth_getLogs | [{"result": [TOO_MANY]}] | more than an amount can hold
eth_getLogs | [{"result": [ABOVE_AN_AMOUNT]}] | more than an amount can hold
eth_getBalance | [{"result": "0x100000000000000000000000000000000"}] | below 2^128
"#;

#[tokio::test]
async fn answers_that_contradict_themselves_conclude_nothing() {
    let (_, _, ours) = node().await;
    let header = |height: u64, parent: u64| {
        let (number, hash, parent) = (format!("{height:#x}"), word(height), word(parent));
        json!({"result": {"number": number, "hash": hash, "parentHash": parent, "timestamp": "0x1"}})
    };
    let table = [
        ("LAST", header(2, 1)),
        ("OTHER_NUMBER", header(7, 6)),
        ("FIRST", header(0, 0)),
        ("OTHER_PARENT", header(1, 7)),
        ("OTHER_BLOCK", log(7, USDT, &ours, "1")),
        ("TOO_MANY", log(1, USDT, &ours, &"f".repeat(64))),
        ("ABOVE_AN_AMOUNT", log(1, USDT, &ours, "ffffffffffffffff")),
    ];
    let table = table
        .iter()
        .fold(REFUSED.to_owned(), |table, (name, value)| {
            table.replace(name, &value.to_string())
        });
    for line in table.trim().lines() {
        let columns: Vec<&str> = line.split(" | ").collect();
        let [method, answers, expected] = columns[..] else {
            panic!("{line}");
        };
        let answers: Vec<Value> = serde_json::from_str(answers).unwrap();
        let (node, driver, _) = self::node().await;
        node.lock().add(Block::default());
        node.lock().answer(method, &answers);
        let error = driver.changes(LOOK).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let (node, driver, _) = node().await;
    node.lock().add(Block::default());
    node.lock().add(Block {
        parent: Some(7),
        ..Block::default()
    });
    let error = driver.changes(LOOK).await.unwrap_err().to_string();
    assert!(
        error.contains("more than 100 blocks were replaced"),
        "{error}"
    );
    for cursor in [
        "",
        "{}",
        r#"{"blocks":[],"complete":{"height":0,"hash":"","time":"2026-01-01T00:00:00Z"},"balances":{},"unconfirmed":{}}"#,
    ] {
        let look = Look {
            cursor: Some(cursor),
            ..LOOK
        };
        let error = driver.changes(look).await.unwrap_err().to_string();
        assert!(
            error.contains("the recorded cursor cannot be read"),
            "{error}"
        );
    }
}

/// It went back to a block that the driver has read, or it is another node.
#[tokio::test]
async fn node_that_lost_blocks_is_refused_and_one_that_is_away_does_not_answer() {
    let (node, driver, _) = node().await;
    for _ in 1..=DEPTH + 2 {
        node.lock().add(Block::default());
    }
    let cursor = driver.changes(LOOK).await.unwrap().cursor;
    let look = Look {
        cursor: Some(&cursor),
        ..LOOK
    };
    let before = node.lock().header(101);
    let mut other = node.lock().header(0);
    other["result"]["hash"] = json!(word(7));
    for (latest, expected) in [
        (before, "its last block is 101, and was 102"),
        (other, "its last block is 0, and was 102"),
        (json!({"result": 7}), "its node does not answer"),
    ] {
        node.lock().answer("eth_getBlockByNumber", &[latest]);
        let error = driver.changes(look).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[tokio::test]
async fn old_tip_is_refused_where_an_age_is_configured() {
    let block: Timestamp = "2026-01-28T05:08:31Z".parse().unwrap();
    for (minutes, is_refused) in [(10, false), (11, true)] {
        let (_, driver, _) = node().await;
        let now = block + SignedDuration::from_mins(minutes);
        let driver = driver.with_max_age(SignedDuration::from_mins(10), Arc::new(Fixed(now)));
        let tip = driver.tip().await;
        let refused = tip.is_err_and(|error| error.to_string().contains("its last block is of"));
        assert_eq!(refused, is_refused, "{minutes} minutes");
    }
}

#[tokio::test]
async fn logs_that_do_not_count_are_left_out_and_those_of_one_transaction_are_one_transfer() {
    let (node, driver, ours) = node().await;
    let mut removed = log(1, USDT, &ours, "7");
    removed["removed"] = json!(true);
    let mut other = log(1, USDT, &ours, "5");
    other["transactionHash"] = json!(word(0xbbbb));
    let logs = vec![
        removed,
        log(1, "0x00000000000000000000000000000000000a11ce", &ours, "7"),
        log(1, USDT, &ours, "1"),
        log(1, USDT, &ours, "2"),
        log(1, USDT, "0x00000000000000000000000000000000000a11ce", "7"),
        other,
    ];
    node.lock().add(Block {
        logs,
        ..Block::default()
    });
    let found = driver.changes(LOOK).await.unwrap().transfers;
    let amounts = found.iter().map(|transfer| transfer.amount.to_string());
    assert_eq!(amounts.collect::<Vec<_>>(), ["0.000003", "0.000005"]);
    assert_eq!(found[0].id, format!("{}:{USDT}:{ours}", word(0xaaaa)));
    assert_eq!(found[0].address.to_ascii_lowercase(), ours);
}

#[tokio::test]
async fn block_that_is_replaced_during_the_look_leaves_nothing() {
    let (node, driver, ours) = node().await;
    let header = |height: u64, hash: u64, parent: u64| {
        json!({"result": {
            "number": word(height), "hash": word(hash), "parentHash": word(parent), "timestamp": "0x1",
            "transactions": [],
        }})
    };
    let (begin, last) = (header(0, 0, 0), header(2, 22, 21));
    let replaced = [header(1, 1, 0), last.clone(), header(1, 21, 0)];
    let headers = [&[last.clone(), begin][..], &replaced, &[last]].concat();
    node.lock().answer("eth_getBlockByNumber", &headers);
    let logs = [json!([log(1, USDT, &ours, "7")]), json!([])].map(|logs| json!({"result": logs}));
    node.lock().answer("eth_getLogs", &logs);
    let balances = ["0x7", "0x7", "0x0"].map(|balance| json!({"result": balance}));
    node.lock().answer("eth_getBalance", &balances);
    let changes = driver.changes(LOOK).await.unwrap();
    assert_eq!(
        (changes.tip.hash, changes.transfers),
        (word(22), Vec::new())
    );
}

/// A transaction that no block has: a payment of a token.
fn announced(nonce: u64, to: &str, units: &str) -> Value {
    let to = to.trim_start_matches("0x");
    json!({
        "hash": word(nonce), "from": USDT, "nonce": format!("{nonce:#x}"), "to": USDT, "value": "0x0",
        "input": format!("0xa9059cbb{to:0>64}{units:0>64}"),
    })
}

#[tokio::test]
async fn announced_transfer_that_cannot_be_is_left_out() {
    let (node, driver, ours) = node().await;
    let transactions = [
        announced(1, &ours, &"f".repeat(64)),
        json!({"type": "0x7e"}),
        announced(2, &ours, "5"),
        announced(3, &ours, "0"),
        announced(4, &ours, "5"),
    ];
    node.lock().pending = Some(json!(transactions));
    let next_nonce = json!({"result": "0x3"});
    node.lock().answer("eth_getTransactionCount", &[next_nonce]);
    let found = driver.changes(LOOK).await.unwrap().transfers;
    let found = found
        .iter()
        .map(|transfer| (&*transfer.transaction_hash, transfer.block));
    assert_eq!(found.collect::<Vec<_>>(), [(&*word(4), None)]);
}

#[tokio::test]
async fn transaction_that_waits_for_a_lower_fee_is_kept_while_the_node_has_it() {
    let (node, driver, ours) = node().await;
    let transaction = announced(1, &ours, "5");
    node.lock().pending = Some(json!([transaction]));
    let next_nonce = json!({"result": "0x1"});
    node.lock().answer("eth_getTransactionCount", &[next_nonce]);
    let mut cursor = driver.changes(LOOK).await.unwrap().cursor;
    node.lock().pending = Some(json!([]));
    let has = json!({"result": transaction});
    node.lock().answer("eth_getTransactionByHash", &[has]);
    for (new_blocks, node_has_it, is_gone) in
        [(5, true, false), (2, false, false), (1, false, true)]
    {
        if !node_has_it {
            node.lock()
                .answer("eth_getTransactionByHash", &[json!({"result": null})]);
        }
        for _ in 0..new_blocks {
            node.lock().add(Block::default());
        }
        let look = Look {
            cursor: Some(&cursor),
            ..LOOK
        };
        let changes = driver.changes(look).await.unwrap();
        assert_eq!(
            !changes.gone.is_empty(),
            is_gone,
            "{new_blocks} {node_has_it}"
        );
        cursor = changes.cursor;
    }
}

/// The look ends before the node's last block, so that it does not know what is still unconfirmed.
#[tokio::test]
async fn coins_that_a_block_has_are_not_unconfirmed_while_the_driver_catches_up() {
    let (node, driver, ours) = node().await;
    let transaction = json!({
        "hash": word(7), "from": USDT, "nonce": "0x1", "to": ours, "value": "0x5", "input": "0x",
    });
    node.lock().pending = Some(json!([transaction]));
    node.lock()
        .answer("eth_getTransactionCount", &[json!({"result": "0x1"})]);
    let first = driver.changes(LOOK).await.unwrap();
    for height in 1..=250 {
        let balance = if height < 160 { 0 } else { 5 };
        node.lock().add(Block {
            balance,
            ..Block::default()
        });
    }
    let look = Look {
        cursor: Some(&first.cursor),
        ..LOOK
    };
    let second = driver.changes(look).await.unwrap();
    assert!(!second.is_caught_up);
    assert_eq!(second.transfers[0].block, Some(160));
    assert_eq!(second.gone, [first.transfers[0].id.clone()]);
}

/// As the module's documentation states.
#[tokio::test]
async fn calls_of_a_look_are_few() {
    let (node, driver, _) = node().await;
    let first = driver.changes(LOOK).await.unwrap().cursor;
    let look = Look {
        cursor: Some(&first),
        ..LOOK
    };
    let idle = [
        "eth_chainId",
        "eth_syncing",
        "eth_getBlockByNumber",
        "eth_getBlockByNumber",
    ];
    node.lock().calls.clear();
    driver.changes(look).await.unwrap();
    assert_eq!(node.lock().calls, idle);
    node.lock().add(Block {
        balance: 1,
        ..Block::default()
    });
    node.lock().calls.clear();
    driver.changes(look).await.unwrap();
    let block = [
        "eth_getBlockByNumber",
        "eth_getLogs",
        "eth_getBalance",
        "eth_getBalance",
        "eth_getBlockByHash",
    ];
    let (before, after) = idle.split_at(3);
    assert_eq!(node.lock().calls, [before, &block, after].concat());
}

#[test]
fn settings_of_another_chain_are_refused() {
    const URL: &str = "http://localhost";
    let (ether, tron) = ((Chain::Ethereum, Asset::ETH), (Chain::Tron, Asset::TRX));
    for ((chain, _), (_, key), contract, node, expected) in [
        (ether, tron, USDT, URL, "the key is none of ethereum"),
        (tron, ether, USDT, URL, "the key is none of tron"),
        (
            ether,
            ether,
            "USDT",
            URL,
            "\"USDT\" of USDTERC20 is no address",
        ),
        (ether, ether, USDT, "localhost", "must be like http://"),
    ] {
        let key = DepositKey::parse(key, AddressNetwork::Main, KEY).unwrap();
        let coin = Coin {
            contract: Some(contract.to_owned()),
            ..Coin::listed(Asset::USDTERC20, Network::Main)
        };
        let refused = EvmDriver::new(chain, 1, key, vec![coin], node).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

#[test]
fn amounts_keep_every_digit() {
    for (units, decimals, expected) in [
        (1, 18, Some("0.000000000000000001")),
        (1_500_000, 6, Some("1.5")),
        (100, 0, Some("100")),
        (100_000_000, 6, Some("100")),
        (0, 6, Some("0")),
        (u128::MAX, 18, None),
        (1, 19, None),
    ] {
        let code = CryptoCode::parse("X").unwrap();
        let amount = Unit { code, decimals }.amount(units);
        assert_eq!(
            amount.map(|amount| amount.to_string()).as_deref(),
            expected,
            "{units}"
        );
    }
}

#[tokio::test]
async fn tron_has_tokens_in_logs_and_coins_at_the_last_block_alone() {
    /// The contract of USDT on Nile, and the key's first address, as the node writes them.
    const USDT: &str = "0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f";
    const OURS: &str = "0xe2e1a54926527fbb4e4420de4c6bab82beaee24d";
    let (node, url) = start(3_448_148_188).await;
    let key = DepositKey::parse(Asset::TRX, AddressNetwork::Test, KEY).unwrap();
    let coins = [Asset::TRX, Asset::USDTTRC20].map(|asset| Coin::listed(asset, Network::Test));
    let driver = EvmDriver::new(Chain::Tron, 3_448_148_188, key, coins.to_vec(), &url).unwrap();
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
    let found = |changes: &Changes| {
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
