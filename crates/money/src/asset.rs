//! The assets that the gateway's specification lists, with what a checkout must know of each, and the gateway's name for an
//! asset on a network.

use core::fmt;

use crate::Network;

/// A known asset on its network.
///
/// Source: payment-service.md, "`crypto_code` values". Decimals and names are the networks' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    crypto_code: &'static str,
    symbol: &'static str,
    name: &'static str,
    network: Network,
    decimals: u32,
}

impl Asset {
    /// Tether on Tron.
    pub const USDTTRC20: Self = Self::new("USDTTRC20", "USDT", "Tether", Network::TRON, 6);
    /// Tether on Ethereum.
    pub const USDTERC20: Self = Self::new("USDTERC20", "USDT", "Tether", Network::ETHEREUM, 6);
    /// Bitcoin.
    pub const BTC: Self = Self::new("BTC", "BTC", "Bitcoin", Network::BITCOIN, 8);
    /// Ether, which wallets list by the name of its network.
    pub const ETH: Self = Self::new("ETH", "ETH", "Ethereum", Network::ETHEREUM, 18);
    /// The coin of Tron.
    pub const TRX: Self = Self::new("TRX", "TRX", "Tron", Network::TRON, 6);
    /// Litecoin.
    pub const LTC: Self = Self::new("LTC", "LTC", "Litecoin", Network::LITECOIN, 8);
    /// Dogecoin.
    pub const DOGE: Self = Self::new("DOGE", "DOGE", "Dogecoin", Network::DOGECOIN, 8);
    /// Bitcoin Cash.
    pub const BCH: Self = Self::new("BCH", "BCH", "Bitcoin Cash", Network::BITCOIN_CASH, 8);
    /// BNB on BNB Chain.
    pub const BNB: Self = Self::new("BNB", "BNB", "BNB", Network::BNB_CHAIN, 18);

    /// Every known asset, in the order in which a checkout offers them.
    pub const ALL: [Self; 9] = [
        Self::BTC,
        Self::ETH,
        Self::USDTTRC20,
        Self::USDTERC20,
        Self::LTC,
        Self::TRX,
        Self::BNB,
        Self::BCH,
        Self::DOGE,
    ];

    const fn new(
        crypto_code: &'static str,
        symbol: &'static str,
        name: &'static str,
        network: Network,
        decimals: u32,
    ) -> Self {
        Self {
            crypto_code,
            symbol,
            name,
            network,
            decimals,
        }
    }

    /// The asset of a code; `None` for a code that the specification does not list. Nothing is guessed: `USDTSOL` is
    /// not "some USDT".
    pub fn of(code: &CryptoCode) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|asset| asset.crypto_code == code.as_str())
    }

    /// The gateway's code: `USDTTRC20`.
    pub fn crypto_code(self) -> CryptoCode {
        CryptoCode::parse(self.crypto_code).expect("the table holds valid codes")
    }

    /// What people call it in front of an amount: `USDT`.
    pub fn symbol(self) -> &'static str {
        self.symbol
    }

    /// Its name: `Tether`. A coin has the name of its network, but BNB.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The network it moves on: `Tron`. The same asset on another network is another asset.
    pub fn network(self) -> &'static str {
        self.network.name
    }

    /// A block explorer's page of a transaction on its main network.
    pub fn explorer_url(self, transaction_hash: &str) -> String {
        format!("{}{transaction_hash}", self.network.explorer())
    }

    /// The same explorer's page of an address.
    pub fn explorer_address_url(self, address: &str) -> String {
        let site = self.network.explorer().trim_end_matches("tx/");
        let site = site.trim_end_matches("transaction/");
        format!("{site}address/{address}")
    }

    /// Decimals of its smallest unit on its network.
    pub fn decimals(self) -> u32 {
        self.decimals
    }

    /// Decimals of an amount that people are asked to send: at most eight, since exchanges and many wallets accept no
    /// more. Rounding ether up to 10⁻⁸ costs the customer far below a thousandth of a cent; see
    /// docs/adr/0003-eight-decimals.md.
    pub fn quote_decimals(self) -> u32 {
        self.decimals.min(8)
    }
}

/// A `crypto_code` of the gateway, known to us or not.
///
/// Shape: 1 to 24 of `A–Z a–z 0–9 _ -`. An unknown code is kept as it came: the gateway may offer more assets than its
/// specification lists. Source: payment-service.md, "`crypto_code` values".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct CryptoCode(String);

impl CryptoCode {
    /// Checks the shape.
    ///
    /// # Errors
    /// [`InvalidCryptoCode`] for an empty, overlong or oddly written code.
    pub fn parse(text: &str) -> Result<Self, InvalidCryptoCode> {
        let fits = (1..=24).contains(&text.len());
        if fits
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidCryptoCode(text.chars().take(40).collect()))
        }
    }

    /// The code as the gateway writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CryptoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CryptoCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A text that cannot be a `crypto_code`: its first 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCryptoCode(pub String);

impl fmt::Display for InvalidCryptoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a crypto code: write 1 to 24 letters and digits, like USDTTRC20",
            self.0
        )
    }
}

impl core::error::Error for InvalidCryptoCode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_specification_is_known() {
        let codes = "USDTTRC20 USDTERC20 BTC ETH TRX LTC DOGE BCH BNB";
        for code in codes.split(' ') {
            let code = CryptoCode::parse(code).unwrap();
            let asset = Asset::of(&code).unwrap();
            assert_eq!(asset.crypto_code(), code);
            assert_eq!(Network::of(asset.network()), Some(&asset.network));
            let (page, address) = (
                asset.explorer_url("cafe"),
                asset.explorer_address_url("cafe"),
            );
            assert!(page.starts_with("https://") && address.ends_with("/address/cafe"));
            assert_eq!(page.matches('/').count(), address.matches('/').count());
        }
    }

    #[test]
    fn an_unknown_code_is_not_guessed_at() {
        assert_eq!(Asset::of(&CryptoCode::parse("USDTSOL").unwrap()), None);
        assert_eq!(Asset::of(&CryptoCode::parse("btc").unwrap()), None);
    }

    #[test]
    fn the_two_tethers_differ_by_network_alone() {
        assert_eq!(Asset::USDTERC20.symbol(), Asset::USDTTRC20.symbol());
        assert_ne!(Asset::USDTERC20.network(), Asset::USDTTRC20.network());
    }

    #[test]
    fn a_code_is_short_and_plain() {
        for text in [
            "",
            "USDT TRC20",
            "BTC\n",
            "<b>",
            "ABCDEFGHIJKLMNOPQRSTUVWXY",
        ] {
            assert_eq!(
                CryptoCode::parse(text),
                Err(InvalidCryptoCode(text.to_owned()))
            );
        }
    }
}
