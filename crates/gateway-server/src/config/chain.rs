//! The section `[[chain]]`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use florin_address::DepositKey;
use florin_money::{Asset, CryptoCode};
use jiff::SignedDuration;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::chain::{Chain, ChainDriver, DEPTH, Network};
use crate::chains::bitcoin::BitcoinDriver;
use crate::chains::evm::EvmDriver;
use crate::chains::json_rpc::{Access, JsonRpc};
use crate::clock::SystemClock;
use crate::coin::{Coin, Limits, chain_of};
use crate::confirmations::Step;
use crate::uri::chain_id;

/// One chain with its node and the merchant's public key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainConfig {
    /// `bitcoin`, `litecoin`, `dogecoin`, `bitcoin_cash`, `ethereum`, `bnb` or `tron`.
    pub name: Chain,
    /// The merchant's public key: an output descriptor, or an extended public key.
    key: String,
    /// The node: `http://127.0.0.1:8332`; a user and a password go before the host.
    node_url: SecretString,
    /// The node's file `.cookie`, in place of a user and a password.
    node_cookie: Option<PathBuf>,
    /// The node's wallet that watches the addresses; Bitcoin's family only.
    #[serde(default = "wallet")]
    node_wallet: String,
    /// Of a chain of Ethereum's family; default: that of the network.
    chain_id: Option<u64>,
    /// Seconds that the node's last block may be old; Ethereum's family only.
    max_age_seconds: Option<u32>,
    /// Assets on offer; default: every one of the chain.
    assets: Option<Vec<CryptoCode>>,
    /// Another contract for an asset: a token of a private network.
    #[serde(default)]
    contracts: BTreeMap<String, String>,
    /// Limits of one payment, by asset.
    #[serde(default)]
    limits: BTreeMap<String, Limits>,
    /// Confirmations by the invoice's sum; default: see the guide.
    pub(super) confirmations: Option<Vec<Step>>,
}

fn wallet() -> String {
    "florin".to_owned()
}

impl ChainConfig {
    fn known_assets(&self) -> impl Iterator<Item = Asset> {
        Asset::ALL
            .into_iter()
            .filter(|asset| chain_of(*asset) == self.name)
    }

    pub(super) fn problems(&self, network: Network) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let known: Vec<_> = self.known_assets().map(Asset::crypto_code).collect();
        let unknown = self
            .assets
            .iter()
            .flatten()
            .find(|code| !known.contains(code));
        if let Some(code) = unknown {
            problems.push((
                "assets",
                format!("{} does not move on this chain", code.as_str()),
            ));
        }
        let names = known.iter().map(CryptoCode::as_str).collect::<Vec<_>>();
        let written = self.limits.keys().chain(self.contracts.keys());
        for code in written.filter(|code| !names.contains(&code.as_str())) {
            problems.push(("limits", format!("{code} does not move on this chain")));
        }
        let steps = self.confirmations.iter().flatten();
        let mut counts = steps.map(|step| u64::from(step.confirmations));
        if counts.clone().any(|count| count == 0) {
            let problem =
                "0 confirmations credit a payment that can still be replaced; write 1 or more";
            problems.push(("confirmations", problem.to_owned()));
        }
        if counts.any(|count| count > DEPTH) {
            let problem = format!("more than {DEPTH} confirmations are not counted");
            problems.push(("confirmations", problem));
        }
        if let Err(error) = self.deposit_key(network) {
            problems.push(("key", error.to_string()));
        } else if let Err(error) = self.driver(network) {
            problems.push(("node_url", error.to_string()));
        }
        problems
    }

    /// The merchant's public key.
    ///
    /// # Errors
    /// What to write instead.
    pub fn deposit_key(&self, network: Network) -> anyhow::Result<DepositKey> {
        let asset = self.known_assets().next();
        let asset = asset.context("no asset moves on this chain")?;
        let network = match network {
            Network::Main => florin_address::Network::Main,
            Network::Test => florin_address::Network::Test,
            Network::Regtest => florin_address::Network::Regtest,
        };
        Ok(DepositKey::parse(asset, network, &self.key)?)
    }

    pub(super) fn coins(&self, network: Network) -> Vec<Coin> {
        let offered = |asset: &Asset| {
            let offered = self.assets.as_ref();
            offered.is_none_or(|assets| assets.contains(&asset.crypto_code()))
        };
        let coin = |asset: Asset| {
            let mut coin = Coin::listed(asset, network);
            if let Some(contract) = self.contracts.get(coin.code.as_str()) {
                coin.contract = Some(contract.clone());
            }
            coin.limits = self
                .limits
                .get(coin.code.as_str())
                .copied()
                .unwrap_or_default();
            coin
        };
        self.known_assets().filter(offered).map(coin).collect()
    }

    /// The chain's driver.
    ///
    /// # Errors
    /// What is wrong with the key or the node's address.
    pub fn driver(&self, network: Network) -> anyhow::Result<Arc<dyn ChainDriver>> {
        if let Some(driver) = self.bitcoin_driver(network)? {
            return Ok(Arc::new(driver));
        }
        Ok(Arc::new(self.evm_driver(network)?))
    }

    /// The driver of a chain of Bitcoin's family; `None` of another.
    ///
    /// # Errors
    /// As [`Self::driver`].
    pub fn bitcoin_driver(&self, network: Network) -> anyhow::Result<Option<BitcoinDriver>> {
        let coin = match self.name {
            Chain::Bitcoin => Asset::BTC,
            Chain::Litecoin => Asset::LTC,
            Chain::Dogecoin => Asset::DOGE,
            Chain::BitcoinCash => Asset::BCH,
            _ => return Ok(None),
        };
        let url = self.node_url.expose_secret();
        let has_user = Url::parse(url).is_ok_and(|url| url.password().is_some());
        let access = match &self.node_cookie {
            Some(_) if has_user => bail!("node_cookie is set as well; keep one"),
            Some(cookie) => Access::Cookie(cookie.clone()),
            None => Access::Open,
        };
        let (key, node) = (self.deposit_key(network)?, JsonRpc::new(url, access)?);
        let (wallet, clock) = (self.node_wallet.clone(), Arc::new(SystemClock));
        Ok(Some(BitcoinDriver::new(
            coin, network, key, node, wallet, clock,
        )))
    }

    /// The driver of a chain of Ethereum's kind, or of Tron.
    ///
    /// # Errors
    /// As [`Self::driver`].
    pub fn evm_driver(&self, network: Network) -> anyhow::Result<EvmDriver> {
        let (key, coins) = (self.deposit_key(network)?, self.coins(network));
        let id = self
            .chain_id
            .unwrap_or_else(|| chain_id(self.name, network));
        let node = self.node_url.expose_secret();
        let driver = EvmDriver::new(self.name, id, key, coins, node)?;
        let age = self
            .max_age_seconds
            .or((network == Network::Main).then_some(MAX_AGE_SECONDS));
        Ok(match age.map(|age| SignedDuration::from_secs(age.into())) {
            Some(age) => driver.with_max_age(age, Arc::new(SystemClock)),
            None => driver,
        })
    }
}

/// Of a node of a main network.
const MAX_AGE_SECONDS: u32 = 600;
