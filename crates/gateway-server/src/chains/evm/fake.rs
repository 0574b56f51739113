//! A node in this process whose answers a test chooses.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(super) struct Node {
    /// By height.
    blocks: Vec<Block>,
    /// Answers to a method: results, or errors. The last one stays.
    answers: BTreeMap<String, Vec<Value>>,
    /// Methods in order of their calls.
    pub(super) calls: Vec<String>,
    /// Transactions of the block that it prepares; `None` if it prepares none.
    pub(super) pending: Option<Value>,
    chain_id: u64,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) logs: Vec<Value>,
    /// The transactions; only a block with them has any.
    pub(super) transactions: Vec<Value>,
    /// Balance of every address at this block.
    pub(super) balance: u64,
    /// What it names as its parent; the block before it where `None`.
    pub(super) parent: Option<u64>,
}

pub(super) type Shared = Arc<Mutex<Node>>;

/// A node with one block, and the address of its server.
pub(super) async fn start(chain_id: u64) -> (Shared, String) {
    let node = Node {
        chain_id,
        blocks: vec![Block::default()],
        ..Node::default()
    };
    let node = Arc::new(Mutex::new(node));
    let routes = Router::new().fallback(answer).with_state(Arc::clone(&node));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, routes).into_future());
    (node, url)
}

/// A hash that names the height, or a word of the machine.
pub(super) fn word(number: u64) -> String {
    format!("0x{number:064x}")
}

/// A transfer in the log of the block at `height`.
pub(super) fn log(height: u64, contract: &str, to: &str, units: &str) -> Value {
    let transfer = super::wire::TRANSFER_LOG;
    let to = format!("0x{:0>64}", to.trim_start_matches("0x"));
    json!({
        "address": contract, "topics": [transfer, word(1), to], "data": format!("0x{units:0>64}"),
        "blockHash": word(height), "blockNumber": format!("{height:#x}"), "blockTimestamp": "0x697999ef",
        "transactionHash": word(0xaaaa), "transactionIndex": "0x0", "logIndex": "0x0", "removed": false,
    })
}

impl Node {
    pub(super) fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(super) fn answer(&mut self, method: &str, answers: &[Value]) {
        let answers = answers.iter().rev().cloned().collect();
        self.answers.insert(method.to_owned(), answers);
    }

    pub(super) fn header(&self, height: usize) -> Value {
        let Some(block) = self.blocks.get(height) else {
            return json!({"result": null});
        };
        let before = height.saturating_sub(1) as u64;
        let parent = block.parent.unwrap_or(before);
        json!({"result": {
            "number": format!("{height:#x}"), "hash": word(height as u64), "parentHash": word(parent),
            "timestamp": "0x697999ef", "transactions": block.transactions, "nonce": "0x0000000000000000",
        }})
    }

    fn call(&mut self, request: &Value) -> Value {
        let method = request["method"].as_str().unwrap();
        self.calls.push(method.to_owned());
        if let Some(answers) = self.answers.get_mut(method) {
            let last = answers.len() == 1;
            return if last {
                answers[0].clone()
            } else {
                answers.pop().unwrap()
            };
        }
        let params = &request["params"];
        let number = |text: &Value| {
            let digits = text.as_str()?.strip_prefix("0x")?;
            usize::from_str_radix(digits.trim_start_matches('0'), 16).ok()
        };
        let last = self.blocks.len() - 1;
        match method {
            "eth_chainId" => json!({"result": format!("{:#x}", self.chain_id)}),
            "eth_syncing" => json!({"result": false}),
            "eth_getBlockByNumber" if params[0] == "pending" => match &self.pending {
                Some(transactions) => json!({"result": {"transactions": transactions}}),
                None => json!({"error": {"code": -32602, "message": "TAG pending not supported"}}),
            },
            "eth_getBlockByNumber" if params[0] == "latest" => self.header(last),
            "eth_getBlockByNumber" | "eth_getBlockByHash" => {
                self.header(number(&params[0]).unwrap_or(0))
            }
            "eth_getLogs" => {
                let height = number(&params[0]["blockHash"]).unwrap();
                json!({"result": self.blocks[height].logs})
            }
            "eth_getBalance" => {
                let height = if params[1] == "latest" {
                    Some(last)
                } else {
                    number(&params[1]["blockHash"])
                };
                json!({"result": format!("{:#x}", self.blocks[height.unwrap()].balance)})
            }
            _ => json!({"result": null}),
        }
    }
}

async fn answer(State(node): State<Shared>, Json(request): Json<Value>) -> Json<Value> {
    let mut node = node.lock();
    let mut one = |request: &Value| {
        let mut answer = node.call(request);
        answer["id"] = request["id"].clone();
        answer
    };
    let Some(requests) = request.as_array() else {
        return Json(one(&request));
    };
    Json(requests.iter().map(one).collect())
}
