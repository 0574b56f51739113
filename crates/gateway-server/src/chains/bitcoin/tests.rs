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

#[tokio::test]
async fn node_that_cannot_be_believed_is_an_error() {
    let info = |chain: &str, headers: u64, is_first: bool| json!({"chain": chain, "blocks": 200, "headers": headers, "bestblockhash": "tip", "initialblockdownload": is_first});
    let header = |time: i64, confirmations: i64| json!({"hash": "tip", "height": 200, "time": time, "confirmations": confirmations});
    for (method, replaced, expected) in [
        (
            "getblockchaininfo",
            info("main", 200, false),
            "\"main\", and Regtest is configured",
        ),
        (
            "getblockchaininfo",
            info("regtest", 203, false),
            "behind, at block 200 of 203",
        ),
        ("getblockchaininfo", info("regtest", 200, true), "behind"),
        ("getblockchaininfo", json!("error -28"), "does not answer"),
        (
            "getblockheader tip",
            header(NOW + 7201, 1),
            "check the clocks",
        ),
        (
            "getblockheader tip",
            json!({"hash": "tip", "height": 199, "time": NOW, "confirmations": 1}),
            "its newest block is 199, and was 200",
        ),
        (
            "getblockheader cursor",
            header(NOW, -1),
            "rescan from before that block",
        ),
        (
            "getblockheader cursor",
            json!("error -5"),
            "rescan from before that block",
        ),
        (
            "validateaddress",
            json!({"isvalid": false}),
            "this chain and network",
        ),
        ("loadwallet", json!("error -4"), "loadwallet: error -4"),
        (
            "importmulti",
            json!([{"success": false, "error": {"message": "why"}}]),
            "why",
        ),
        (
            "getmempoolinfo",
            json!({"loaded": false}),
            "still reads its mempool",
        ),
        ("getbestblockhash", json!("another"), "blocks come faster"),
    ] {
        let driver = driver(Asset::LTC, &[(method, replaced)], NOTHING).await;
        let result = look(&driver, &["old:0"]).await;
        let error = result.expect_err(method).to_string();
        assert!(error.contains(expected), "{method}: {error}");
    }
    let driver = driver(Asset::LTC, &[], NOTHING).await;
    let error = look(&driver, &["lost:0"]).await.unwrap_err().to_string();
    assert!(error.contains("lost transaction lost"), "{error}");
}

#[tokio::test]
async fn what_counts_is_received_at_our_addresses_in_a_block_or_the_mempool() {
    // Each with category, amount, confirmations, transaction; what is seen of it: amount, block, low fee.
    for (category, amount, confirmations, hash, expected) in [
        (
            "receive",
            "1.00000001",
            1,
            "x",
            Some(("1.00000001", Some(200), false)),
        ),
        (
            "receive",
            "90000000.00000001",
            3,
            "x",
            Some(("90000000.00000001", Some(198), false)),
        ),
        (
            "immature",
            "50.00000000",
            1,
            "x",
            Some(("50", Some(200), false)),
        ),
        (
            "generate",
            "50.00000000",
            101,
            "x",
            Some(("50", Some(100), false)),
        ),
        ("orphan", "50.00000000", 0, "a", None),
        ("send", "-1.00000000", 1, "x", None),
        ("receive", "1.00000000", -1, "x", None),
        ("receive", "1.00000000", 0, "a", Some(("1", None, false))),
        ("receive", "1.00000000", 0, "b", Some(("1", None, true))),
        ("receive", "1.00000000", 0, "replaced", None),
    ] {
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
            let seen = changes.transfers.iter().map(|transfer| {
                assert_eq!((transfer.index, &transfer.id), (7, &known));
                assert_eq!(transfer.address, key(coin).address(7));
                let amount = transfer.amount.with_min_decimals(0).to_string();
                (amount, transfer.block, transfer.low_fee)
            });
            let expected = expected.map(|(amount, block, low)| (amount.to_owned(), block, low));
            assert_eq!(
                seen.collect::<Vec<_>>(),
                Vec::from_iter(expected.clone()),
                "{category} {hash}"
            );
            assert_eq!(changes.gone.len(), usize::from(expected.is_none()));
            assert_eq!(changes.cursor, "200:cursor");
        }
    }
}
