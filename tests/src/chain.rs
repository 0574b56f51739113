//! A chain of Ethereum's kind: anvil, a real node, and a wallet in the page that really signs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use florin_postgres::free_port;
use florin_sandbox::test_token;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::npm::{installed, npm_file};
use crate::program::Folder;
use crate::wait::eventually;

/// The chain id of Sepolia, which the sandbox's invoices name.
const CHAIN_ID: &str = "11155111";
/// The first account of the node, whose key the wallet has.
const ACCOUNT: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

#[derive(Debug)]
pub struct Chain {
    node: Child,
    url: String,
    http: reqwest::Client,
}

impl Chain {
    pub async fn start() -> Self {
        Self::start_as(CHAIN_ID).await
    }

    pub async fn start_as(chain_id: &str) -> Self {
        // Fails when it is installed already, which is the aim.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let port = free_port();
        let mut node = Command::new(anvil());
        node.args(["--chain-id", chain_id, "--silent", "--port"])
            .arg(port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let chain = Self {
            node: node.spawn().expect("anvil can be started"),
            url: format!("http://127.0.0.1:{port}"),
            http: reqwest::Client::new(),
        };
        eventually("anvil answers", async || {
            chain.ask("eth_chainId", json!([])).await
        })
        .await;
        let code = json!([test_token::ADDRESS, test_token::CODE]);
        chain.call("anvil_setCode", code).await;
        let slot = test_token::balance_slot(ACCOUNT);
        let balance = format!("0x{:064x}", 1_000_000_000_000_u64);
        let stored = json!([test_token::ADDRESS, slot, balance]);
        chain.call("anvil_setStorageAt", stored).await;
        chain
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub async fn call(&self, method: &str, params: Value) -> Value {
        let response = self.ask(method, params).await;
        response.unwrap_or_else(|| panic!("anvil refuses {method}"))
    }

    async fn ask(&self, method: &str, params: Value) -> Option<Value> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.http.post(&self.url).json(&request).send().await.ok()?;
        let mut response: Value = response.json().await.ok()?;
        Some(response.get_mut("result")?.take())
    }

    pub async fn mine(&self, blocks: u32) {
        self.call("anvil_mine", json!([format!("{blocks:#x}")]))
            .await;
    }

    pub async fn sent(&self) -> u64 {
        let account = json!([ACCOUNT, "pending"]);
        let count = self.call("eth_getTransactionCount", account).await;
        let digits = count.as_str().expect("a quantity").trim_start_matches("0x");
        u64::from_str_radix(digits, 16).expect("a quantity")
    }

    pub fn wallet(&self) -> String {
        let url = json!(self.url);
        let script = script_of("wallet.js");
        format!("globalThis.florinTestNode = {url};\n{script}")
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

/// The node for this machine: npm installs no other.
pub(crate) fn anvil() -> PathBuf {
    let folder = installed().join("node_modules/@foundry-rs");
    let packages = std::fs::read_dir(&folder).expect("anvil is installed");
    let programs = packages
        .flatten()
        .map(|entry| entry.path().join("bin/anvil"));
    // The package `anvil` itself has no program, but a script that looks for one.
    let mut programs = programs.filter(|program| program.is_file());
    let found = programs.next();
    found.unwrap_or_else(|| panic!("{} has no anvil for this machine", folder.display()))
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
