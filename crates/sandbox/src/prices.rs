//! What each asset costs now, and every price that was promised lately.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;
use money::{Amount, AmountError, AmountText, CryptoCode, Currency, Rounding};

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
        let price = self
            .usd
            .times_ratio(per_usd, Amount::ONE, 8, Rounding::Down)?;
        let asked = Amount::from(local);
        let decimals = self.coin.quote_decimals;
        let crypto = asked.times_ratio(Amount::ONE, price, decimals, Rounding::Up)?;
        let usd = asked.times_ratio(Amount::ONE, per_usd, 2, Rounding::Up)?;
        let limits = self.coin.limits;
        let fits = limits.min.is_none_or(|min| crypto >= min)
            && limits.max.is_none_or(|max| crypto <= max);
        Ok(Quote {
            coin: self.coin.clone(),
            terms: Terms {
                crypto: crypto.padded(2).to_text(),
                usd: usd.padded(Currency::USD.decimals()).to_text(),
                local: asked.padded(currency.decimals()).to_text(),
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
            lapsed: 0,
        };
        for coin in offered(settings.unknown_asset) {
            let usd = if coin.stable {
                coin.usd
            } else {
                let factor = whole(9_900 + prices.seed.below(coin.code.as_str(), 0, 201));
                coin.usd
                    .times_ratio(factor, whole(10_000), 6, Rounding::Down)?
            };
            let local = prices.in_local(usd)?;
            prices.listed.push(Listed { coin, usd, local });
        }
        Ok(prices)
    }

    fn in_local(&self, usd: Amount) -> Result<Amount, AmountError> {
        usd.times_ratio(self.local_per_usd, Amount::ONE, 8, Rounding::Down)
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
            usd: listed.usd.padded(Currency::USD.decimals()),
            local: listed.local.padded(self.local_currency.decimals()),
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
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn code(text: &str) -> CryptoCode {
        CryptoCode::parse(text).unwrap()
    }

    fn prices(seed: u64) -> Prices {
        let settings = Settings {
            seed,
            ..Settings::default()
        };
        Prices::new(&settings, Seed::new(seed)).unwrap()
    }

    fn offer(prices: &mut Prices, text: &str) -> Offer {
        let offers = prices.offer(at(1_000));
        offers
            .into_iter()
            .find(|offer| offer.code == code(text))
            .unwrap()
    }

    #[test]
    fn the_seed_makes_the_prices() {
        let usd = |seed| offer(&mut prices(seed), "BTC").usd;
        assert_eq!(usd(1), usd(1));
        assert_ne!(usd(1), usd(2));
    }

    #[test]
    fn a_conversion_holds_for_its_asset_and_its_time() {
        let mut prices = prices(1);
        let id = offer(&mut prices, "BTC").conversion_id;
        let held = |text, second| {
            let held = prices.promised(&id, &code(text), at(second), 120);
            held.map(|_| ())
        };
        assert_eq!(held("BTC", 1_119), Ok(()));
        assert_eq!(
            held("ETH", 1_000),
            Err(NotPromised::ForAnother(code("BTC")))
        );
        assert_eq!(held("BTC", 1_120), Err(NotPromised::Lapsed));
    }

    #[test]
    fn an_id_never_issued_is_unknown() {
        let unknown = prices(1)
            .promised("conv_1", &code("BTC"), at(1_000), 120)
            .map(|_| ());
        assert_eq!(unknown, Err(NotPromised::Unknown));
    }

    #[test]
    fn the_oldest_conversions_are_forgotten_when_there_are_too_many() {
        let mut prices = prices(1);
        let first = offer(&mut prices, "BTC").conversion_id;
        let known = |prices: &Prices| {
            prices
                .promised(&first, &code("BTC"), at(1_000), 120)
                .is_ok()
        };
        for _ in 0..1_000 {
            prices.offer(at(1_000));
        }
        assert!(known(&prices));
        for _ in 0..200 {
            prices.offer(at(1_000));
        }
        assert!(!known(&prices));
        assert_eq!(
            (prices.conversions.len(), prices.oldest_first.len()),
            (CAPACITY, CAPACITY)
        );
    }

    #[test]
    fn promises_can_be_told_to_lapse_at_once() {
        let mut prices = prices(1);
        let before = offer(&mut prices, "BTC").conversion_id;
        prices.lapse();
        let after = offer(&mut prices, "BTC").conversion_id;
        let held = |id: &str| {
            prices
                .promised(id, &code("BTC"), at(1_000), 120)
                .map(|_| ())
        };
        assert_eq!(held(&before), Err(NotPromised::Lapsed));
        assert_eq!(held(&after), Ok(()));
    }

    #[test]
    fn a_moved_price_holds_for_new_promises_alone() {
        let mut prices = prices(1);
        let before = offer(&mut prices, "BTC");
        let moved = prices.set(&code("BTC"), Amount::parse("70000").unwrap());
        assert_eq!(moved, Some(Ok(())));
        let promised = prices.promised(&before.conversion_id, &code("BTC"), at(1_000), 120);
        assert_eq!(promised.unwrap().usd, before.usd);
        assert_eq!(offer(&mut prices, "BTC").usd.to_string(), "70000.00");
        assert_eq!(prices.set(&code("XMR"), Amount::ONE), None);
    }

    #[test]
    fn the_local_price_follows_the_local_rate() {
        let settings = Settings {
            local_currency: Currency::parse("JPY").unwrap(),
            local_per_usd: whole(150),
            ..Settings::default()
        };
        let mut prices = Prices::new(&settings, Seed::new(1)).unwrap();
        let tether = offer(&mut prices, "USDTTRC20");
        assert_eq!(tether.usd.to_string(), "1.00");
        assert_eq!(tether.local.to_string(), "150");
    }
}
