//! The assets that the sandbox offers, and what they cost.

use std::collections::BTreeMap;

use florin_gateway::chain::{Chain, Network};
use florin_gateway::coin::{Coin, Limits};
use florin_gateway::prices::{PriceSource, whole};
use florin_money::{Amount, AmountError, Asset, CryptoCode, Currency, Rounding};
use parking_lot::Mutex;

use crate::Settings;
use crate::settings::Seed;

/// Asset, dollars for one before the seed moves them, and the limits of one payment; an empty limit is none. In the
/// specification's order.
const OFFERED: [(Asset, &str, &str, &str); 9] = [
    (Asset::USDTTRC20, "1", "1", "50000"),
    (Asset::USDTERC20, "1", "5", "50000"),
    (Asset::BTC, "64250", "0.0001", "2"),
    (Asset::ETH, "3120", "0.001", "50"),
    (Asset::TRX, "0.13", "5", ""),
    (Asset::LTC, "84.2", "0.01", "500"),
    (Asset::DOGE, "0.16", "50", "250000"),
    (Asset::BCH, "412", "0.01", "100"),
    (Asset::BNB, "590", "", "8"),
];

/// Every asset on offer. `unknown_asset` adds one that the specification does not list.
pub(crate) fn offered(unknown_asset: bool) -> Vec<Coin> {
    let limit = |text: &str| (!text.is_empty()).then(|| amount(text));
    let coin = |(asset, _, min, max): (Asset, &str, &str, &str)| Coin {
        limits: Limits {
            min: limit(min),
            max: limit(max),
        },
        ..Coin::listed(asset, Network::Test)
    };
    let mut coins: Vec<Coin> = OFFERED.into_iter().map(coin).collect();
    if unknown_asset {
        coins.push(Coin {
            code: CryptoCode::parse("USDTSOL").expect("seven letters are a code"),
            network: "Solana".to_owned(),
            chain: Chain::Solana,
            contract: None,
            limits: Limits {
                min: limit("1"),
                max: None,
            },
            ..coins[0].clone()
        });
    }
    coins
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).expect("the table holds amounts")
}

/// Units for one US dollar, rounded from the rates of late 2026. They never move.
const RATES: [(&str, &str); 9] = [
    ("USD", "1"),
    ("EUR", "0.92"),
    ("GBP", "0.79"),
    ("CHF", "0.88"),
    ("JPY", "150"),
    ("CAD", "1.36"),
    ("AUD", "1.52"),
    ("INR", "83.4"),
    ("BRL", "5.4"),
];

/// Prices that move only when the developer sets them.
#[derive(Debug)]
pub(crate) struct FixedPrices {
    local_currency: (Currency, Amount),
    /// Dollars for one.
    usd: Mutex<BTreeMap<String, Amount>>,
}

impl FixedPrices {
    /// The table's prices, each moved by up to one per cent by the seed.
    pub(crate) fn new(settings: &Settings, seed: Seed) -> Self {
        let price = |coin: &Coin| {
            let code = coin.code.as_str();
            if coin.symbol == "USDT" {
                return Amount::ONE;
            }
            let row = OFFERED.iter().find(|row| row.0.crypto_code() == coin.code);
            let table = row.map_or(Amount::ONE, |row| amount(row.1));
            let factor = whole(9_900 + seed.below(code, 0, 201));
            let moved = table.mul_div(factor, whole(10_000), 6, Rounding::Down);
            moved.expect("the table's prices are small")
        };
        let offered = offered(settings.unknown_asset);
        let usd = offered
            .iter()
            .map(|coin| (coin.code.to_string(), price(coin)));
        Self {
            local_currency: settings.local_currency,
            usd: Mutex::new(usd.collect()),
        }
    }

    /// Sets the price of one unit, from the next conversion on.
    ///
    /// # Errors
    /// The price has no exact value in the local currency.
    pub(crate) fn set(&self, code: &str, usd: Amount) -> Result<(), AmountError> {
        usd.mul_div(self.local_currency.1, Amount::ONE, 8, Rounding::Down)?;
        self.usd.lock().insert(code.to_owned(), usd);
        Ok(())
    }
}

impl PriceSource for FixedPrices {
    fn usd_price(&self, code: &CryptoCode) -> Option<Amount> {
        self.usd.lock().get(code.as_str()).copied()
    }

    /// The account's own rate for its currency, else the table's.
    fn per_usd(&self, currency: Currency) -> Option<Amount> {
        let (local, per_usd) = self.local_currency;
        if currency == local {
            return Some(per_usd);
        }
        let listed = RATES.iter().find(|(code, _)| *code == currency.as_str());
        listed.map(|(_, rate)| amount(rate))
    }
}
