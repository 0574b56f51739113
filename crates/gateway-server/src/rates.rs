//! Prices: the median of several sources, or the reason why an asset is not offered.
//!
//! A price is offered while enough sources agree on it. A source that is down or far from the others is set aside as
//! long as more than half of the fresh ones stay. The last accepted price is kept in memory: the first price after a
//! start needs no second round.

mod answer;
mod options;
mod worker;

use std::collections::{BTreeMap, BTreeSet};

use florin_money::{Amount, Asset, CryptoCode, Currency, Rounding};
use jiff::Timestamp;
use parking_lot::Mutex;
use thiserror::Error;

use crate::prices::whole;

pub use self::options::{AnswerTime, BelowFloor, Pair, RatesError, RatesOptions, Source};
pub use self::worker::{ask, http_client, poll};

/// Why an asset is not offered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[cfg_attr(
    test,
    derive(strum::IntoStaticStr),
    strum(serialize_all = "snake_case")
)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum NotOffered {
    /// Too few sources have a fresh price.
    #[error("too few sources have a fresh price: {fresh} of at least {minimum}")]
    TooFew { fresh: usize, minimum: usize },
    /// No majority of the sources agrees.
    #[error("the sources are too far apart: {lowest} to {highest}")]
    TooFarApart { lowest: Amount, highest: Amount },
    /// The price is far from the last accepted one, and no second round has confirmed it.
    #[error("the price jumped from {from} to {to} and is not confirmed")]
    Jumped { from: Amount, to: Amount },
    /// A stable coin is not worth its dollar.
    #[error("the stable coin is at {price}, below its floor")]
    BelowFloor { price: Amount },
}

/// What is known about prices. The worker records, everything else reads.
#[derive(Debug)]
pub struct Rates {
    options: RatesOptions,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    round: u64,
    pairs: BTreeMap<Pair, Known>,
}

/// What is known about a pair.
#[derive(Debug, Default)]
struct Known {
    /// The newest price of each source, by name.
    prices: BTreeMap<String, Observation>,
    accepted: Option<Amount>,
    /// The price of the last round if it was too far from the accepted one.
    jumped: Option<Amount>,
}

#[derive(Clone, Copy, Debug)]
struct Observation {
    price: Amount,
    at: Timestamp,
    round: u64,
    /// Seconds for which it counts.
    life: u32,
}

impl Rates {
    /// Prices of these assets, by symbol, and of a local currency.
    ///
    /// # Errors
    /// The options cannot be used, or a pair has too few sources in them.
    pub fn new<'a>(
        options: RatesOptions,
        symbols: impl IntoIterator<Item = &'a str>,
        local: Currency,
    ) -> Result<Self, RatesError> {
        options.validate()?;
        let local = (local != Currency::USD).then_some(Pair::Local(local));
        let assets = symbols.into_iter().map(Pair::asset);
        let mut pairs: BTreeSet<_> = assets.chain(local).collect();
        let sources = pairs.iter().flat_map(|pair| options.sources_of(pair));
        let quotes = sources.filter_map(|source| source.quoted_in.as_deref());
        let quotes: Vec<_> = quotes.map(Pair::asset).collect();
        pairs.extend(quotes);
        for pair in &pairs {
            let (count, minimum) = (options.sources_of(pair).count(), options.minimum_sources);
            if count < minimum {
                let problem = format!("{pair} has {count} sources and needs {minimum}: add one");
                return Err(RatesError::new("sources", problem));
            }
        }
        let pairs = pairs.into_iter().map(|pair| (pair, Known::default()));
        let pairs = pairs.collect();
        let state = Mutex::new(State { round: 0, pairs });
        Ok(Self { options, state })
    }

    /// The configuration.
    pub fn options(&self) -> &RatesOptions {
        &self.options
    }

    /// Takes note of a source's price, in what the source quotes in.
    ///
    /// # Errors
    /// The reason why the price cannot be used.
    pub fn record(
        &self,
        source: &Source,
        pair: &Pair,
        price: Amount,
        at: Timestamp,
    ) -> Result<(), String> {
        let mut state = self.state.lock();
        let mut quote = Amount::ONE;
        if let (Some(coin), Pair::Asset(_)) = (&source.quoted_in, pair) {
            let known = state.pairs.get(&Pair::asset(coin));
            let worth = known.and_then(|known| self.offer(known, at).ok());
            quote = worth.ok_or_else(|| format!("{coin}, in which it quotes, has no price"))?;
        }
        let price = price.mul_div(quote, Amount::ONE, answer::DECIMALS, Rounding::Down);
        let price = price.map_err(|error| error.to_string())?;
        if price.is_zero() {
            return Err("its price is zero".to_owned());
        }
        let round = state.round;
        let every = source.every_seconds.unwrap_or(0);
        let life = self.options.fresh_seconds.max(every.saturating_mul(3));
        if let Some(known) = state.pairs.get_mut(pair) {
            let seen = Observation {
                price,
                at,
                round,
                life,
            };
            known.prices.insert(source.name.clone(), seen);
        }
        Ok(())
    }

    /// Ends a round of requests: accepts prices, and confirms those that jumped in the round before.
    pub fn end_round(&self, now: Timestamp) {
        let State { round, pairs } = &mut *self.state.lock();
        for known in pairs.values_mut() {
            let Ok(price) = self.median(known, now, 0) else {
                continue;
            };
            if !self.far(known.accepted.unwrap_or(price), price) {
                (known.accepted, known.jumped) = (Some(price), None);
                continue;
            }
            // Only prices of this round confirm: an older one only repeats itself.
            let again = self.median(known, now, *round).ok();
            match known.jumped.zip(again) {
                Some((jumped, again)) if !self.far(jumped, again) => {
                    (known.accepted, known.jumped) = (Some(again), None);
                }
                _ => known.jumped = Some(price),
            }
        }
        *round += 1;
    }

    /// The price at which a pair is offered.
    ///
    /// # Errors
    /// The reason why it is not.
    pub fn accepted(&self, pair: &Pair, now: Timestamp) -> Result<Amount, NotOffered> {
        let state = self.state.lock();
        let known = state.pairs.get(pair);
        self.verdict(pair, known.unwrap_or(&Known::default()), now)
    }

    /// [`Self::accepted`] of every pair, for the log and `/health`.
    pub fn verdicts(&self, now: Timestamp) -> Vec<(Pair, Result<Amount, NotOffered>)> {
        let state = self.state.lock();
        let verdict =
            |(pair, known): (&Pair, &Known)| (pair.clone(), self.verdict(pair, known, now));
        state.pairs.iter().map(verdict).collect()
    }

    /// What one unit of an asset costs in US dollars; `None` if it is not offered. The symbol of an asset that the
    /// specification does not list is its code.
    pub fn usd_price(&self, code: &CryptoCode, now: Timestamp) -> Option<Amount> {
        let symbol = Asset::of(code).map_or(code.as_str(), |asset| asset.symbol());
        self.accepted(&Pair::asset(symbol), now).ok()
    }

    /// What one US dollar costs in a currency; `None` if the sources do not agree.
    pub fn local_per_usd(&self, currency: Currency, now: Timestamp) -> Option<Amount> {
        if currency == Currency::USD {
            return Some(Amount::ONE);
        }
        self.accepted(&Pair::Local(currency), now).ok()
    }

    fn verdict(&self, pair: &Pair, known: &Known, now: Timestamp) -> Result<Amount, NotOffered> {
        let price = self.offer(known, now)?;
        let options = &self.options;
        let stable = matches!(pair, Pair::Asset(symbol) if options.stable_coins.contains(symbol));
        let refused = stable && options.below_floor == BelowFloor::Refuse;
        if refused && price < options.stable_floor {
            return Err(NotOffered::BelowFloor { price });
        }
        Ok(price)
    }

    /// The median, unless it jumped.
    fn offer(&self, known: &Known, now: Timestamp) -> Result<Amount, NotOffered> {
        let to = self.median(known, now, 0)?;
        match known.accepted {
            Some(from) if self.far(from, to) => Err(NotOffered::Jumped { from, to }),
            _ => Ok(to),
        }
    }

    /// The median of the fresh prices, recorded in this round or later, on which a majority agrees.
    fn median(&self, known: &Known, now: Timestamp, round: u64) -> Result<Amount, NotOffered> {
        // A clock that was set back leaves prices of the future: they are not fresher than others.
        let fresh = |seen: &&Observation| {
            let age = now.duration_since(seen.at).abs().as_millis();
            seen.round >= round && age < i128::from(seen.life) * 1000
        };
        let prices = known.prices.values().filter(fresh);
        let mut prices: Vec<_> = prices.map(|seen| seen.price).collect();
        prices.sort_unstable();
        let (fresh, minimum) = (prices.len(), self.options.minimum_sources);
        if fresh < minimum {
            return Err(NotOffered::TooFew { fresh, minimum });
        }
        loop {
            let (lowest, highest) = (prices[0], prices[prices.len() - 1]);
            let median = middle(&prices);
            let spread = distance(lowest, highest);
            if !beyond(spread, median, self.options.max_spread_percent) {
                return Ok(median);
            }
            // The farthest price is set aside as long as those that stay are enough and more than half.
            let staying = prices.len() - 1;
            if staying < minimum || staying * 2 <= fresh {
                return Err(NotOffered::TooFarApart { lowest, highest });
            }
            let low = distance(lowest, median) > distance(median, highest);
            prices.remove(if low { 0 } else { staying });
        }
    }

    /// Returns `true` if a price is farther from another than needs no confirmation.
    fn far(&self, from: Amount, to: Amount) -> bool {
        beyond(distance(from, to), from, self.options.max_jump_percent)
    }
}

/// The median of sorted prices, of which there is at least one.
fn middle(prices: &[Amount]) -> Amount {
    let high = prices[prices.len() / 2];
    let low = prices[(prices.len() - 1) / 2];
    let half = distance(low, high).mul_div(Amount::ONE, whole(2), 18, Rounding::Down);
    half.and_then(|half| low.checked_add(half)).unwrap_or(low)
}

fn distance(a: Amount, b: Amount) -> Amount {
    let distance = a.max(b).checked_sub(a.min(b));
    distance.expect("the smaller is subtracted")
}

/// Returns `true` if a distance is more than that many per cent. A limit that cannot be calculated is exceeded.
fn beyond(distance: Amount, of: Amount, percent: Amount) -> bool {
    let limit = of.mul_div(percent, whole(100), 18, Rounding::Down);
    limit.map_or(true, |limit| distance > limit)
}

#[cfg(test)]
mod tests;
