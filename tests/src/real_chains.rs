//! The gateway on real nodes: `litecoind` on regtest and anvil, with a server of prices, in place of the sandbox; and
//! what stands between the gateway and a node, and counts its calls.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::routing::get;
use axum::{Json, Router};
use florin_servers::merchant::{self, USDT};
use florin_servers::{ACCOUNT, Anvil, RegtestNode, free_port, on_path, test_token};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::http_response::plain_client;
use crate::local_server::LocalServer;
use crate::program::Folder;
use crate::world::secrets::{API_KEY, API_SECRET, CALLBACK_TOKEN};

/// The nodes. They end with their value.
#[derive(Debug)]
pub struct RealChains {
    pub litecoin: RegtestNode,
    pub ethereum: Anvil,
    pub invoice_minutes: u32,
    /// Anvil gives two payments at the same time one number, and a killed node takes none.
    pub(crate) payer: Mutex<()>,
    prices: LocalServer,
}

impl RealChains {
    pub async fn start() -> Self {
        let litecoin = RegtestNode::start(&litecoind()).await;
        Self::of(litecoin.expect("litecoind starts"), Anvil::start(&[])).await
    }

    pub(crate) async fn of(litecoin: RegtestNode, ethereum: Anvil) -> Self {
        ethereum.put_token(USDT).await;
        let price = async |path: axum::extract::Path<String>| {
            Json(json!({ "price": merchant::price(&path.0) }))
        };
        Self {
            litecoin,
            ethereum,
            invoice_minutes: 15,
            payer: Mutex::default(),
            prices: LocalServer::start(Router::new().route("/{symbol}", get(price))).await,
        }
    }

    /// Sends `amount` of the asset to an address from the node's own wallet. Returns the transaction's hash.
    pub async fn pay(&self, crypto_code: &str, address: &str, amount: &str) -> String {
        let _alone = self.payer.lock().await;
        if crypto_code == "LTC" {
            let paid = self.litecoin.pay(address, amount).await;
            return paid.expect("the wallet has coins");
        }
        let call = if crypto_code == "ETH" {
            json!([{"from": ACCOUNT, "to": address, "value": format!("{:#x}", units(amount, 18))}])
        } else {
            let call = test_token::transfer(address, units(amount, 6));
            json!([{"from": ACCOUNT, "to": USDT, "data": call}])
        };
        let hash = self.ethereum.call("eth_sendTransaction", call).await;
        hash.as_str().expect("a hash").to_owned()
    }

    pub async fn mine(&self, crypto_code: &str, blocks: u32) {
        let _alone = self.payer.lock().await;
        if crypto_code == "LTC" {
            self.litecoin.mine(blocks).await.expect("blocks are mined");
        } else {
            self.ethereum.mine(blocks).await;
        }
    }

    /// Takes the last blocks back; other, empty ones follow.
    pub async fn reorganize(&self, crypto_code: &str, blocks: u32) {
        if crypto_code == "LTC" {
            let reorganized = self.litecoin.reorganize(blocks).await;
            reorganized.expect("the blocks are replaced");
        } else {
            let reorganisation = json!([blocks, []]);
            self.ethereum.call("anvil_reorg", reorganisation).await;
        }
    }

    pub fn gateway_toml(&self, listen: &str, proxy: &str, folder: &Folder) -> String {
        let database = folder.file("gateway.db");
        let admin = free_port();
        let (ethereum, litecoin) = (self.ethereum.url(), self.litecoin.url());
        let chains = merchant::gateway_toml(&self.prices.url, ethereum, Some(litecoin));
        format!(
            r#"listen = "{listen}"
admin_listen = "127.0.0.1:{admin}"
database_url = "sqlite://{database}?mode=rwc"
network = "regtest"
invoice_minutes = {minutes}
api_key = "{API_KEY}"
api_secret = "{API_SECRET}"
callback_url = "{proxy}/callbacks/{CALLBACK_TOKEN}"
{chains}"#,
            database = database.display(),
            minutes = self.invoice_minutes,
        )
    }

    pub(crate) fn gateway(toml: &str) -> florin_gateway::config::Config {
        let config = florin_gateway::config::parse(toml, core::iter::empty());
        config.unwrap_or_else(|problems| panic!("{problems:#}"))
    }
}

/// # Panics
/// It is not installed.
pub(crate) fn litecoind() -> PathBuf {
    on_path("litecoind").expect("cargo xtask tools installs litecoind")
}

/// Of the asset's amount, in its smallest units of six decimals or more.
pub fn share(amount: &str, numerator: u64, denominator: u64) -> String {
    let (whole, fraction) = amount.split_once('.').expect("two decimals or more");
    let decimals = fraction.len();
    let units: u64 = format!("{whole}{fraction}").parse().expect("digits");
    let units = units * numerator / denominator;
    let digits = format!("{units:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    format!("{whole}.{fraction}")
}

/// An amount in units of 10^-`decimals`.
pub(crate) fn units(amount: &str, decimals: usize) -> u128 {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = format!("{whole}{fraction:0<decimals$}");
    digits.parse().expect("an amount of the asset")
}

#[derive(Debug)]
pub struct NodeCounter {
    /// With the node's user and password.
    pub url: String,
    counts: Arc<Counts>,
    _server: LocalServer,
}

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    requests: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
pub struct Counted {
    calls: u64,
    requests: u64,
}

impl NodeCounter {
    pub async fn start(node: &str) -> Self {
        let counts = Arc::new(Counts::default());
        let node: Url = node.parse().expect("an address");
        let state = (node.clone(), counts.clone(), plain_client());
        let server = LocalServer::start(Router::new().fallback(pass).with_state(state)).await;
        let mut url = node;
        url.set_port(Some(server.address.port()))
            .expect("it has a host");
        Self {
            url: url.as_str().trim_end_matches('/').to_owned(),
            counts,
            _server: server,
        }
    }

    /// The counts since the last call of this.
    pub fn take(&self) -> Counted {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Counted {
            calls: take(&self.counts.calls),
            requests: take(&self.counts.requests),
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.calls, self.requests)
    }
}

async fn pass(
    State((mut node, counts, http)): State<(Url, Arc<Counts>, reqwest::Client)>,
    request: Request,
) -> Vec<u8> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX)
        .await
        .unwrap_or_default();
    let calls: Value = serde_json::from_slice(&body).unwrap_or_default();
    let calls = calls.as_array().map_or(1, Vec::len) as u64;
    counts.calls.fetch_add(calls, Ordering::Relaxed);
    counts.requests.fetch_add(1, Ordering::Relaxed);
    node.set_path(parts.uri.path());
    let response = http
        .post(node)
        .body(body)
        .header("content-type", "application/json");
    let response = response.send().await.expect("the node answers");
    let body: Bytes = response.bytes().await.expect("the node answers whole");
    body.to_vec()
}
