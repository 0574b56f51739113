//! Configuration: a TOML file, and environment variables, which win.
//!
//! `GATEWAY_API_SECRET` is `api_secret`; two underscores go one level down, and a number counts chains from 0:
//! `GATEWAY_CHAIN__0__KEY`. A key `…_file` names a file with the value.

mod chain;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use florin_money::Currency;
use jiff::SignedDuration;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use toml::{Table, Value};

pub use self::chain::ChainConfig;
use crate::chain::Network;
use crate::confirmations::Confirmations;
use crate::gateway::Options;
use crate::rates::{Rates, RatesOptions};

const PREFIX: &str = "GATEWAY_";
/// Names the file.
const CONFIG: &str = "GATEWAY_CONFIG";

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

fn listen() -> SocketAddr {
    ([127, 0, 0, 1], 8091).into()
}

fn admin_listen() -> SocketAddr {
    ([127, 0, 0, 1], 9091).into()
}

fn database_url() -> SecretString {
    "sqlite://florin-gateway.db".into()
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

/// Reads and checks the configuration.
///
/// # Errors
/// Everything that is wrong.
pub fn load(
    file: Option<&Path>,
    variables: impl Iterator<Item = (String, String)>,
) -> anyhow::Result<Config> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
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
) -> anyhow::Result<Config> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| anyhow!(syntax(text, &error)))?;
    let mut root = Value::Table(table);
    for (name, value) in variables {
        if name == CONFIG {
            continue;
        }
        if let Some(path) = name.strip_prefix(PREFIX) {
            let path = path.to_ascii_lowercase();
            let steps: Vec<&str> = path.split("__").collect();
            set(&mut root, &steps, &value).map_err(|error| anyhow!("{name}: {error}"))?;
        }
    }
    read_files(&mut root)?;
    let config: Config = serde_path_to_error::deserialize(root)
        .map_err(|error| anyhow!("{}: {}", error.path(), error.inner().message()))?;
    let problems = config.problems();
    ensure!(problems.is_empty(), problems.join("\n  "));
    Ok(config)
}

/// What is wrong with the text and where, without the line: it may hold a secret.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(1, |before| before.matches('\n').count() + 1);
    format!("line {line}: {}", error.message())
}

/// Sets a key from a variable: a number or a truth value where the text is one and the key is no text.
fn set(at: &mut Value, steps: &[&str], text: &str) -> Result<(), &'static str> {
    const TEXTS: [&str; 12] = [
        "api_key",
        "api_secret",
        "key",
        "node_wallet",
        "merchant_website",
        "from_usd",
        "min",
        "max",
        "markup_percent",
        "max_jump_percent",
        "max_spread_percent",
        "stable_floor",
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
fn read_files(at: &mut Value) -> anyhow::Result<()> {
    match at {
        Value::Array(elements) => elements.iter_mut().try_for_each(read_files),
        Value::Table(table) => {
            let names: Vec<String> = table.keys().cloned().collect();
            for name in names {
                if let Some(key) = name.strip_suffix("_file")
                    && let Some(Value::String(path)) = table.get(&name)
                {
                    ensure!(
                        !table.contains_key(key),
                        "{name}: {key} is set as well; keep one"
                    );
                    let text =
                        std::fs::read_to_string(path).with_context(|| format!("{name}: {path}"))?;
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
    /// Everything that is wrong, by key.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let secret = self.api_secret.expose_secret().chars().count();
        if secret < MIN_SECRET_CHARS {
            problems.push(format!(
                "api_secret: it has {secret} characters; draw {MIN_SECRET_CHARS} or more"
            ));
        }
        if self.api_key.trim().is_empty() {
            problems.push("api_key: it must not be empty".to_owned());
        }
        if !(1..=1440).contains(&self.invoice_minutes) {
            problems.push("invoice_minutes: it is 1 to 1440".to_owned());
        }
        let options = self.options();
        let symbols = options.coins.iter().map(|coin| coin.symbol.as_str());
        let rates = Rates::new(self.prices.clone(), symbols, self.local_currency);
        problems.extend(rates.err().map(|error| error.to_string()));
        if self.chain.is_empty() {
            let none = "chain: there is none: name a chain with its node and your public key";
            problems.push(none.to_owned());
        }
        let mut names = BTreeSet::new();
        for (index, chain) in self.chain.iter().enumerate() {
            let at = format!("chain[{index}] ({})", chain.name.as_str());
            if !names.insert(chain.name) {
                problems.push(format!("{at}: this chain is there twice"));
            }
            for (name, problem) in chain.problems(self.network) {
                problems.push(format!("{at}.{name}: {problem}"));
            }
        }
        problems
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

#[cfg(test)]
mod tests;
