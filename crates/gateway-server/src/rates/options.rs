//! Configuration of prices, and the table of their sources.

use core::fmt;
use core::ops::RangeInclusive;
use std::collections::{BTreeMap, BTreeSet};

use florin_money::{Amount, Currency};
use reqwest::Url;
use serde::Deserialize;
use thiserror::Error;

use crate::prices::whole;

/// When a price is good enough to sell at. Amounts and percentages are text: `"0.98"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatesOptions {
    /// Seconds between two rounds of requests to the sources, 5 to 600; 20 by default.
    pub interval_seconds: u32,
    /// A price counts for less than this many seconds; more than the interval, at most 3600; 60 by default.
    pub fresh_seconds: u32,
    /// Longest wait for one answer in seconds, 1 to the interval; 5 by default.
    pub timeout_seconds: u32,
    /// How many sources must agree on a price, 1 to 100; 2 by default.
    pub minimum_sources: usize,
    /// Largest distance between the lowest and the highest price, in per cent of the median, 0 to 100;
    /// `"2"` by default.
    pub max_spread_percent: Amount,
    /// Largest change since the last accepted price that needs no second round, in per cent, 0 to 100;
    /// `"10"` by default.
    pub max_jump_percent: Amount,
    /// Symbols of the assets that must be worth a dollar; `USDT` by default.
    pub stable_coins: Vec<String>,
    /// The price in US dollars below which [`Self::below_floor`] decides, at most 1; `"0.98"` by default.
    pub stable_floor: Amount,
    /// What becomes of a stable coin below its floor; refused by default.
    pub below_floor: BelowFloor,
    /// What a customer pays more than the price, in the merchant's favour, in per cent, at most 20; `"0"` by default.
    pub markup_percent: Amount,
    /// Life of a quote in seconds, 60 to 86400; 900 by default. The merchant bears what the price does meanwhile.
    pub quote_seconds: u32,
    /// The sources, in place of the default ones.
    pub sources: Vec<Source>,
}

/// What becomes of a stable coin below its floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BelowFloor {
    /// It is not offered.
    Refuse,
    /// It is offered at its price.
    Offer,
}

/// A source of prices.
///
/// Paths are JSON pointers with one addition: `field=value` names the element of an array whose field has this text.
/// `{symbol}` in a path and an address is the pair as the source writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Names it in logs; unique.
    pub name: String,
    /// An `https` URL, or `http` on this machine. With `{symbol}` one request per pair is sent, with `{symbols}` one
    /// with the names of all needed pairs, without both one for all.
    pub address: String,
    /// Between the names of `{symbols}`; a comma by default.
    #[serde(default = "comma")]
    pub separator: String,
    /// Where the price is in the answer.
    pub path: String,
    /// Where the answer says how old it is; absent if it does not.
    pub time: Option<AnswerTime>,
    /// Seconds between two requests if longer than the interval. Prices count for three times as long.
    pub every_seconds: Option<u32>,
    /// The stable coin in which [`Self::assets`] are priced; US dollars by default.
    pub quoted_in: Option<String>,
    /// By symbol of an asset: the pair that says what one unit of it costs.
    #[serde(default)]
    pub assets: BTreeMap<String, String>,
    /// By code of a currency: the pair that says what one US dollar costs in it.
    #[serde(default)]
    pub local_per_usd: BTreeMap<Currency, String>,
    /// By code of a currency: the pair that says what one unit of it costs in US dollars.
    #[serde(default)]
    pub usd_per_local: BTreeMap<Currency, String>,
}

/// The time that an answer states: RFC 3339, a date, or seconds since 1970.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerTime {
    /// Where it is in the answer.
    pub path: String,
    /// An older answer is refused.
    pub max_age_seconds: u32,
}

/// What a price is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pair {
    /// What one unit of the asset with this symbol costs in US dollars.
    Asset(String),
    /// What one US dollar costs in this currency.
    Local(Currency),
}

/// A configuration of prices that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("prices.{key}: {problem}")]
pub struct RatesError {
    /// The key in question.
    pub key: String,
    /// What is wrong, and what to write.
    pub problem: String,
}

impl Pair {
    pub(super) fn asset(symbol: &str) -> Self {
        Self::Asset(symbol.to_owned())
    }
}

impl RatesError {
    pub(super) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        let (key, problem) = (key.into(), problem.into());
        Self { key, problem }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asset(symbol) => f.write_str(symbol),
            Self::Local(currency) => currency.fmt(f),
        }
    }
}

fn comma() -> String {
    ",".to_owned()
}

impl Default for RatesOptions {
    fn default() -> Self {
        #[derive(Deserialize)]
        struct Table {
            sources: Vec<Source>,
        }
        let table: Table = toml::from_str(include_str!("sources.toml")).expect("a test reads it");
        let amount = |text| Amount::parse(text).expect("written by its grammar");
        Self {
            interval_seconds: 20,
            fresh_seconds: 60,
            timeout_seconds: 5,
            minimum_sources: 2,
            max_spread_percent: amount("2"),
            max_jump_percent: amount("10"),
            stable_coins: vec!["USDT".to_owned()],
            stable_floor: amount("0.98"),
            below_floor: BelowFloor::Refuse,
            markup_percent: Amount::ZERO,
            quote_seconds: 900,
            sources: table.sources,
        }
    }
}

impl RatesOptions {
    /// Checks what serde cannot.
    ///
    /// # Errors
    /// The first key that cannot be used.
    pub fn validate(&self) -> Result<(), RatesError> {
        let interval = self.interval_seconds;
        within("interval_seconds", &interval, 5..=600)?;
        within("fresh_seconds", &self.fresh_seconds, interval + 1..=3600)?;
        within("timeout_seconds", &self.timeout_seconds, 1..=interval)?;
        within("minimum_sources", &self.minimum_sources, 1..=100)?;
        let to = |most| Amount::ZERO..=whole(most);
        within("max_spread_percent", &self.max_spread_percent, to(100))?;
        within("max_jump_percent", &self.max_jump_percent, to(100))?;
        within("stable_floor", &self.stable_floor, to(1))?;
        within("markup_percent", &self.markup_percent, to(20))?;
        within("quote_seconds", &self.quote_seconds, 60..=86400)?;
        let mut names = BTreeSet::new();
        for source in &self.sources {
            source.require(names.insert(&source.name), "name", "write each name once")?;
            source.validate(interval)?;
        }
        Ok(())
    }

    pub(super) fn sources_of(&self, pair: &Pair) -> impl Iterator<Item = &Source> {
        self.sources
            .iter()
            .filter(|source| source.symbol(pair).is_some())
    }
}

fn within<T: PartialOrd + fmt::Display>(
    key: &str,
    value: &T,
    range: RangeInclusive<T>,
) -> Result<(), RatesError> {
    if range.contains(value) {
        return Ok(());
    }
    let problem = format!("write {} to {}", range.start(), range.end());
    Err(RatesError::new(key, problem))
}

impl Source {
    fn require(&self, holds: bool, key: &str, problem: &str) -> Result<(), RatesError> {
        let key = format!("sources.{}.{key}", self.name);
        let error = RatesError::new(key, problem);
        if holds { Ok(()) } else { Err(error) }
    }

    fn validate(&self, interval: u32) -> Result<(), RatesError> {
        let url = Url::parse(&self.filled("x"));
        let safe = url.is_ok_and(|url| url.scheme() == "https" || on_this_machine(&url));
        self.require(safe, "address", "write an https URL")?;
        let time = self.time.as_ref().map(|time| &time.path);
        let pointer = self.path.starts_with('/') && time.is_none_or(|path| path.starts_with('/'));
        self.require(
            pointer,
            "path",
            "write a JSON pointer, like /result/{symbol}",
        )?;
        let slower = self.every_seconds.is_none_or(|every| every >= interval);
        self.require(slower, "every_seconds", "write at least interval_seconds")?;
        let local = self
            .local_per_usd
            .values()
            .chain(self.usd_per_local.values());
        let mut symbols = self
            .assets
            .values()
            .chain(local)
            .flat_map(|symbol| symbol.chars());
        let plain = symbols.all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c));
        self.require(plain, "assets", "write symbols of A-Z a-z 0-9 - _ :")
    }

    /// The pair as this source writes it, and whether its price is to be inverted.
    pub(super) fn symbol(&self, pair: &Pair) -> Option<(&str, bool)> {
        let (symbol, inverse) = match pair {
            Pair::Asset(symbol) => (self.assets.get(symbol), false),
            Pair::Local(currency) => match self.local_per_usd.get(currency) {
                None => (self.usd_per_local.get(currency), true),
                direct => (direct, false),
            },
        };
        symbol.map(|symbol| (symbol.as_str(), inverse))
    }

    /// The address with these symbols.
    pub(super) fn filled(&self, symbols: &str) -> String {
        let address = self.address.replace("{symbols}", symbols);
        address.replace("{symbol}", symbols)
    }
}

fn on_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "http" && ["127.0.0.1", "[::1]", "localhost"].contains(&host)
}
