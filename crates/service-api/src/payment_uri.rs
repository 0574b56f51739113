//! Whether what a QR code encodes asks for the payment that the page shows.
//!
//! Wallets pay what the code says, not what stands beside it. So a code that names another address, another amount,
//! another network or another token is refused, and so is one that lets a wallet fetch its instructions elsewhere.
//! A code may leave the amount out, or be the bare address: then it names nothing that could differ.
//!
//! Source: payment-service.md, "Invoice": "payment URI form carrying the address and amount". `Assumed:` BIP-21 and
//! its likes for the coins made after Bitcoin, EIP-681 for Ethereum and BNB Chain, and for Tron, which has no standard,
//! `tron:ADDRESS?amount=…` as its wallets write it. A genuine code that is refused would disprove it.

mod bip21;
mod eip681;
mod parts;
mod tron;
mod units;

use money::{Amount, Asset};

use self::parts::Parts;
use crate::{Network, address::same};

/// What a QR code names instead of the payment that was asked for. Texts are its own, their first 80 characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme is none of this asset's, or the code is neither a URI nor the address.
    #[error("it is no payment URI of this asset: {found:?}")]
    Scheme {
        /// What stands before the colon; the whole text if there is none.
        found: String,
    },
    /// Another address.
    #[error("it names another address: {found:?}")]
    Address {
        /// That address; empty if it is missing.
        found: String,
    },
    /// Another amount, or a text that is none.
    #[error("it names another amount: {found:?}")]
    Amount {
        /// That amount, in the code's own unit.
        found: String,
    },
    /// Another chain, or none where it cannot be left out.
    #[error("it names another chain: {found:?}")]
    Chain {
        /// That chain's number; empty if it is missing.
        found: String,
    },
    /// Another token, or a coin instead of a token, or a token instead of a coin.
    #[error("it asks for another token: {found:?}")]
    Token {
        /// That token's contract; empty for the chain's own coin.
        found: String,
    },
    /// A parameter that comes twice, even with one and the same value.
    #[error("it carries a parameter twice: {key:?}")]
    Twice {
        /// The parameter's name.
        key: String,
    },
    /// Percent signs that stand for no text.
    #[error("it is not encoded as URIs are: {found:?}")]
    Encoding {
        /// The key or value.
        found: String,
    },
    /// A parameter by which a wallet may pay elsewhere, or that a wallet must understand.
    #[error("it carries a parameter that may change the payment: {key:?}")]
    Detour {
        /// The parameter's name.
        key: String,
    },
}

/// Checks that `qr_string` asks for `amount` of `asset` to `address`, which must have passed
/// [`crate::address::check`].
///
/// # Errors
/// [`UriError`] names the first thing that differs.
pub fn check(
    asset: Asset,
    qr_string: &str,
    address: &str,
    amount: Amount,
    network: Network,
) -> Result<(), UriError> {
    if same(asset, address, qr_string) {
        return Ok(());
    }
    let payment = Payment {
        asset,
        address,
        amount,
        network,
    };
    let parts = Parts::split(qr_string)?;
    match asset {
        Asset::BTC => bip21::check(&payment, &parts, &["bitcoin"]),
        Asset::LTC => bip21::check(&payment, &parts, &["litecoin"]),
        Asset::DOGE => bip21::check(&payment, &parts, &["dogecoin"]),
        Asset::BCH => bip21::check(&payment, &parts, &["bitcoincash", "bchtest"]),
        Asset::ETH | Asset::USDTERC20 | Asset::BNB => eip681::check(&payment, &parts),
        Asset::TRX | Asset::USDTTRC20 => tron::check(&payment, &parts),
        _ => Err(parts.scheme_error()),
    }
}

/// What was asked for.
struct Payment<'a> {
    asset: Asset,
    address: &'a str,
    amount: Amount,
    network: Network,
}

impl Payment<'_> {
    fn check_address(&self, found: &str) -> Result<(), UriError> {
        if same(self.asset, self.address, found) {
            Ok(())
        } else {
            Err(UriError::Address {
                found: short(found),
            })
        }
    }

    /// An amount in the asset itself: `0.5`.
    fn check_amount(&self, found: &str) -> Result<(), UriError> {
        if Amount::parse(found).is_ok_and(|found| found == self.amount) {
            Ok(())
        } else {
            Err(UriError::Amount {
                found: short(found),
            })
        }
    }

    /// An amount in the asset's smallest unit: `500000`, `5e5`.
    fn check_units(&self, found: &str) -> Result<(), UriError> {
        if units::equal(found, self.amount, self.asset.decimals()) {
            Ok(())
        } else {
            Err(UriError::Amount {
                found: short(found),
            })
        }
    }
}

/// Texts of the code go into errors and logs, but not whole.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;
