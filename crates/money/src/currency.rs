//! The currency a price is written in.

use core::fmt;

/// An ISO 4217 currency code: three letters `A–Z`.
///
/// Only currencies whose minor unit is known here are accepted: a price in an unknown currency is refused, never taken
/// to have "two decimals or so".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The publication date of the list from which the codes below are copied.
///
/// Source: ISO 4217, list one (`Pblshd` of list-one.xml), <https://www.six-group.com/en/products-services/financial-information/data-standards.html>.
pub const ISO_4217_DATE: &str = "2026-01-01";

/// Currencies without a minor unit.
const NO_DECIMALS: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
/// Currencies with a thousandth.
const THREE_DECIMALS: &str = "BHD IQD JOD KWD LYD OMR TND";
/// Units of account with a ten-thousandth.
const FOUR_DECIMALS: &str = "CLF UYW";
/// Currencies with a hundredth.
const TWO_DECIMALS: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN \
    BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ \
    GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP \
    MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG \
    SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD \
    XCD XCG YER ZAR ZMW ZWG";
/// Withdrawn currencies, all with a hundredth, and what replaces each. Orders in them are still read.
const WITHDRAWN: [(&str, &str); 2] = [("ANG", "XCG"), ("BGN", "EUR")];

fn withdrawn(text: &str) -> Option<(&'static str, &'static str)> {
    WITHDRAWN.into_iter().find(|(code, _)| *code == text)
}

impl Currency {
    /// The US dollar, in which the gateway states every amount besides the local one.
    pub const USD: Self = Self(*b"USD");

    /// Accepts a code of the list in capitals, for what is priced from now on.
    ///
    /// # Errors
    /// [`InvalidCurrency`] for everything else.
    pub fn parse(text: &str) -> Result<Self, InvalidCurrency> {
        let code = <[u8; 3]>::try_from(text.as_bytes());
        match code.ok().filter(|_| Self::codes().any(|code| code == text)) {
            Some(code) => Ok(Self(code)),
            None => Err(InvalidCurrency(text.chars().take(40).collect())),
        }
    }

    /// Accepts withdrawn codes as well: those of orders that are stored.
    ///
    /// # Errors
    /// [`InvalidCurrency`] for everything else.
    pub fn parse_stored(text: &str) -> Result<Self, InvalidCurrency> {
        match withdrawn(text) {
            Some((code, _)) => Ok(Self(
                code.as_bytes()
                    .try_into()
                    .expect("a code has three letters"),
            )),
            None => Self::parse(text),
        }
    }

    /// Every code of the list.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        let lists = [NO_DECIMALS, TWO_DECIMALS, THREE_DECIMALS, FOUR_DECIMALS];
        lists.into_iter().flat_map(str::split_ascii_whitespace)
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).expect("a currency is made of ASCII capitals")
    }

    /// Decimals of its minor unit: 2 for USD, 0 for JPY, 3 for KWD, 4 for CLF.
    pub fn decimals(self) -> u32 {
        let known = |list: &str| {
            list.split_ascii_whitespace()
                .any(|code| code == self.as_str())
        };
        if known(NO_DECIMALS) {
            0
        } else if known(THREE_DECIMALS) {
            3
        } else if known(FOUR_DECIMALS) {
            4
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

/// A text that is no currency of the list: its first 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCurrency(pub String);

impl fmt::Display for InvalidCurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match withdrawn(&self.0) {
            Some((_, code)) => write!(f, "{} was withdrawn from ISO 4217: write {code}", self.0),
            None => write!(
                f,
                "{:?} is not a currency: write an ISO 4217 code in capitals, like EUR",
                self.0
            ),
        }
    }
}

impl core::error::Error for InvalidCurrency {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minor_unit_is_the_currencys_own() {
        for (code, decimals) in [
            ("EUR", 2),
            ("JPY", 0),
            ("KWD", 3),
            ("CLF", 4),
            ("XCG", 2),
            ("ZWG", 2),
            ("VED", 2),
        ] {
            assert_eq!(
                Currency::parse(code).unwrap().decimals(),
                decimals,
                "{code}"
            );
        }
    }

    #[test]
    fn an_unknown_currency_is_refused() {
        for text in ["", "usd", "US", "USDT", "XXX", "   ", "U D", "EUR "] {
            let refused = InvalidCurrency(text.to_owned());
            assert_eq!(Currency::parse(text), Err(refused.clone()));
            assert_eq!(Currency::parse_stored(text), Err(refused));
        }
    }

    #[test]
    fn a_withdrawn_currency_is_refused_with_its_successor_and_still_read() {
        for (code, successor) in WITHDRAWN {
            let refused = Currency::parse(code).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("{code} was withdrawn from ISO 4217: write {successor}")
            );
            assert!(Currency::parse(successor).is_ok());
            let stored = Currency::parse_stored(code).unwrap();
            assert_eq!((stored.as_str(), stored.decimals()), (code, 2));
        }
    }

    #[test]
    fn each_code_is_listed_once() {
        let mut codes: Vec<_> = Currency::codes().collect();
        codes.sort_unstable();
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
        assert_eq!(codes.len(), 165);
    }
}
