//! What each asset costs now, and every price that was promised lately.

use std::collections::{HashMap, VecDeque};

use florin_money::{Amount, AmountError, AmountText, CryptoCode, Currency, Rounding};
use jiff::Timestamp;
use serde::Serialize;

use crate::coin::{Coin, Limits, offered};
use crate::conversion::{Conversion, Terms, whole};
use crate::seed::Seed;
use crate::settings::Settings;

/// Conversions that are remembered, lapsed ones included, so that a refusal can say "lapsed" instead of "unknown".
const CAPACITY: usize = 10_000;

/// The service's price list.
#[derive(Debug)]
pub(crate) struct Prices {
    seed: Seed,
    listed: Vec<Listed>,
    local_currency: Currency,
    local_per_usd: Amount,
    issued: u64,
    conversions: HashMap<String, Conversion>,
    /// The ids of the conversions, oldest first.
    oldest_first: VecDeque<String>,
    walk: Option<Walk>,
    /// Conversions up to this number lapsed when they were told to.
    lapsed: u64,
}

/// A coin with what one of it costs.
#[derive(Clone, Debug)]
struct Listed {
    coin: Coin,
    usd: Amount,
    local: Amount,
}

/// Prices that move by themselves.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Walk {
    /// Seconds from step to step.
    every_seconds: u32,
    /// How far a step goes at most, in hundredths of a per cent, up or down.
    basis_points: u32,
    #[serde(skip)]
    since: Timestamp,
    /// Steps since the walk began.
    #[serde(skip)]
    steps: u64,
}

/// Steps that are taken at once after a jump of time.
const MAX_STEPS: u64 = 1_000;

/// One entry of GET /prices.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) code: CryptoCode,
    pub(crate) conversion_id: String,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
    pub(crate) limits: Limits,
}

/// What a hosted checkout costs in one asset.
#[derive(Clone, Debug)]
pub(crate) struct Quote {
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    /// Whether the asset's limits allow it.
    pub(crate) fits: bool,
}

impl Listed {
    /// The amount in crypto is rounded up to what a customer is asked for, dollars up to a cent.
    fn quote(
        &self,
        local: &AmountText,
        per_usd: Amount,
        currency: Currency,
    ) -> Result<Quote, AmountError> {
        let price = self.usd.mul_div(per_usd, Amount::ONE, 8, Rounding::Down)?;
        let asked = Amount::from(local);
        let decimals = self.coin.quote_decimals;
        let crypto = asked.mul_div(Amount::ONE, price, decimals, Rounding::Up)?;
        let usd = asked.mul_div(Amount::ONE, per_usd, 2, Rounding::Up)?;
        let limits = self.coin.limits;
        let fits = limits.min.is_none_or(|min| crypto >= min)
            && limits.max.is_none_or(|max| crypto <= max);
        Ok(Quote {
            coin: self.coin.clone(),
            terms: Terms {
                crypto: crypto.with_min_decimals(2).to_text(),
                usd: usd.with_min_decimals(Currency::USD.decimals()).to_text(),
                local: asked.with_min_decimals(currency.decimals()).to_text(),
            },
            fits,
        })
    }
}

/// Why a `conversion_id` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotPromised {
    /// Never issued, or long ago.
    Unknown,
    /// Its time is over.
    Lapsed,
    /// Issued for this other asset.
    ForAnother(CryptoCode),
}

impl Prices {
    /// The table's prices, each moved by up to one per cent by the seed.
    ///
    /// # Errors
    /// When `local_per_usd` is so large that a price cannot be stated.
    pub(crate) fn new(settings: &Settings, seed: Seed) -> Result<Self, AmountError> {
        let mut prices = Self {
            seed,
            listed: Vec::new(),
            local_currency: settings.local_currency,
            local_per_usd: settings.local_per_usd,
            issued: 0,
            conversions: HashMap::new(),
            oldest_first: VecDeque::new(),
            walk: None,
            lapsed: 0,
        };
        for coin in offered(settings.unknown_asset) {
            let usd = if coin.stable {
                coin.usd
            } else {
                let factor = whole(9_900 + prices.seed.below(coin.code.as_str(), 0, 201));
                coin.usd.mul_div(factor, whole(10_000), 6, Rounding::Down)?
            };
            let local = prices.in_local(usd)?;
            prices.listed.push(Listed { coin, usd, local });
        }
        Ok(prices)
    }

    fn in_local(&self, usd: Amount) -> Result<Amount, AmountError> {
        usd.mul_div(self.local_per_usd, Amount::ONE, 8, Rounding::Down)
    }

    /// Promises today's prices: a fresh conversion for each asset.
    pub(crate) fn offer(&mut self, now: Timestamp) -> Vec<Offer> {
        let listed = self.listed.clone();
        listed
            .into_iter()
            .map(|listed| self.promise(listed, now))
            .collect()
    }

    fn promise(&mut self, listed: Listed, now: Timestamp) -> Offer {
        self.issued += 1;
        let conversion_id = format!("conv_{}", self.seed.id("conversion", self.issued));
        let conversion = Conversion {
            usd: listed.usd.with_min_decimals(Currency::USD.decimals()),
            local: listed
                .local
                .with_min_decimals(self.local_currency.decimals()),
            coin: listed.coin,
            local_currency: self.local_currency,
            issued_at: now,
            number: self.issued,
        };
        let offer = Offer {
            code: conversion.coin.code.clone(),
            conversion_id: conversion_id.clone(),
            usd: conversion.usd,
            local: conversion.local,
            limits: conversion.coin.limits,
        };
        if self.oldest_first.len() == CAPACITY {
            let oldest = self.oldest_first.pop_front();
            oldest.and_then(|id| self.conversions.remove(&id));
        }
        self.oldest_first.push_back(conversion_id.clone());
        self.conversions.insert(conversion_id, conversion);
        offer
    }

    /// The price that was promised under an id, for that asset.
    ///
    /// `Assumed:` a conversion holds for one asset, for a time, and for any number of invoices.
    pub(crate) fn promised(
        &self,
        conversion_id: &str,
        code: &CryptoCode,
        now: Timestamp,
        lifetime_seconds: u32,
    ) -> Result<&Conversion, NotPromised> {
        let conversion = self
            .conversions
            .get(conversion_id)
            .ok_or(NotPromised::Unknown)?;
        if conversion.coin.code != *code {
            return Err(NotPromised::ForAnother(conversion.coin.code.clone()));
        }
        if conversion.number <= self.lapsed || conversion.has_lapsed(now, lifetime_seconds) {
            return Err(NotPromised::Lapsed);
        }
        Ok(conversion)
    }

    /// Lets every promise lapse at once.
    pub(crate) fn lapse(&mut self) {
        self.lapsed = self.issued;
    }

    pub(crate) fn local_currency(&self) -> Currency {
        self.local_currency
    }

    /// From now on prices move by themselves; no seconds or no basis points stop them.
    pub(crate) fn walk_every(&mut self, every_seconds: u32, basis_points: u32, now: Timestamp) {
        let walk = Walk {
            every_seconds,
            basis_points,
            since: now,
            steps: 0,
        };
        self.walk = Some(walk).filter(|_| every_seconds > 0 && basis_points > 0);
    }

    pub(crate) fn walks(&self) -> Option<Walk> {
        self.walk
    }

    /// Takes the steps that are due. What holds still stays; what cannot be calculated with stays as well.
    pub(crate) fn walk(&mut self, now: Timestamp) {
        let Some(walk) = self.walk else {
            return;
        };
        let passed = now.duration_since(walk.since).as_secs().max(0);
        let due =
            u64::try_from(passed).expect("it is no less than 0") / u64::from(walk.every_seconds);
        let first = walk.steps.max(due.saturating_sub(MAX_STEPS));
        for step in first..due {
            self.step(step, walk.basis_points);
        }
        self.walk = Some(Walk {
            steps: walk.steps.max(due),
            ..walk
        });
    }

    fn step(&mut self, step: u64, basis_points: u32) {
        let whole_way = whole(10_000);
        for place in 0..self.listed.len() {
            let Listed { coin, usd, .. } = &self.listed[place];
            if coin.stable {
                continue;
            }
            let drawn = self
                .seed
                .below(&format!("walk {}", coin.code), step, 2 * basis_points + 1);
            let factor = whole(10_000 - basis_points + drawn);
            let moved = usd.mul_div(factor, whole_way, 6, Rounding::Down);
            let moved = moved.and_then(|usd| Ok((usd, self.in_local(usd)?)));
            if let Ok((usd, local)) = moved
                && !usd.is_zero()
            {
                (self.listed[place].usd, self.listed[place].local) = (usd, local);
            }
        }
    }

    /// Sets an asset's limits from the next promise on.
    pub(crate) fn limit(&mut self, code: &CryptoCode, change: impl FnOnce(&mut Limits)) {
        let mut listed = self.listed.iter_mut();
        if let Some(listed) = listed.find(|listed| listed.coin.code == *code) {
            change(&mut listed.coin.limits);
        }
    }

    /// What an amount in a currency costs in each asset now, without a promise.
    pub(crate) fn quotes(
        &self,
        local: &AmountText,
        per_usd: Amount,
        currency: Currency,
    ) -> Vec<Quote> {
        let listed = self.listed.iter();
        listed
            .filter_map(|listed| listed.quote(local, per_usd, currency).ok())
            .collect()
    }

    pub(crate) fn offers(&self, code: &CryptoCode) -> bool {
        self.listed.iter().any(|listed| listed.coin.code == *code)
    }

    /// Everything on offer with what one of it costs in dollars.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&Coin, Amount)> {
        self.listed.iter().map(|listed| (&listed.coin, listed.usd))
    }

    /// Everything on offer.
    pub(crate) fn coins(&self) -> impl Iterator<Item = &Coin> {
        self.listed.iter().map(|listed| &listed.coin)
    }

    /// Every code on offer, for people: `USDTTRC20, BTC, …`.
    pub(crate) fn codes(&self) -> String {
        let codes = self.listed.iter().map(|listed| listed.coin.code.as_str());
        let codes: Vec<&str> = codes.collect();
        codes.join(", ")
    }

    /// Sets what one unit costs from the next promise on; `None` when the asset is not on offer.
    pub(crate) fn set(
        &mut self,
        code: &CryptoCode,
        usd: Amount,
    ) -> Option<Result<(), AmountError>> {
        let local = self.in_local(usd);
        let listed = self
            .listed
            .iter_mut()
            .find(|listed| listed.coin.code == *code)?;
        Some(local.map(|local| (listed.usd, listed.local) = (usd, local)))
    }
}

#[cfg(test)]
mod tests;
