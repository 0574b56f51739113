//! Nodes on this machine, the gateway on them, and a shop's page with a wallet that pays on them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use axum::extract::{Form, Path as Name, State};
use axum::http::{StatusCode, header};
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use florin_gateway::config::Config;
use florin_servers::{Anvil, RegtestNode, merchant, on_path};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::settings::{Ports, Secrets};

/// Between blocks of both chains.
const BLOCK_TIME: Duration = Duration::from_secs(3);
/// As many as the gateway waits for. Litecoin's network stops at block 431, so blocks come with payments alone.
const BLOCKS_FOR_A_PAYMENT: u32 = 3;

/// The nodes, which end with their value.
pub(crate) struct Chains {
    ethereum: Anvil,
    /// Where `litecoind` is installed.
    pub(crate) litecoin: Option<Arc<RegtestNode>>,
}

impl Chains {
    /// Starts a node with an account that has coins and USDT, and one of Litecoin with coins in its wallet.
    pub(crate) async fn start(anvil: &Path, ports: Ports) -> anyhow::Result<Self> {
        let block_time = BLOCK_TIME.as_secs().to_string();
        let ethereum = Anvil::start_program(anvil, ports.chain(), &["--block-time", &block_time])?;
        ethereum.put_token(merchant::USDT).await;
        let litecoin = match on_path("litecoind") {
            Some(program) => Some(Arc::new(RegtestNode::start(&program).await?)),
            None => None,
        };
        Ok(Self { ethereum, litecoin })
    }

    /// The configuration of a gateway on the nodes, with the prices of [`page`].
    pub(crate) fn gateway(
        &self,
        ports: Ports,
        secrets: &Secrets,
        folder: &Path,
    ) -> anyhow::Result<Config> {
        let prices = format!("http://127.0.0.1:{}/prices", ports.wallet);
        let litecoin = self.litecoin.as_deref().map(RegtestNode::url);
        let chains = merchant::gateway_toml(&prices, self.ethereum.url(), litecoin);
        let database = folder.join("gateway.db");
        ensure!(
            !database.exists(),
            "{} knows the chains of an earlier run, which are gone: name an empty --folder",
            database.display()
        );
        let toml = secrets.gateway_toml(ports, &database, &chains);
        florin_gateway::config::parse(&toml, std::iter::empty())
    }
}

#[derive(Deserialize)]
struct Payment {
    address: String,
    amount: String,
}

/// Serves the page, and the prices that the gateway asks for.
pub(crate) async fn page(
    listener: TcpListener,
    ports: Ports,
    litecoin: Option<Arc<RegtestNode>>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let hidden = if litecoin.is_none() { "hidden" } else { "" };
    let fill = |text: &str| {
        text.replace("{proxy}", &ports.proxy.to_string())
            .replace("{chain}", &ports.chain().to_string())
            .replace("{hidden}", hidden)
    };
    let html = fill(include_str!("wallet.html"));
    let script = fill(include_str!("wallet.js"));
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    let price = async |symbol: Name<String>| Json(json!({ "price": merchant::price(&symbol) }));
    let routes = Router::new()
        .route("/", get(async move || Html(html)))
        .route("/wallet.js", get(async move || (kind, script)))
        .route("/prices/{symbol}", get(price))
        .route("/litecoin", post(pay_litecoin))
        .with_state(litecoin);
    axum::serve(listener, routes)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await
        .context("the listener failed")
}

/// Pays from the node's wallet, and mines the blocks that confirm it.
async fn pay_litecoin(
    State(node): State<Option<Arc<RegtestNode>>>,
    Form(Payment { address, amount }): Form<Payment>,
) -> (StatusCode, Json<Value>) {
    let Some(node) = node else {
        return refused("litecoind is not installed");
    };
    let hash = match node.pay(address.trim(), amount.trim()).await {
        Ok(hash) => hash,
        Err(error) => return refused(&format!("{error:#}")),
    };
    tokio::spawn(async move {
        let mut every = tokio::time::interval(BLOCK_TIME);
        // The first tick comes at once.
        every.tick().await;
        for _ in 0..BLOCKS_FOR_A_PAYMENT {
            every.tick().await;
            if let Err(error) = node.mine(1).await {
                tracing::warn!("Litecoin's node makes no block: {error:#}");
            }
        }
    });
    (StatusCode::OK, Json(json!({ "hash": hash })))
}

fn refused(message: &str) -> (StatusCode, Json<Value>) {
    (StatusCode::BAD_REQUEST, Json(json!({ "error": message })))
}
