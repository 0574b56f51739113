//! The payment service's name for an asset on a network.

use core::fmt;

/// A `crypto_code` of the payment service, known to us or not.
///
/// Shape: 1 to 24 of `A–Z a–z 0–9 _ -`. An unknown code is kept as it came: the service may offer more assets than its
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

    /// The code as the service writes it.
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
    fn an_unknown_code_is_kept() {
        assert_eq!(CryptoCode::parse("USDTSOL").unwrap().as_str(), "USDTSOL");
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
