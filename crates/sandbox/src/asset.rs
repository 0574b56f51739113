//! Assets on their chains: prices and limits to begin with, and what a customer reads before paying.

use florin_money::{Amount, Asset, CryptoCode, Currency};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Settings;

/// Confirmations of every transaction that complete an invoice. Source: payment-service.md, "Limits".
pub(crate) const REQUIRED_CONFIRMATIONS: u32 = 3;

/// Minutes until an invoice expires. `Assumed:` the specification gives no number.
pub(crate) const INVOICE_MINUTES: i64 = 15;

/// A chain, as its test network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chain {
    Bitcoin,
    Litecoin,
    Dogecoin,
    BitcoinCash,
    Ethereum,
    Bnb,
    Tron,
    Solana,
}

#[derive(Clone, Debug)]
pub(crate) struct Coin {
    pub(crate) code: CryptoCode,
    pub(crate) symbol: &'static str,
    pub(crate) name: &'static str,
    pub(crate) network: &'static str,
    pub(crate) chain: Chain,
    pub(crate) decimals: u32,
    /// Decimals of an amount that a customer is asked for.
    pub(crate) quote_decimals: u32,
    /// The contract on the test network, when the asset is a token and its URI names it.
    pub(crate) contract: Option<&'static str>,
    /// US dollars for one, before the seed moves it.
    pub(crate) usd: Amount,
    pub(crate) limits: Limits,
}

/// Limits of one payment, in the asset's own unit; `None` where the gateway sends an empty string.
///
/// `Assumed:` limits are in the asset, not in dollars, since each asset has its own. Disproved by the first limits of
/// the test environment: a minimum of 5 for BTC would mean dollars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) min: Option<Amount>,
    pub(crate) max: Option<Amount>,
}

impl Limits {
    pub(crate) fn contain(self, amount: Amount) -> bool {
        self.min.is_none_or(|min| amount >= min) && self.max.is_none_or(|max| amount <= max)
    }
}

/// Test Tether on Sepolia. Source: aave-address-book, `AaveV3Sepolia.sol`, `USDT_UNDERLYING`.
pub(crate) const USDT_ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

/// Test Tether on Nile, Tron's test network. Source: docs.turnkey.com, "Policy examples, Tron"; nileex.io.
const USDT_ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// Every asset on offer, in the specification's order.
///
/// Everyday prices reach each way out of range: two dollars are too little in BTC, ETH, BCH, DOGE and USDT on Ethereum,
/// five thousand too much in BNB; TRX has no maximum, BNB no minimum.
pub(crate) fn offered(unknown_asset: bool) -> Vec<Coin> {
    let mut coins = vec![
        coin(Asset::USDTTRC20, Chain::Tron, "1", "1", "50000"),
        coin(Asset::USDTERC20, Chain::Ethereum, "1", "5", "50000"),
        coin(Asset::BTC, Chain::Bitcoin, "64250", "0.0001", "2"),
        coin(Asset::ETH, Chain::Ethereum, "3120", "0.001", "50"),
        coin(Asset::TRX, Chain::Tron, "0.13", "5", ""),
        coin(Asset::LTC, Chain::Litecoin, "84.2", "0.01", "500"),
        coin(Asset::DOGE, Chain::Dogecoin, "0.16", "50", "250000"),
        coin(Asset::BCH, Chain::BitcoinCash, "412", "0.01", "100"),
        coin(Asset::BNB, Chain::Bnb, "590", "", "8"),
    ];
    if unknown_asset {
        coins.push(Coin {
            code: CryptoCode::parse("USDTSOL").expect("seven letters are a code"),
            network: "Solana",
            contract: None,
            ..coin(Asset::USDTTRC20, Chain::Solana, "1", "1", "")
        });
    }
    coins
}

fn coin(asset: Asset, chain: Chain, usd: &str, min: &str, max: &str) -> Coin {
    let amount = |text: &str| Amount::parse(text).expect("the table holds amounts");
    let limit = |text: &str| (!text.is_empty()).then(|| amount(text));
    Coin {
        code: asset.crypto_code(),
        symbol: asset.symbol(),
        name: asset.name(),
        network: asset.network(),
        chain,
        decimals: asset.decimals(),
        quote_decimals: asset.quote_decimals(),
        contract: match asset {
            Asset::USDTERC20 => Some(USDT_ON_SEPOLIA),
            Asset::USDTTRC20 => Some(USDT_ON_NILE),
            _ => None,
        },
        usd: amount(usd),
        limits: Limits {
            min: limit(min),
            max: limit(max),
        },
    }
}

/// As its code: the rest is a constant.
impl Serialize for Coin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.code.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Coin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = CryptoCode::deserialize(deserializer)?;
        let found = offered(true).into_iter().find(|coin| coin.code == code);
        found.ok_or_else(|| serde::de::Error::custom(format!("{code} is not offered")))
    }
}

impl Coin {
    /// The four subjects that the specification lists: the right asset, confirmations, the network's fee, the time.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let (symbol, name, network) = (self.symbol, self.name, self.network);
        vec![
            format!(
                "Send only {name} ({symbol}) on the {network} network to this address. Other assets, or {symbol} on \
                 another network, will be lost."
            ),
            format!(
                "Your payment is complete after {REQUIRED_CONFIRMATIONS} confirmations on the {network} network."
            ),
            format!(
                "Make sure that the network fee is sufficient: a {network} transaction with a low fee may not be \
                 confirmed."
            ),
            format!(
                "The price in {symbol} is held for {INVOICE_MINUTES} minutes. It may expire if your payment arrives later."
            ),
        ]
    }
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

/// Units of a currency for one US dollar: the account's own rate for its currency, else the table's.
pub(crate) fn per_usd(settings: &Settings, currency: Currency) -> Option<Amount> {
    let (local, per_usd) = settings.local_currency;
    if currency == local {
        return Some(per_usd);
    }
    let listed = RATES.iter().find(|(code, _)| *code == currency.as_str());
    listed.map(|(_, rate)| Amount::parse(rate).expect("the table holds amounts"))
}
