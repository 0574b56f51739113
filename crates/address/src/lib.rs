//! Blockchain addresses and payment URIs.
//!
//! A deposit address that was cut, mistyped or belongs to another coin costs the customer their money. So [`check`]
//! verifies an address before a customer sees it, and [`PaymentTarget`] verifies the gateway's payment URI and writes a
//! new one from the parts that passed.
//!
//! What this crate refuses to do: I/O, passing the gateway's text on to a wallet, and accepting what it has no rules for.
//!
//! ```
//! use florin_address::{AddressError, Network, check};
//! use florin_money::Asset;
//!
//! let address = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
//! assert_eq!(check(Asset::BTC, address, Network::Main), Ok(()));
//! assert_eq!(check(Asset::BTC, address, Network::Test), Err(AddressError::Foreign));
//! ```

mod address;
#[cfg(feature = "deposit-keys")]
mod deposit_key;
mod error;
mod payment_uri;

pub use address::check;
#[cfg(feature = "deposit-keys")]
pub use deposit_key::{DepositKey, KeyError};
pub use error::{AddressError, Network, UriError};
pub use payment_uri::PaymentTarget;
