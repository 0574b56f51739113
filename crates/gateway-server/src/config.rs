//! Configuration: a TOML file, and environment variables, which win.
//!
//! `GATEWAY_API_SECRET` is `api_secret`; two underscores go one level down, and a number counts chains from 0:
//! `GATEWAY_CHAIN__0__KEY`. A key `…_file` names a file with the value.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use florin_address::DepositKey;
use florin_money::{Asset, CryptoCode, Currency};
use jiff::SignedDuration;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use toml::{Table, Value};

use crate::chain::{Chain, ChainDriver, Network};
use crate::chains::bitcoin::{BitcoinDriver, NodeOptions};
use crate::chains::evm::EvmDriver;
use crate::chains::json_rpc::Access;
use crate::clock::{Clock, SystemClock};
use crate::coin::{Coin, Limits, chain_of};
use crate::confirmations::{Confirmations, Step};
use crate::gateway::Options;
use crate::rates::{Rates, RatesOptions};
use crate::uri::chain_id;

const PREFIX: &str = "GATEWAY_";
/// Names the file.
const CONFIG: &str = "GATEWAY_CONFIG";

/// Everything that is wrong, by key.
#[derive(Debug, Default)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|problem| writeln!(f, "  {problem}"))
    }
}

impl Problems {
    fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }

    fn add(&mut self, key: impl fmt::Display, problem: impl fmt::Display) {
        self.0.push(format!("{key}: {problem}"));
    }
}

/// The keys as they are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the API and the hosted page listen.
    #[serde(default = "listen")]
    pub listen: SocketAddr,
    /// Where health and metrics listen.
    #[serde(default = "admin_listen")]
    pub admin_listen: SocketAddr,
    /// Where browsers reach the hosted page; default: the address it listens on.
    pub public_url: Option<Url>,
    /// `sqlite://FILE` or `postgres://…`, which several processes may share.
    #[serde(default = "database_url")]
    database_url: SecretString,
    /// `main`, `test` or `regtest`. A database remembers it.
    pub network: Network,
    /// The key that the proxy sends.
    api_key: String,
    /// The secret that the proxy signs with: 32 characters or more.
    api_secret: SecretString,
    /// Where COMPLETED and FAILED are reported: the proxy's `/callbacks/…`.
    callback_url: Option<Url>,
    /// Where the customer of an invoice without a hosted checkout is sent.
    #[serde(default)]
    merchant_website: String,
    /// The currency of prices beside US dollars.
    #[serde(default = "usd")]
    local_currency: Currency,
    /// How long an invoice may be paid at its price.
    #[serde(default = "invoice_minutes")]
    invoice_minutes: u32,
    /// Calls of the API in one second; 0: no limit.
    #[serde(default = "requests_per_second")]
    requests_per_second: u32,
    /// Open invoices without a payment on one chain; further ones are refused.
    #[serde(default = "max_unpaid_invoices")]
    max_unpaid_invoices: u32,
    /// Days after its deadline on which an invoice's address is still read where each costs a call.
    #[serde(default = "watch_days")]
    watch_days: u32,
    /// Prices and their sources.
    #[serde(default)]
    pub prices: RatesOptions,
    /// The chains; at least one.
    #[serde(default)]
    pub chain: Vec<ChainConfig>,
}

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
    confirmations: Option<Vec<Step>>,
}

fn listen() -> SocketAddr {
    ([127, 0, 0, 1], 8091).into()
}

fn admin_listen() -> SocketAddr {
    ([127, 0, 0, 1], 9091).into()
}

fn database_url() -> SecretString {
    "sqlite://florin-gateway.db?mode=rwc".into()
}

fn usd() -> Currency {
    Currency::USD
}

fn invoice_minutes() -> u32 {
    15
}

fn requests_per_second() -> u32 {
    50
}

fn max_unpaid_invoices() -> u32 {
    1_000
}

fn watch_days() -> u32 {
    7
}

fn wallet() -> String {
    "florin".to_owned()
}

/// Reads and checks the configuration.
///
/// # Errors
/// Everything that is wrong.
pub fn load(
    file: Option<&Path>,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Config, Problems> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Problems::one(format!("{}: {error}", path.display())))?,
        None => String::new(),
    };
    parse(&text, variables)
}

/// Reads and checks the text of a configuration.
///
/// # Errors
/// Everything that is wrong.
pub fn parse(
    text: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Config, Problems> {
    let table: Table = text
        .parse()
        .map_err(|error| Problems::one(format!("{error}")))?;
    let mut root = Value::Table(table);
    for (name, value) in variables {
        if name == CONFIG {
            continue;
        }
        if let Some(path) = name.strip_prefix(PREFIX) {
            let path = path.to_ascii_lowercase();
            let steps: Vec<&str> = path.split("__").collect();
            set(&mut root, &steps, &value)
                .map_err(|error| Problems::one(format!("{name}: {error}")))?;
        }
    }
    read_files(&mut root)?;
    let config: Config = serde_path_to_error::deserialize(root)
        .map_err(|error| Problems::one(format!("{}: {}", error.path(), error.inner().message())))?;
    config.check()?;
    Ok(config)
}

/// Sets a key from a variable: a number or a truth value where the text is one and the key is no text.
fn set(at: &mut Value, steps: &[&str], text: &str) -> Result<(), &'static str> {
    const TEXTS: [&str; 5] = [
        "api_key",
        "api_secret",
        "key",
        "node_wallet",
        "merchant_website",
    ];
    let Some((step, rest)) = steps.split_first() else {
        let is_number = text.parse::<i64>().is_ok() || text.parse::<bool>().is_ok();
        let value = text.parse().ok().filter(|_| is_number);
        *at = value.unwrap_or_else(|| Value::String(text.to_owned()));
        return Ok(());
    };
    if let Ok(index) = step.parse::<usize>() {
        let Value::Array(elements) = at else {
            return Err("a number follows the name of a list only");
        };
        if index > elements.len() {
            return Err("the list has a gap before this number");
        }
        if index == elements.len() {
            elements.push(Value::Table(Table::new()));
        }
        return set(&mut elements[index], rest, text);
    }
    let Value::Table(table) = at else {
        return Err("there is no such key");
    };
    if rest.is_empty() && TEXTS.contains(step) {
        table.insert((*step).to_owned(), Value::String(text.to_owned()));
        return Ok(());
    }
    let is_list = rest
        .first()
        .is_some_and(|next| next.parse::<usize>().is_ok());
    let empty = if is_list {
        Value::Array(Vec::new())
    } else {
        Value::Table(Table::new())
    };
    set(table.entry(*step).or_insert(empty), rest, text)
}

/// Replaces each key `…_file` by the content of the file, without the line's end.
fn read_files(at: &mut Value) -> Result<(), Problems> {
    match at {
        Value::Array(elements) => elements.iter_mut().try_for_each(read_files),
        Value::Table(table) => {
            let names: Vec<String> = table.keys().cloned().collect();
            for name in names {
                if let Some(key) = name.strip_suffix("_file")
                    && let Some(Value::String(path)) = table.get(&name)
                {
                    if table.contains_key(key) {
                        return Err(Problems::one(format!(
                            "{name}: {key} is set as well; keep one"
                        )));
                    }
                    let text = std::fs::read_to_string(path)
                        .map_err(|error| Problems::one(format!("{name}: {path}: {error}")))?;
                    table.insert(key.to_owned(), Value::String(text.trim_end().to_owned()));
                    table.remove(&name);
                }
            }
            table
                .iter_mut()
                .try_for_each(|(_, value)| read_files(value))
        }
        _ => Ok(()),
    }
}

const MIN_SECRET_CHARS: usize = 32;

impl Config {
    fn check(&self) -> Result<(), Problems> {
        let mut problems = Problems::default();
        let secret = self.api_secret.expose_secret().chars().count();
        if secret < MIN_SECRET_CHARS {
            problems.add(
                "api_secret",
                format!("it has {secret} characters; draw {MIN_SECRET_CHARS} or more"),
            );
        }
        if self.api_key.trim().is_empty() {
            problems.add("api_key", "it must not be empty");
        }
        if !(1..=1440).contains(&self.invoice_minutes) {
            problems.add("invoice_minutes", "it is 1 to 1440");
        }
        let options = self.options();
        let symbols = options.coins.iter().map(|coin| coin.symbol.as_str());
        if let Err(error) = Rates::new(self.prices.clone(), symbols, self.local_currency) {
            problems.0.push(error.to_string());
        }
        if self.chain.is_empty() {
            problems.add(
                "chain",
                "there is none: name a chain with its node and your public key",
            );
        }
        let mut names = BTreeSet::new();
        for (index, chain) in self.chain.iter().enumerate() {
            let at = format!("chain[{index}] ({})", chain.name.as_str());
            if !names.insert(chain.name) {
                problems.add(&at, "this chain is there twice");
            }
            for (name, problem) in chain.problems(self.network) {
                problems.add(format!("{at}.{name}"), problem);
            }
        }
        if problems.0.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// The database, with its password.
    pub fn database_url(&self) -> &str {
        self.database_url.expose_secret()
    }

    /// What the gateway offers and allows.
    pub fn options(&self) -> Options {
        let confirmations = self
            .chain
            .iter()
            .fold(Confirmations::default(), |all, chain| {
                match &chain.confirmations {
                    Some(steps) => all.with(chain.name, steps.clone()),
                    None => all,
                }
            });
        let public_url = self.public_url.as_ref().map_or_else(
            || format!("http://{}", self.listen),
            |url| url.as_str().trim_end_matches('/').to_owned(),
        );
        Options {
            network: self.network,
            api_key: self.api_key.clone(),
            api_secret: self.api_secret.clone(),
            public_url,
            merchant_website: self.merchant_website.clone(),
            callback_url: self.callback_url.clone(),
            callback_tries: 16,
            coins: self
                .chain
                .iter()
                .flat_map(|chain| chain.coins(self.network))
                .collect(),
            local_currency: self.local_currency,
            invoice_lifetime: SignedDuration::from_mins(self.invoice_minutes.into()),
            quote_lifetime: SignedDuration::from_secs(self.prices.quote_seconds.into()),
            confirmations,
            watch_after_expiry: SignedDuration::from_hours(i64::from(self.watch_days) * 24),
            requests_per_second: self.requests_per_second,
            max_unpaid_invoices: self.max_unpaid_invoices,
        }
    }
}

impl ChainConfig {
    fn known_assets(&self) -> impl Iterator<Item = Asset> {
        Asset::ALL
            .into_iter()
            .filter(|asset| chain_of(*asset) == self.name)
    }

    fn problems(&self, network: Network) -> Vec<(&'static str, String)> {
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

    fn coins(&self, network: Network) -> Vec<Coin> {
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
        if matches!(
            self.name,
            Chain::Ethereum | Chain::Bnb | Chain::Tron | Chain::Solana
        ) {
            return Ok(None);
        }
        let mut url: Url = self
            .node_url
            .expose_secret()
            .parse()
            .map_err(|error| format!("{error}"))?;
        let (name, password) = (
            url.username().to_owned(),
            url.password().map(SecretString::from),
        );
        let access = match (&self.node_cookie, password) {
            (Some(cookie), None) => Access::Cookie(cookie.clone()),
            (None, Some(password)) => Access::User { name, password },
            (None, None) => Access::Open,
            (Some(_), Some(_)) => return Err("node_cookie is set as well; keep one".to_owned()),
        };
        // Both setters fail for addresses without a host only.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        let options = NodeOptions {
            url: url.to_string(),
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
            Some(age) => {
                Arc::new(driver.with_max_age(SignedDuration::from_secs(age.into()), clock))
            }
            None => Arc::new(driver),
        })
    }
}

/// Of a node of a main network.
const MAX_AGE_SECONDS: u32 = 600;

#[cfg(test)]
mod tests;
