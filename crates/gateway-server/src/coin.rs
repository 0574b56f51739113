//! Assets on their chains.

use florin_money::{Amount, Asset, CryptoCode};
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, Network};

/// An asset that invoices may ask for. An invoice keeps its own copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coin {
    /// The gateway's name for it.
    pub code: CryptoCode,
    /// As in front of an amount.
    pub symbol: String,
    /// Its name.
    pub name: String,
    /// Name of the network, for people.
    pub network: String,
    /// Where it moves.
    pub chain: Chain,
    /// Decimals of its smallest unit.
    pub decimals: u32,
    /// Decimals of an amount that a customer is asked for.
    pub quote_decimals: u32,
    /// The token's contract; `None` for a chain's own coin.
    pub contract: Option<String>,
    /// Limits of one payment.
    pub limits: Limits,
}

/// Limits of one payment, in the asset's own unit; `None` where the gateway sends an empty string.
///
/// `Assumed:` limits are in the asset, not in dollars, since each asset has its own. Disproved by the first limits of
/// the test environment: a minimum of 5 for BTC would mean dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Smallest payment.
    pub min: Option<Amount>,
    /// Largest payment.
    pub max: Option<Amount>,
}

impl Limits {
    /// Returns `true` if a payment of this amount is within them.
    pub fn contain(self, amount: Amount) -> bool {
        self.min.is_none_or(|min| amount >= min) && self.max.is_none_or(|max| amount <= max)
    }
}

/// Test Tether on Sepolia. Source: aave-address-book, `AaveV3Sepolia.sol`, `USDT_UNDERLYING`.
pub const USDT_ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";

/// Test Tether on Nile, Tron's test network. Source: docs.turnkey.com, "Policy examples, Tron"; nileex.io.
const USDT_ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// The chain of an asset that the specification lists.
///
/// # Panics
/// If the asset is new here and has no chain yet.
pub fn chain_of(asset: Asset) -> Chain {
    match asset {
        Asset::BTC => Chain::Bitcoin,
        Asset::LTC => Chain::Litecoin,
        Asset::DOGE => Chain::Dogecoin,
        Asset::BCH => Chain::BitcoinCash,
        Asset::ETH | Asset::USDTERC20 => Chain::Ethereum,
        Asset::BNB => Chain::Bnb,
        Asset::TRX | Asset::USDTTRC20 => Chain::Tron,
        other => unreachable!("{} has no chain", other.crypto_code()),
    }
}

impl Coin {
    /// An asset that the specification lists, with the contract of its network and without limits. Ethereum's token on a
    /// private network has the main network's contract: a development node can put code there.
    ///
    /// Source of the main contracts: Tether, "Supported protocols".
    pub fn listed(asset: Asset, network: Network) -> Self {
        let contract = match (asset, network) {
            (Asset::USDTERC20, Network::Test) => Some(USDT_ON_SEPOLIA),
            (Asset::USDTERC20, _) => Some("0xdAC17F958D2ee523a2206206994597C13D831ec7"),
            (Asset::USDTTRC20, Network::Main) => Some("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
            (Asset::USDTTRC20, _) => Some(USDT_ON_NILE),
            _ => None,
        };
        Self {
            code: asset.crypto_code(),
            symbol: asset.symbol().to_owned(),
            name: asset.name().to_owned(),
            network: asset.network().to_owned(),
            chain: chain_of(asset),
            decimals: asset.decimals(),
            quote_decimals: asset.quote_decimals(),
            contract: contract.map(ToOwned::to_owned),
            limits: Limits::default(),
        }
    }

    /// The four subjects that the specification lists: the right asset, confirmations, the network's fee, the time.
    pub(crate) fn warnings(&self, confirmations: u32, minutes: i64) -> Vec<String> {
        let (symbol, name, network) = (&self.symbol, &self.name, &self.network);
        vec![
            format!(
                "Send only {name} ({symbol}) on the {network} network to this address. Other assets, or {symbol} on \
                 another network, will be lost."
            ),
            format!(
                "Your payment is complete after {confirmations} confirmations on the {network} network."
            ),
            format!(
                "Make sure that the network fee is sufficient: a {network} transaction with a low fee may not be \
                 confirmed."
            ),
            format!(
                "The price in {symbol} is held for {minutes} minutes. It may expire if your payment arrives later."
            ),
        ]
    }
}
