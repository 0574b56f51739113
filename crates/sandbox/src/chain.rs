//! The chains that the sandbox imitates, each by its test network.

use serde::Deserialize;

use crate::address::{KeyHash, base58, base58check, cashaddr_p2pkh, checksummed, p2wpkh};

/// A chain on which something can be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chain {
    Bitcoin,
    Litecoin,
    Dogecoin,
    BitcoinCash,
    Ethereum,
    Bnb,
    Tron,
    Solana,
}

impl Chain {
    /// Every chain.
    pub(crate) const ALL: [Self; 8] = [
        Self::Bitcoin,
        Self::Litecoin,
        Self::Dogecoin,
        Self::BitcoinCash,
        Self::Ethereum,
        Self::Bnb,
        Self::Tron,
        Self::Solana,
    ];

    /// The word in the control API.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Bitcoin => "bitcoin",
            Self::Litecoin => "litecoin",
            Self::Dogecoin => "dogecoin",
            Self::BitcoinCash => "bitcoin_cash",
            Self::Ethereum => "ethereum",
            Self::Bnb => "bnb",
            Self::Tron => "tron",
            Self::Solana => "solana",
        }
    }

    /// The address that 32 drawn bytes stand for.
    ///
    /// Source of prefixes and version bytes: BIP-173 (`tb`), the chain parameters of Litecoin (`tltc`) and Dogecoin
    /// (0x71) for their test networks, the `CashAddr` specification (`bchtest`), EIP-55, Tron's documentation (0x41 on
    /// every network).
    pub(crate) fn address(self, drawn: &[u8; 32]) -> String {
        let hash: &KeyHash = drawn
            .first_chunk()
            .expect("32 bytes hold the 20 of a key's hash");
        match self {
            Self::Bitcoin => p2wpkh("tb", hash),
            Self::Litecoin => p2wpkh("tltc", hash),
            Self::Dogecoin => base58check(0x71, hash),
            Self::BitcoinCash => cashaddr_p2pkh("bchtest", hash),
            Self::Ethereum | Self::Bnb => checksummed(hash),
            Self::Tron => base58check(0x41, hash),
            Self::Solana => base58(drawn),
        }
    }

    /// A transaction's hash, written as the chain's explorers do.
    pub(crate) fn transaction_hash(self, drawn: &[u8; 32]) -> String {
        match self {
            Self::Ethereum | Self::Bnb => format!("0x{}", hex::encode(drawn)),
            Self::Solana => base58(drawn),
            Self::Bitcoin | Self::Litecoin | Self::Dogecoin | Self::BitcoinCash | Self::Tron => {
                hex::encode(drawn)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_has_the_look_of_its_test_network() {
        let looks = [
            (Chain::Bitcoin, "tb1q", 42),
            (Chain::Litecoin, "tltc1q", 44),
            (Chain::Dogecoin, "n", 34),
            (Chain::BitcoinCash, "bchtest:q", 50),
            (Chain::Ethereum, "0x", 42),
            (Chain::Bnb, "0x", 42),
            (Chain::Tron, "T", 34),
        ];
        for (chain, start, length) in looks {
            let address = chain.address(&[7; 32]);
            assert!(address.starts_with(start), "{address}");
            assert_eq!(address.len(), length, "{address}");
        }
    }
}
