//! What the sandbox takes: an asset on its chain, with a price and limits to begin with.

use florin_money::{Amount, Asset, CryptoCode};

use crate::chain::Chain;

/// An asset on a chain.
#[derive(Clone, Debug)]
pub(crate) struct Coin {
    pub(crate) code: CryptoCode,
    pub(crate) symbol: &'static str,
    pub(crate) name: &'static str,
    pub(crate) network: &'static str,
    pub(crate) chain: Chain,
    /// Decimals of the smallest unit.
    pub(crate) decimals: u32,
    /// Decimals of an amount that a customer is asked for.
    pub(crate) quote_decimals: u32,
    /// The contract on the test network, when the asset is a token and its URI names it.
    pub(crate) contract: Option<&'static str>,
    /// US dollars for one, before the seed moves it.
    pub(crate) usd: Amount,
    /// Whether the price holds still.
    pub(crate) stable: bool,
    pub(crate) limits: Limits,
}

/// What one payment may be, in the asset's own unit; `None` where the service sends an empty string.
///
/// `Assumed:` limits are in the asset, not in dollars, since each asset has its own. Disproved by the first limits of
/// the test environment: a minimum of 5 for BTC would mean dollars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) min: Option<Amount>,
    pub(crate) max: Option<Amount>,
}

/// Test Tether on Sepolia. Source: aave-address-book, `AaveV3Sepolia.sol`, `USDT_UNDERLYING`.
const USDT_ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

/// Test Tether on Nile, Tron's test network. Source: docs.turnkey.com, "Policy examples, Tron"; nileex.io.
const USDT_ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// Everything that is offered, in the specification's order.
///
/// The limits are made so that each way out of range is reached by an everyday price: two dollars are too little in
/// BTC, ETH, BCH, DOGE and USDT on Ethereum, five thousand too much in BNB; TRX has no maximum, BNB no minimum.
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
        coins.push(usdt_on_solana());
    }
    coins
}

fn coin(asset: Asset, chain: Chain, usd: &str, min: &str, max: &str) -> Coin {
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
        usd: amount(usd).expect("a price is never empty"),
        stable: asset.symbol() == "USDT",
        limits: Limits {
            min: amount(min),
            max: amount(max),
        },
    }
}

/// An asset that a service may start to offer without telling anybody first.
fn usdt_on_solana() -> Coin {
    Coin {
        code: CryptoCode::parse("USDTSOL").expect("seven letters are a code"),
        symbol: "USDT",
        name: "Tether",
        network: "Solana",
        chain: Chain::Solana,
        decimals: 6,
        quote_decimals: 6,
        contract: None,
        usd: Amount::ONE,
        stable: true,
        limits: Limits {
            min: Some(Amount::ONE),
            max: None,
        },
    }
}

fn amount(text: &str) -> Option<Amount> {
    (!text.is_empty()).then(|| Amount::parse(text).expect("the table holds amounts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_of_the_specification_is_offered() {
        let codes: Vec<CryptoCode> = offered(false).into_iter().map(|coin| coin.code).collect();
        assert_eq!(codes.len(), Asset::ALL.len());
        for asset in Asset::ALL {
            assert!(codes.contains(&asset.crypto_code()));
        }
    }

    #[test]
    fn the_unknown_asset_is_unknown() {
        let last = offered(true).pop().unwrap();
        assert_eq!(Asset::of(&last.code), None);
    }
}
