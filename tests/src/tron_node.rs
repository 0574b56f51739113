//! A stand-in for a node of Tron: it takes what wallets send, and answers whether it is in a block. Nothing else of Tron is in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::chain::script_of;
use crate::local_server::LocalServer;

/// What was sent, by its id, and the result in a block of each that is in one.
#[derive(Debug, Default)]
struct Sent {
    transactions: BTreeMap<String, Value>,
    results: BTreeMap<String, &'static str>,
    is_hidden: bool,
}

#[derive(Debug)]
pub struct TronNode {
    server: LocalServer,
    sent: Arc<Mutex<Sent>>,
}

impl TronNode {
    pub async fn start() -> Self {
        let sent = Arc::<Mutex<Sent>>::default();
        let routes = Router::new()
            .route("/", post(answer).options(async || shared(json!({}))))
            .with_state(Arc::clone(&sent));
        let server = LocalServer::start(routes).await;
        Self { server, sent }
    }

    pub fn sent(&self) -> Vec<Value> {
        let sent = self.sent.lock();
        sent.transactions.values().cloned().collect()
    }

    /// A block has all that was sent, each with this result: `SUCCESS` or `FAILED`.
    pub fn mine(&self, result: &'static str) {
        let mut sent = self.sent.lock();
        let Sent {
            transactions,
            results,
            ..
        } = &mut *sent;
        results.extend(transactions.keys().map(|id| (id.clone(), result)));
    }

    pub fn hide(&self) {
        let mut sent = self.sent.lock();
        sent.is_hidden = true;
    }

    pub fn wallet(&self) -> String {
        let url = json!(self.server.url);
        let script = script_of("tron_wallet.js");
        format!("globalThis.florinTestNode = {url};\n{script}")
    }
}

/// Any page may read the answer, as with a public node.
fn shared(answer: Value) -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    ];
    (headers, Json(answer)).into_response()
}

async fn answer(State(sent): State<Arc<Mutex<Sent>>>, Json(request): Json<Value>) -> Response {
    let mut sent = sent.lock();
    let parameter = &request["params"][0];
    let result = match request["method"].as_str() {
        Some("broadcast") => {
            let id = parameter["txID"].as_str().expect("a transaction has an id");
            sent.transactions.insert(id.to_owned(), parameter.clone());
            json!({"result": true, "txid": id})
        }
        Some("transaction") => {
            let id = parameter.as_str().expect("an id");
            let known = sent.transactions.get(id).filter(|_| !sent.is_hidden);
            known.cloned().unwrap_or_else(|| json!({}))
        }
        Some("receipt") => {
            let id = parameter.as_str().expect("an id");
            match sent.results.get(id) {
                Some(&"FAILED") => json!({"id": id, "blockNumber": 1, "result": "FAILED"}),
                Some(_) => json!({"id": id, "blockNumber": 1}),
                None => json!({}),
            }
        }
        _ => panic!("the wallet asks for something else: {request}"),
    };
    shared(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}
