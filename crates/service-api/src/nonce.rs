//! The nonce of a request: the current Unix time in seconds.

use core::fmt;

/// The header `nonce`: Unix seconds, written in decimal.
///
/// Source: payment-service.md, "Headers". How far it may be from the service's clock is not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nonce(i64);

impl Nonce {
    /// The nonce of a second.
    pub fn from_second(second: i64) -> Self {
        Self(second)
    }

    /// Its second.
    #[cfg(feature = "client")]
    pub(crate) fn second(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_written_in_decimal() {
        assert_eq!(Nonce::from_second(1_700_000_000).to_string(), "1700000000");
    }
}
