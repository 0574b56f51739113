//! Exact amounts, currencies and assets.
//!
//! Money is never a float here and never a bare number: an amount is written and sent as a decimal *string*
//! ([`AmountText`]), calculated with as an exact decimal ([`Amount`], feature `arithmetic`), and means something only
//! beside its [`Currency`] or its [`Asset`].
//!
//! What this crate refuses to do: I/O, implicit rounding, and guessing the meaning of an unknown
//! code.
//!
//! ```
//! use florin_money::{Amount, Asset, Rounding};
//!
//! let price = Amount::parse("19.90")?;
//! let rate = Amount::parse("64250.13")?;
//! let btc = price.mul_div(Amount::ONE, rate, Asset::BTC.quote_decimals(), Rounding::Up)?;
//! assert_eq!(btc.to_string(), "0.00030973");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arithmetic")]
mod amount;
mod amount_text;
mod asset;
mod currency;
mod network;
#[cfg(feature = "arithmetic")]
mod price;
#[cfg(feature = "schema")]
mod schema;

#[cfg(feature = "arithmetic")]
pub use amount::{Amount, AmountError, Rounding};
pub use amount_text::{AmountText, InvalidAmount, padded, trimmed};
pub use asset::{Asset, CryptoCode, InvalidCryptoCode};
pub use currency::{Currency, ISO_4217_DATE, InvalidCurrency};
pub use network::Network;
#[cfg(feature = "arithmetic")]
pub use price::{InvalidPrice, Price, TooManyDecimals};
