//! CashAddr, the addresses of Bitcoin Cash.
//!
//! `bech32` brings letters and arithmetic, and not its parser, which takes the separator `1` and the checksums of BIP-173 and
//! BIP-350: CashAddr has `:`, a prefix that may be left out, and a checksum of 40 bits.
//!
//! Source: the CashAddr specification, `spec/cashaddr.md` of bitcoincash.org.
//!
//! `Assumed:` the gateway writes this form, not the old Base58 one, which equals Bitcoin's; a
//! refused deposit address would disprove it.

use bech32::primitives::checksum::Checksum;
use bech32::primitives::iter::Checksummed;
use bech32::{ByteIterExt as _, Fe32, Fe32IterExt as _};

use crate::{AddressError, Network};

enum Bch {}

impl Checksum for Bch {
    type MidstateRepr = u64;
    const CODE_LENGTH: usize = 1023;
    const CHECKSUM_LENGTH: usize = 8;
    const GENERATOR_SH: [u64; 5] = [
        0x98_f2bc_8e61,
        0x79_b76d_99e2,
        0xf3_3e5f_b3c4,
        0xae_2eab_e2a8,
        0x1e_4f43_e470,
    ];
    const TARGET_RESIDUE: u64 = 1;
}

pub(crate) fn prefix(network: Network) -> &'static str {
    match network {
        Network::Main => "bitcoincash",
        Network::Test => "bchtest",
        Network::Regtest => "bchreg",
    }
}

pub(super) fn payload(address: &str) -> &str {
    address
        .split_once(':')
        .map_or(address, |(_, payload)| payload)
}

pub(super) fn check(address: &str, network: Network) -> Result<(), AddressError> {
    let upper = address.bytes().any(|b| b.is_ascii_uppercase());
    let lower = address.bytes().any(|b| b.is_ascii_lowercase());
    if upper && lower {
        return Err(AddressError::Malformed);
    }
    let address = address.to_ascii_lowercase();
    // The prefix may be left out, but takes part in the checksum.
    let (prefix, payload) = address
        .split_once(':')
        .unwrap_or((prefix(network), &address));
    let letters: Result<Vec<Fe32>, _> = payload.chars().map(Fe32::from_char).collect();
    let letters = letters.map_err(|_| AddressError::Malformed)?;
    let (data, _) = letters
        .split_last_chunk::<{ Bch::CHECKSUM_LENGTH }>()
        .ok_or(AddressError::Malformed)?;
    if write(prefix, data.iter().copied()) != format!("{prefix}:{payload}") {
        return Err(AddressError::Checksum);
    }
    if prefix != self::prefix(network) {
        return Err(AddressError::Foreign);
    }
    let bytes: Vec<u8> = data.iter().copied().fes_to_bytes().collect();
    // What is left over is less than a letter, and zero.
    if !bytes
        .iter()
        .copied()
        .bytes_to_fes()
        .eq(data.iter().copied())
    {
        return Err(AddressError::Malformed);
    }
    match bytes.as_slice() {
        // Version byte: type (0 key hash, 1 script hash) and size (0: 20 bytes, 3: 32 bytes).
        [0x00 | 0x08, hash @ ..] if hash.len() == 20 => Ok(()),
        [0x0b, hash @ ..] if hash.len() == 32 => Ok(()),
        _ => Err(AddressError::Malformed),
    }
}

#[cfg(feature = "deposit-keys")]
pub(super) fn of_key_hash(hash: &[u8], network: Network) -> String {
    let groups = [0x00].iter().chain(hash).copied().bytes_to_fes();
    write(prefix(network), groups)
}

/// Writes letters with their checksum, in which the prefix takes part.
fn write(prefix: &str, letters: impl Iterator<Item = Fe32>) -> String {
    let low = |char: u8| Fe32::try_from(char & 0x1f).expect("five bits are a letter");
    let checked = prefix.bytes().map(low).chain([Fe32::Q]).chain(letters);
    let payload = Checksummed::<_, Bch>::new(checked).skip(prefix.len() + 1);
    format!(
        "{prefix}:{}",
        payload.map(Fe32::to_char).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(version: u8, hash_bytes: usize) -> Vec<Fe32> {
        let bytes = [vec![version], vec![0; hash_bytes]].concat();
        bytes.into_iter().bytes_to_fes().collect()
    }

    fn checked(groups: Vec<Fe32>) -> Result<(), AddressError> {
        check(&write("bitcoincash", groups.into_iter()), Network::Main)
    }

    #[test]
    fn the_checksums_constants_agree() {
        Bch::sanity_check();
    }

    #[test]
    fn the_version_byte_and_the_hash_must_agree() {
        for (version, hash_bytes) in [(0x00, 20), (0x08, 20), (0x0b, 32)] {
            assert_eq!(checked(groups(version, hash_bytes)), Ok(()), "{version}");
        }
        // Sizes that contradict the version byte, a key hash of 32 bytes, and types for tokens.
        for (version, hash_bytes) in [
            (0x00, 19),
            (0x00, 32),
            (0x08, 32),
            (0x0b, 20),
            (0x03, 32),
            (0x10, 20),
            (0x80, 20),
        ] {
            let result = checked(groups(version, hash_bytes));
            assert_eq!(
                result,
                Err(AddressError::Malformed),
                "{version} {hash_bytes}"
            );
        }
    }

    #[test]
    fn what_is_left_over_must_be_short_and_zero() {
        let mut left_over = groups(0x00, 20);
        *left_over.last_mut().unwrap() = Fe32::P;
        assert_eq!(checked(left_over), Err(AddressError::Malformed));
        let mut whole_group = groups(0x00, 20);
        whole_group.push(Fe32::Q);
        assert_eq!(checked(whole_group), Err(AddressError::Malformed));
    }
}
