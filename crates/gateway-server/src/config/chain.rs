//! The section `[[chain]]`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use florin_address::DepositKey;
use florin_money::{Asset, CryptoCode};
use jiff::SignedDuration;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::chain::{Chain, ChainDriver, DEPTH, Network};
use crate::chains::bitcoin::{BitcoinDriver, NodeOptions};
use crate::chains::evm::EvmDriver;
use crate::chains::json_rpc::Access;
use crate::clock::{Clock, SystemClock};
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
        if steps.clone().any(|step| step.confirmations == 0) {
            let problem =
                "0 confirmations credit a payment that can still be replaced; write 1 or more";
            problems.push(("confirmations", problem.to_owned()));
        }
        if self
            .confirmations
            .iter()
            .flatten()
            .any(|step| u64::from(step.confirmations) > DEPTH)
        {
            let problem = format!("more than {DEPTH} confirmations are not counted");
            problems.push(("confirmations", problem));
        }
        match self.deposit_key(network) {
            Err(error) => problems.push(("key", error)),
            Ok(key) => {
                if let Err(error) = self.driver_with(key, network, Arc::new(SystemClock)) {
                    problems.push(("node_url", error));
                }
            }
        }
        problems
    }

    /// The merchant's public key.
    ///
    /// # Errors
    /// What to write instead.
    pub fn deposit_key(&self, network: Network) -> Result<DepositKey, String> {
        let asset = self.known_assets().next();
        let asset = asset.ok_or("no asset moves on this chain")?;
        let network = match network {
            Network::Main => florin_address::Network::Main,
            Network::Test => florin_address::Network::Test,
            Network::Regtest => florin_address::Network::Regtest,
        };
        DepositKey::parse(asset, network, &self.key).map_err(|error| error.to_string())
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
    pub fn driver(
        &self,
        network: Network,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<dyn ChainDriver>, String> {
        self.driver_with(self.deposit_key(network)?, network, clock)
    }

    /// The driver of a chain of Bitcoin's family; `None` of another.
    ///
    /// # Errors
    /// What is wrong with the node's address.
    pub fn bitcoin_driver(
        &self,
        key: DepositKey,
        network: Network,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<BitcoinDriver>, String> {
        let is_of_bitcoins_family = matches!(
            self.name,
            Chain::Bitcoin | Chain::Litecoin | Chain::Dogecoin | Chain::BitcoinCash
        );
        if !is_of_bitcoins_family {
            return Ok(None);
        }
        let url = self.node_url.expose_secret();
        let has_user = Url::parse(url).is_ok_and(|url| url.password().is_some());
        let access = match &self.node_cookie {
            Some(_) if has_user => {
                return Err("node_cookie is set as well; keep one".to_owned());
            }
            Some(cookie) => Access::Cookie(cookie.clone()),
            None => Access::Open,
        };
        let options = NodeOptions {
            url: url.to_owned(),
            access,
            wallet: self.node_wallet.clone(),
        };
        let driver = BitcoinDriver::new(self.name, network, key, options, clock);
        driver.map(Some).map_err(|error| error.to_string())
    }

    fn driver_with(
        &self,
        key: DepositKey,
        network: Network,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<dyn ChainDriver>, String> {
        if let Some(driver) = self.bitcoin_driver(key.clone(), network, clock.clone())? {
            return Ok(Arc::new(driver));
        }
        Ok(Arc::new(self.evm_driver(key, network, clock)?))
    }

    /// The driver of a chain of Ethereum's kind, or of Tron.
    ///
    /// # Errors
    /// What is wrong with the key or the node's address.
    pub fn evm_driver(
        &self,
        key: DepositKey,
        network: Network,
        clock: Arc<dyn Clock>,
    ) -> Result<EvmDriver, String> {
        let node = self.node_url.expose_secret();
        let coins = self.coins(network);
        let id = self
            .chain_id
            .unwrap_or_else(|| chain_id(self.name, network));
        let driver = EvmDriver::new(self.name, id, key, coins, node);
        let driver = driver.map_err(|error| error.to_string())?;
        let age = self
            .max_age_seconds
            .or((network == Network::Main).then_some(MAX_AGE_SECONDS));
        Ok(match age {
            Some(age) => driver.with_max_age(SignedDuration::from_secs(age.into()), clock),
            None => driver,
        })
    }
}

/// Of a node of a main network.
const MAX_AGE_SECONDS: u32 = 600;
