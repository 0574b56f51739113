//! The drivers of real chains.

pub mod bitcoin;
pub mod evm;
pub mod json_rpc;

pub use florin_address::{DepositKey, Network as KeyNetwork};
