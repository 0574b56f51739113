//! The currency a price is written in.

use core::fmt;

/// An ISO 4217 currency code: three letters `A–Z`.
///
/// Only currencies whose minor unit is known here are accepted: a price in an unknown currency is refused, never taken
/// to have "two decimals or so".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// Currencies without a minor unit. Source: ISO 4217, list one.
const NO_DECIMALS: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
/// Currencies with a thousandth. Source: ISO 4217, list one.
const THREE_DECIMALS: &str = "BHD IQD JOD KWD LYD OMR TND";
/// Currencies with a hundredth. Source: ISO 4217, list one.
const TWO_DECIMALS: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN \
    BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL \
    HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR \
    MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE \
    SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW";

impl Currency {
    /// The US dollar, in which the gateway states every amount besides the local one.
    pub const USD: Self = Self(*b"USD");

    /// Accepts a known code in capitals.
    ///
    /// # Errors
    /// [`InvalidCurrency`] for everything else.
    pub fn parse(text: &str) -> Result<Self, InvalidCurrency> {
        let known = |list: &str| list.split_ascii_whitespace().any(|code| code == text);
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(code) if known(NO_DECIMALS) || known(TWO_DECIMALS) || known(THREE_DECIMALS) => {
                Ok(Self(code))
            }
            _ => Err(InvalidCurrency(text.chars().take(40).collect())),
        }
    }

    /// Every known code.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        let lists = [NO_DECIMALS, TWO_DECIMALS, THREE_DECIMALS];
        lists.into_iter().flat_map(str::split_ascii_whitespace)
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).expect("a currency is made of ASCII capitals")
    }

    /// Decimals of its minor unit: 2 for USD, 0 for JPY, 3 for KWD.
    pub fn decimals(self) -> u32 {
        let known = |list: &str| {
            list.split_ascii_whitespace()
                .any(|code| code == self.as_str())
        };
        if known(NO_DECIMALS) {
            0
        } else if known(THREE_DECIMALS) {
            3
        } else {
            2
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A text that is no known currency: its first 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCurrency(pub String);

impl fmt::Display for InvalidCurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a currency: write an ISO 4217 code in capitals, like EUR",
            self.0
        )
    }
}

impl core::error::Error for InvalidCurrency {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minor_unit_is_the_currencys_own() {
        assert_eq!(Currency::parse("EUR").unwrap().decimals(), 2);
        assert_eq!(Currency::parse("JPY").unwrap().decimals(), 0);
        assert_eq!(Currency::parse("KWD").unwrap().decimals(), 3);
    }

    #[test]
    fn an_unknown_currency_is_refused() {
        for text in ["", "usd", "US", "USDT", "XXX", "   ", "U D", "EUR "] {
            assert_eq!(Currency::parse(text), Err(InvalidCurrency(text.to_owned())));
        }
    }
}
