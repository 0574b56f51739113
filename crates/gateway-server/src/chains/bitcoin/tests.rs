//! The rules over answers of a node, as Litecoin Core 0.21 writes them. A real node is in `tests/it/bitcoin.rs`.

use axum::{Json, Router};
use serde_json::from_str;
use serde_json::value::{RawValue, to_raw_value};

use super::super::json_rpc::Access;
use super::*;
use crate::chain::KnownTransfer;
use crate::clock::Sleep;

const KEY: &str = "pkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/0/*)";
const NOTHING: &str = r#"{"transactions": [], "lastblock": "tip"}"#;
/// The time of the tip.
const NOW: i64 = 1_800_000_000;
/// Answers by method, or by method and first parameter. Strings with `error` first are refusals with that code.
const NODE: &str = r#"{
  "getblockchaininfo": {"chain": "regtest", "blocks": 200, "headers": 202, "bestblockhash": "tip", "initialblockdownload": false},
  "getblockheader tip": {"hash": "tip", "height": 200, "time": 1800000000, "confirmations": 1},
  "getblockheader cursor": {"hash": "cursor", "height": 99, "time": 1799000000, "confirmations": 102},
  "getblockhash 99": "cursor",
  "getbestblockhash": "tip",
  "getmempoolinfo": {"loaded": true},
  "getmempoolentry": "error -5",
  "getmempoolentry a": {"height": 195},
  "getmempoolentry b": {"height": 194},
  "validateaddress": {"isvalid": true},
  "listwallets": [],
  "loadwallet": "error -18",
  "createwallet": null,
  "getwalletinfo": {},
  "getaddressinfo": {"ismine": false, "iswatchonly": false},
  "importmulti": [{"success": true}],
  "gettransaction": "error -5",
  "gettransaction old": {"txid": "old", "confirmations": -3, "details": []},
  "gettransaction a": {"txid": "a", "confirmations": 0, "details": []},
  "gettransaction x": {"txid": "x", "confirmations": 1, "details": []}
}"#;

type Node = BTreeMap<String, Box<RawValue>>;

#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(NOW).unwrap()
    }

    fn sleep(&self, _: std::time::Duration) -> Sleep {
        unreachable!("a driver does not wait")
    }
}

fn key(coin: Asset) -> DepositKey {
    DepositKey::parse(coin, florin_address::Network::Regtest, KEY).unwrap()
}

fn answer(node: &Node, request: &Value) -> String {
    let method = request["method"].as_str().unwrap();
    let first = &request["params"][0];
    let first = first
        .as_str()
        .map_or_else(|| first.to_string(), ToOwned::to_owned);
    let answer = node
        .get(&format!("{method} {first}"))
        .or_else(|| node.get(method));
    let answer = answer
        .unwrap_or_else(|| panic!("unexpected call of {method}"))
        .get();
    let id = &request["id"];
    match answer
        .strip_prefix("\"error ")
        .and_then(|code| code.strip_suffix('"'))
    {
        Some(code) => format!(r#"{{"id": {id}, "error": {{"code": {code}}}}}"#),
        None => format!(r#"{{"id": {id}, "result": {answer}}}"#),
    }
}

/// A driver over the answers above, some of them replaced.
async fn driver(coin: Asset, replaced: &[(&str, Value)], listed: &str) -> BitcoinDriver {
    let mut node: Node = from_str(NODE).unwrap();
    for (key, value) in replaced {
        node.insert((*key).to_owned(), to_raw_value(value).unwrap());
    }
    // Text, since a value has no room for such amounts.
    node.insert("listsinceblock".to_owned(), from_str(listed).unwrap());
    let node = Arc::new(node);
    let handle = async move |Json(request): Json<Value>| match request.as_array() {
        Some(requests) => {
            let answers: Vec<_> = requests.iter().map(|one| answer(&node, one)).collect();
            format!("[{}]", answers.join(","))
        }
        None => answer(&node, &request),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let node = JsonRpc::new(&url, Access::Open).unwrap();
    tokio::spawn(axum::serve(listener, Router::new().fallback(handle)).into_future());
    let (key, wallet, clock) = (key(coin), "watch".to_owned(), Arc::new(FixedClock));
    BitcoinDriver::new(coin, Network::Regtest, key, node, wallet, clock)
}

async fn look(driver: &BitcoinDriver, known: &[&str]) -> Result<Changes, ChainError> {
    let known = known.iter().map(|id| KnownTransfer {
        id: (*id).to_owned(),
        block: None,
    });
    let known: Vec<_> = known.collect();
    let look = Look {
        cursor: Some("200:cursor"),
        next_index: 1,
        open: &[],
        known: &known,
    };
    driver.changes(look).await
}

/// What is asked, another answer to it, and a part of the error.
const REFUSED: &str = r#"
getblockchaininfo | {"chain": "main", "blocks": 200, "headers": 200, "bestblockhash": "tip"} | "main", and Regtest is configured
getblockchaininfo | {"chain": "regtest", "blocks": 200, "headers": 203, "bestblockhash": "tip"} | behind, at block 200 of 203
getblockchaininfo | {"chain": "regtest", "blocks": 200, "headers": 200, "bestblockhash": "tip", "initialblockdownload": true} | behind
getblockchaininfo | "error -28" | does not answer
getblockheader tip | {"hash": "tip", "height": 200, "time": 1800007201, "confirmations": 1} | check the clocks
getblockheader tip | {"hash": "tip", "height": 199, "time": 1800000000, "confirmations": 1} | its newest block is 199, and was 200
getblockheader cursor | {"hash": "tip", "height": 200, "time": 1800000000, "confirmations": -1} | rescan from before that block
getblockheader cursor | "error -5" | rescan from before that block
validateaddress | {"isvalid": false} | this chain and network
loadwallet | "error -4" | loadwallet: error -4
importmulti | [{"success": false, "error": {"message": "why"}}] | why
getmempoolinfo | {"loaded": false} | still reads its mempool
getbestblockhash | "another" | blocks come faster
"#;

#[tokio::test]
async fn node_that_cannot_be_believed_is_an_error() {
    for line in REFUSED.trim().lines() {
        let columns: Vec<&str> = line.split(" | ").collect();
        let [method, answer, expected] = columns[..] else {
            panic!("{line}");
        };
        let replaced = [(method, from_str(answer).unwrap())];
        let driver = driver(Asset::LTC, &replaced, NOTHING).await;
        let error = look(&driver, &["old:0"]).await.expect_err(line).to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let driver = driver(Asset::LTC, &[], NOTHING).await;
    let error = look(&driver, &["lost:0"]).await.unwrap_err().to_string();
    assert!(error.contains("lost transaction lost"), "{error}");
}

/// Category, amount, confirmations and transaction; and what is seen of it: amount, block, and `low` of a low fee.
const LISTED: &str = "
receive  1.00000001        1   x        1.00000001 200
receive  90000000.00000001 3   x        90000000.00000001 198
immature 50.00000000       1   x        50 200
generate 50.00000000       101 x        50 100
orphan   50.00000000       0   a
send     -1.00000000       1   x
receive  1.00000000        -1  x
receive  1.00000000        0   a        1 -
receive  1.00000000        0   b        1 - low
receive  1.00000000        0   replaced
";

#[tokio::test]
async fn what_counts_is_received_at_our_addresses_in_a_block_or_the_mempool() {
    for line in LISTED.trim().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [category, amount, confirmations, hash, expected @ ..] = &words[..] else {
            panic!("{line}");
        };
        for coin in [Asset::LTC, Asset::DOGE, Asset::BCH] {
            let address = key(coin).address(7);
            let address = match coin {
                Asset::BCH => format!("bchreg:{}", address.trim_start_matches("bchreg:")),
                _ => address,
            };
            let listed = format!(
                r#"{{"lastblock": "tip", "transactions": [
                {{"category": "{category}", "address": "{address}", "amount": {amount}, "vout": 2,
                  "confirmations": {confirmations}, "txid": "{hash}"}},
                {{"category": "receive", "address": "foreign", "amount": 1.00000000, "vout": 1,
                  "confirmations": {confirmations}, "txid": "{hash}"}}]}}"#
            );
            let many = json!(vec![json!({"success": true}); 100]);
            let replaced = [
                ("importmulti", many),
                ("validateaddress", json!({"isvalid": true})),
            ];
            let driver = driver(coin, &replaced, &listed).await;
            let known = format!("{hash}:2");
            let changes = look(&driver, &[&known]).await.unwrap();
            let mut seen = Vec::new();
            for transfer in &changes.transfers {
                assert_eq!((transfer.index, &transfer.id), (7, &known));
                assert_eq!(transfer.address, key(coin).address(7));
                seen.push(transfer.amount.with_min_decimals(0).to_string());
                let block = transfer.block.map(|block| block.to_string());
                seen.push(block.unwrap_or_else(|| "-".to_owned()));
                seen.extend(transfer.low_fee.then(|| "low".to_owned()));
            }
            assert_eq!(seen, expected, "{line}");
            assert_eq!(changes.gone.len(), usize::from(expected.is_empty()));
            assert_eq!(changes.cursor, "200:cursor");
        }
    }
}
