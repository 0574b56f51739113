//! Fresh addresses, valid for the test network of each chain.
//!
//! Nobody has the keys: an address is a hash that was drawn, not a hash of a key. Money that is sent to one of these on
//! a real test network is lost.

mod base58;
mod cashaddr;
mod evm;
mod segwit;

pub(crate) use base58::{base58, base58check};
pub(crate) use cashaddr::cashaddr_p2pkh;
pub(crate) use evm::checksummed;
pub(crate) use segwit::p2wpkh;

/// The hash of a public key, as most chains put it into an address.
pub(crate) type KeyHash = [u8; 20];
