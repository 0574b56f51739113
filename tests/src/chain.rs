//! Chains that wallets pay on: anvil, a real node of Ethereum's kind, with a wallet in the page that really signs; a stand-in for a
//! node of Tron; and the demo with a chain, as `cargo xtask demo --chain` starts it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use florin_servers::{ACCOUNT, Anvil, free_port, test_token};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::http_response::plain_client;
use crate::local_server::LocalServer;
use crate::npm::{installed, npm_file};
use crate::program::{Folder, built, command};
use crate::wait::eventually;

/// The chain id of Sepolia, which the sandbox's invoices name.
const CHAIN_ID: &str = "11155111";

#[derive(Debug)]
pub struct Chain(Anvil);

impl Chain {
    pub async fn start() -> Self {
        Self::start_as(CHAIN_ID).await
    }

    pub async fn start_as(chain_id: &str) -> Self {
        let node = Anvil::start(&["--chain-id", chain_id]);
        node.put_token(test_token::ADDRESS).await;
        Self(node)
    }

    pub fn url(&self) -> &str {
        self.0.url()
    }

    pub async fn call(&self, method: &str, params: Value) -> Value {
        self.0.call(method, params).await
    }

    pub async fn mine(&self, blocks: u32) {
        self.0.mine(blocks).await;
    }

    pub async fn sent(&self) -> u64 {
        let account = json!([ACCOUNT, "pending"]);
        let count = self.call("eth_getTransactionCount", account).await;
        let digits = count.as_str().expect("a quantity").trim_start_matches("0x");
        u64::from_str_radix(digits, 16).expect("a quantity")
    }

    pub fn wallet(&self) -> String {
        let url = json!(self.url());
        let script = script_of("wallet.js");
        format!("globalThis.florinTestNode = {url};\n{script}")
    }
}

async fn ask(http: &reqwest::Client, node: &str, method: &str, params: Value) -> Option<Value> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = http.post(node).json(&request).send().await.ok()?;
    let mut response: Value = response.json().await.ok()?;
    Some(response.get_mut("result")?.take())
}

/// What a script of `tests/wallet` finds wrong in the script of a payment; empty if nothing.
pub fn wallet_guards(script: &str) -> String {
    let folder = Folder::new();
    let bundle = folder.file("guards.mjs");
    // Packages of other kinds of module find Node's own by it.
    let require = "--banner:js=import{createRequire}from'module';const require=createRequire('/');";
    let flags = ["--format=esm", "--platform=node", require];
    bundle_into(&bundle, script, &flags);
    let output = Command::new("node").arg(bundle).output();
    let output = output.expect("node can be started");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn script_of(script: &'static str) -> String {
    static SCRIPTS: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let mut scripts = SCRIPTS.lock();
    let bundled = scripts.entry(script).or_insert_with(|| {
        let folder = Folder::new();
        let bundle = folder.file(script);
        bundle_into(&bundle, script, &["--format=iife", "--minify"]);
        std::fs::read_to_string(bundle).expect("esbuild has written it")
    });
    bundled.clone()
}

fn bundle_into(bundle: &Path, script: &str, flags: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wallet");
    let output = Command::new("node")
        .arg(npm_file("esbuild/bin/esbuild"))
        .arg(folder.join(script))
        .args(["--bundle", "--log-level=warning"])
        .args(flags)
        .arg(format!("--outfile={}", bundle.display()))
        .env("NODE_PATH", installed().join("node_modules"))
        .output()
        .expect("node can be started");
    assert!(output.status.success(), "{output:?}");
}

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

/// What the demo's ports are above its base: proxy, shop, page with the wallet, node, tour, sandbox or gateway, the gateway's
/// admin listener, the proxy's process, its admin listener.
const PORTS: [u16; 9] = [0, 1, 2, 3, 4, 10, 11, 21, 1010];
/// Below the ports of other tests, of which one could take a port between the search and the start; with the admin listeners
/// above.
const BASES: Range<u16> = 12_000..13_000;
/// Demos that this process has started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
pub struct Demo {
    child: Child,
    base: u16,
    folder: Folder,
}

impl Demo {
    /// Starts it with a chain.
    pub async fn start() -> Self {
        let anvil = florin_servers::installed::anvil();
        Self::start_with(&["--anvil".as_ref(), anvil.as_os_str()]).await
    }

    /// Starts it as `cargo xtask demo` does.
    pub async fn start_simulated() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts it on free ports and waits until its proxy answers.
    async fn start_with(arguments: &[&OsStr]) -> Self {
        let is_free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        let bases = BASES.step_by(50).cycle();
        // Another process begins with another base, and so does another test: a demo opens its ports one after the other.
        let earlier = STARTED.fetch_add(1, Ordering::Relaxed);
        let first = usize::from(free_port() / 100) + earlier;
        let mut bases = bases.skip(first).take(BASES.len());
        let base = bases.find(|base| PORTS.iter().all(|offset| is_free(base + offset)));
        let base = base.expect("a demo's ports are free below 14010");
        let folder = Folder::new();
        let mut program = command(&built("florin-demo", "florin-demo"), &[]);
        program
            .args(["--port-base", &base.to_string()])
            .arg("--folder")
            .arg(folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let demo = Self {
            child: program.spawn().expect("the demo can be started"),
            base,
            folder,
        };
        let offer = format!("http://127.0.0.1:{base}/v1/checkout/offer?store=demo&product=mug");
        let http = plain_client();
        eventually("the demo offers assets", async || {
            let response = http.get(&offer).send().await.ok()?;
            let text = response.text().await.ok()?;
            text.contains("\"available\":true").then_some(())
        })
        .await;
        demo
    }

    pub fn tour(&self) -> String {
        format!("http://127.0.0.1:{}/tour", self.base + 4)
    }

    pub fn wallet_page(&self) -> String {
        format!("http://127.0.0.1:{}/", self.base + 2)
    }

    /// Adds blocks to its chain, which has one every three seconds otherwise.
    pub async fn mine(&self, blocks: u32) {
        let url = format!("http://127.0.0.1:{}", self.base + 3);
        let params = json!([format!("{blocks:#x}")]);
        let mined = ask(&plain_client(), &url, "anvil_mine", params).await;
        mined.expect("the node answers");
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.folder.file("florin.log")).unwrap_or_default();
            println!("what the demo logged:\n{log}");
        }
        // It ends its node, and cuts its connections after a while.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}
