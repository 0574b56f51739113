//! Accounts.

use core::fmt;

use anyhow::Context as _;
use florin_address::{Network, check};
use florin_money::Asset;
use serde::Deserialize;
use sha3::{Digest as _, Keccak256};

/// Written as 40 hexadecimal digits behind `0x`. Digits of both cases must have the checksum of EIP-55.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Address(pub(crate) [u8; 20]);

impl Address {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut bytes = [0; 20];
        check(Asset::ETH, text, Network::Main).with_context(|| format!("the address {text:?}"))?;
        hex::decode_to_slice(&text[2..], &mut bytes)?;
        Ok(Self(bytes))
    }

    /// The end of a hash. Source: the Yellow Paper of Ethereum, section 7 and appendix F.
    pub(crate) fn hashed(bytes: &[u8]) -> Self {
        Self(*keccak(bytes).last_chunk().expect("a hash is longer"))
    }
}

impl TryFrom<String> for Address {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        Self::parse(&text)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

pub(crate) fn keccak(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}
