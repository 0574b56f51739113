//! A chain on this machine, and a shop's page with a wallet that pays on it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::http::header;
use axum::response::Html;
use axum::routing::get;
use florin_anvil::{ACCOUNT, test_token};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::settings::Ports;

const START_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Chain {
    node: Child,
    url: String,
}

impl Chain {
    /// Starts the node, with a block every three seconds and an account that has coins and USDT.
    pub(crate) async fn start(anvil: &Path, ports: Ports) -> anyhow::Result<Self> {
        let port = ports.chain();
        let node = Command::new(anvil)
            .args(["--chain-id", "11155111", "--silent", "--block-time", "3"])
            .args(["--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", anvil.display()))?;
        let chain = Self {
            node,
            url: format!("http://127.0.0.1:{port}"),
        };
        let responses = async {
            let mut every = tokio::time::interval(Duration::from_millis(50));
            while chain.call("eth_chainId", json!([])).await.is_err() {
                every.tick().await;
            }
        };
        tokio::time::timeout(START_TIMEOUT, responses)
            .await
            .context("anvil does not answer")?;
        let code = json!([test_token::ADDRESS, test_token::CODE]);
        chain.call("anvil_setCode", code).await?;
        let balance = format!("0x{:064x}", 1_000_000_000_000_u64);
        let balance = json!([
            test_token::ADDRESS,
            test_token::balance_slot(ACCOUNT),
            balance
        ]);
        chain.call("anvil_setStorageAt", balance).await?;
        Ok(chain)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    async fn call(&self, method: &str, params: Value) -> anyhow::Result<()> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let client = reqwest::Client::builder().no_proxy().build()?;
        let response = client.post(&self.url).json(&request).send().await?;
        let response: Value = response.json().await?;
        match response.get("error") {
            Some(error) => bail!("anvil refuses {method}: {error}"),
            None => Ok(()),
        }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

pub(crate) async fn page(
    listener: TcpListener,
    ports: Ports,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let fill = |text: &str| {
        text.replace("{proxy}", &ports.proxy.to_string())
            .replace("{chain}", &ports.chain().to_string())
    };
    let html = fill(include_str!("wallet.html"));
    let script = fill(include_str!("wallet.js"));
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    let routes = Router::new()
        .route("/", get(async move || Html(html)))
        .route("/wallet.js", get(async move || (kind, script)));
    axum::serve(listener, routes)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await
        .context("the listener failed")
}
