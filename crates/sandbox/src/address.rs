//! Addresses, valid for the test network of each chain.
//!
//! An address is drawn from the seed, not derived from a key: coins that are sent to it on a real test network are lost.

use bech32::{ByteIterExt as _, Fe32, Hrp, segwit};
use florin_gateway::chain::Chain;
use sha3::{Digest as _, Keccak256};

/// The hash of a public key, as most chains put it into an address.
type KeyHash = [u8; 20];

/// The address of 32 drawn bytes.
///
/// Source of prefixes and version bytes: BIP-173 (`tb`), the chain parameters of Litecoin (`tltc`) and Dogecoin
/// (0x71) for their test networks, the `CashAddr` specification (`bchtest`), EIP-55, Tron's documentation (0x41 on
/// every network).
pub(crate) fn address(chain: Chain, drawn: &[u8; 32]) -> String {
    let hash: &KeyHash = drawn.first_chunk().expect("32 bytes hold the 20 of a hash");
    match chain {
        Chain::Bitcoin => p2wpkh("tb", hash),
        Chain::Litecoin => p2wpkh("tltc", hash),
        Chain::Dogecoin => base58check(0x71, hash),
        Chain::BitcoinCash => cashaddr("bchtest", P2PKH_160, hash),
        Chain::Ethereum | Chain::Bnb => eip55(hash),
        Chain::Tron => base58check(0x41, hash),
        Chain::Solana => bs58::encode(drawn).into_string(),
    }
}

/// A transaction's hash, written as the chain's explorers do.
pub(crate) fn transaction_hash(chain: Chain, drawn: &[u8; 32]) -> String {
    match chain {
        Chain::Ethereum | Chain::Bnb => format!("0x{}", hex::encode(drawn)),
        Chain::Solana => bs58::encode(drawn).into_string(),
        Chain::Bitcoin | Chain::Litecoin | Chain::Dogecoin | Chain::BitcoinCash | Chain::Tron => {
            hex::encode(drawn)
        }
    }
}

/// Bech32 with witness version 0 (BIP-173).
fn p2wpkh(hrp: &str, hash: &KeyHash) -> String {
    let hrp = Hrp::parse(hrp).expect("a chain's human-readable part is valid");
    segwit::encode_v0(hrp, hash).expect("20 bytes are a program of version 0")
}

/// A version byte, the hash, four bytes of checksum.
fn base58check(version: u8, hash: &KeyHash) -> String {
    bs58::encode(hash).with_check_version(version).into_string()
}

/// Hexadecimal with the checksum in the letters' case (EIP-55).
fn eip55(account: &KeyHash) -> String {
    let lower = hex::encode(account);
    let digest = Keccak256::digest(lower.as_bytes());
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let cased = lower.chars().zip(nibbles).map(|(letter, nibble)| {
        if nibble >= 8 {
            letter.to_ascii_uppercase()
        } else {
            letter
        }
    });
    format!("0x{}", cased.collect::<String>())
}

/// Version byte of CashAddr: pay to public key hash, 160 bits.
const P2PKH_160: u8 = 0;

/// `prefix:payload`. Source: the CashAddr specification, reference.cash/protocol/blockchain/encoding/cashaddr.
fn cashaddr(prefix: &str, version: u8, hash: &KeyHash) -> String {
    let bytes = core::iter::once(version).chain(hash.iter().copied());
    let payload: Vec<Fe32> = bytes.bytes_to_fes().collect();
    let checksum = checksum(prefix, &payload);
    let checksum = (0..8).rev().map(|group| {
        Fe32::try_from((checksum >> (5 * group)) & 31).expect("five bits are an element")
    });
    let letters = payload.into_iter().chain(checksum).map(Fe32::to_char);
    format!("{prefix}:{}", letters.collect::<String>())
}

fn checksum(prefix: &str, payload: &[Fe32]) -> u64 {
    const GENERATOR: [u64; 5] = [
        0x98_f2bc_8e61,
        0x79_b76d_99e2,
        0xf3_3e5f_b3c4,
        0xae_2eab_e2a8,
        0x1e_4f43_e470,
    ];
    let values = prefix.bytes().map(|byte| byte & 31);
    let values = values
        .chain([0])
        .chain(payload.iter().map(|value| value.to_u8()))
        .chain([0; 8]);
    let state = values.fold(1_u64, |state, value| {
        let top = state >> 35;
        let state = ((state & 0x07_ffff_ffff) << 5) ^ u64::from(value);
        GENERATOR
            .iter()
            .enumerate()
            .filter(|(bit, _)| (top >> bit) & 1 == 1)
            .fold(state, |state, (_, term)| state ^ term)
    });
    state ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the CashAddr specification, "Larger Test Vectors".
    #[test]
    fn a_cashaddr_is_that_of_the_specification() {
        let hash = hex::decode("f5bf48b397dae70be82b3cca4793f8eb2b6cdac9").unwrap();
        let address = cashaddr("bchtest", 8, hash.first_chunk().unwrap());
        assert_eq!(
            address,
            "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t"
        );
    }
}
