//! The gateway on real nodes: `litecoind` on regtest and anvil, with a server of prices, in place of the sandbox.

use axum::routing::get;
use axum::{Json, Router};
use florin_servers::{ACCOUNT, Anvil, RegtestNode, free_port, on_path, test_token};
use serde_json::json;

use crate::local_server::LocalServer;
use crate::program::Folder;
use crate::world::secrets::{API_KEY, API_SECRET, CALLBACK_TOKEN};

/// The wallet's public keys. Source: BIP-32, test vector 1 of the seed 000102…0f, for the first.
const LITECOIN_KEY: &str = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/0/*)";
const ETHEREUM_KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";
/// Where invoices of a private network expect USDT: at the main network's contract.
const USDT: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";

/// The nodes. They end with their value.
#[derive(Debug)]
pub struct RealChains {
    pub litecoin: RegtestNode,
    pub ethereum: Anvil,
    /// Life of the gateway's invoices.
    pub invoice_minutes: u32,
    prices: LocalServer,
}

impl RealChains {
    pub async fn start() -> Self {
        let program = on_path("litecoind").expect("cargo xtask tools installs litecoind");
        let ethereum = Anvil::start(&[]);
        ethereum.put_token(USDT).await;
        let price = async |path: axum::extract::Path<String>| {
            let price = match path.0.as_str() {
                "LTC" => "84.20",
                "ETH" => "3120",
                _ => "1.0000",
            };
            Json(json!({ "price": price }))
        };
        Self {
            litecoin: RegtestNode::start(&program)
                .await
                .expect("litecoind starts"),
            ethereum,
            invoice_minutes: 15,
            prices: LocalServer::start(Router::new().route("/{symbol}", get(price))).await,
        }
    }

    /// Sends `amount` of the asset to an address from the node's own wallet. Returns the transaction's hash.
    pub async fn pay(&self, crypto_code: &str, address: &str, amount: &str) -> String {
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

    /// The gateway's configuration.
    pub fn gateway_toml(&self, listen: &str, proxy: &str, folder: &Folder) -> String {
        let database = folder.file("gateway.db");
        let [litecoin, ethereum, prices] = [
            self.litecoin.url(),
            self.ethereum.url(),
            self.prices.url.as_str(),
        ];
        let admin = free_port();
        let source = |name: &str| {
            format!(
                "[[prices.sources]]\nname = \"{name}\"\naddress = \"{prices}/{{symbol}}\"\npath = \"/price\"\n\
                 assets = {{ LTC = \"LTC\", ETH = \"ETH\", USDT = \"USDT\" }}\n"
            )
        };
        format!(
            r#"listen = "{listen}"
admin_listen = "127.0.0.1:{admin}"
database_url = "sqlite://{database}?mode=rwc"
network = "regtest"
invoice_minutes = {minutes}
api_key = "{API_KEY}"
api_secret = "{API_SECRET}"
callback_url = "{proxy}/callbacks/{CALLBACK_TOKEN}"
[prices]
interval_seconds = 5
{sources}
[[chain]]
name = "litecoin"
key = "{LITECOIN_KEY}"
node_url = "{litecoin}"
confirmations = [{{ from_usd = "0", confirmations = 3 }}]
[[chain]]
name = "ethereum"
key = "{ETHEREUM_KEY}"
node_url = "{ethereum}"
confirmations = [{{ from_usd = "0", confirmations = 3 }}]
"#,
            database = database.display(),
            minutes = self.invoice_minutes,
            sources = [source("a"), source("b")].concat(),
        )
    }

    /// What the proxy's section `[gateway]` has beside.
    pub(crate) fn proxy_toml() -> String {
        let key = |code: &str, key: &str| {
            format!("[[gateway.deposit_key]]\ncrypto_code = \"{code}\"\nkey = \"{key}\"\n")
        };
        let keys = [
            key("LTC", LITECOIN_KEY),
            key("ETH", ETHEREUM_KEY),
            key("USDTERC20", ETHEREUM_KEY),
        ];
        format!("regtest = true\n{}", keys.concat())
    }

    pub(crate) fn gateway(toml: &str) -> florin_gateway::config::Config {
        let config = florin_gateway::config::parse(toml, core::iter::empty());
        config.unwrap_or_else(|problems| panic!("{problems}"))
    }
}

/// An amount in units of 10^-`decimals`.
fn units(amount: &str, decimals: usize) -> u128 {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = format!("{whole}{fraction:0<decimals$}");
    digits.parse().expect("an amount of the asset")
}
