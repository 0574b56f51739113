//! CashAddr, the addresses of Bitcoin Cash.
//!
//! It is written here and not with `bech32`, whose parser takes the separator `1` and the checksums of BIP-173 and BIP-350:
//! CashAddr has `:`, a prefix that may be left out, and a checksum of 40 bits.
//!
//! Source: the CashAddr specification, `spec/cashaddr.md` of bitcoincash.org.
//!
//! `Assumed:` the gateway writes this form, not the old Base58 one, which equals Bitcoin's; a
//! refused deposit address would disprove it.

#[cfg(feature = "deposit-keys")]
use bech32::{ByteIterExt as _, Fe32};

use crate::{AddressError, Network};

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const CHECKSUM: usize = 8;

pub(crate) fn prefix(network: Network) -> &'static str {
    match network {
        Network::Main => "bitcoincash",
        Network::Test => "bchtest",
        Network::Regtest => "bchreg",
    }
}

/// The address without its prefix.
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
    let payload: Vec<u8> = payload
        .bytes()
        .map(|char| ALPHABET.iter().position(|known| *known == char))
        .map(|value| value.and_then(|value| u8::try_from(value).ok()))
        .collect::<Option<_>>()
        .ok_or(AddressError::Malformed)?;
    let (data, _) = payload
        .split_last_chunk::<CHECKSUM>()
        .ok_or(AddressError::Malformed)?;
    let checked = prefix
        .bytes()
        .map(|char| char & 0x1f)
        .chain([0])
        .chain(payload.iter().copied());
    if polymod(checked) != 0 {
        return Err(AddressError::Checksum);
    }
    if prefix != self::prefix(network) {
        return Err(AddressError::Foreign);
    }
    match bytes(data).ok_or(AddressError::Malformed)?.as_slice() {
        // Version byte: type (0 key hash, 1 script hash) and size (0: 20 bytes, 3: 32 bytes).
        [0x00 | 0x08, hash @ ..] if hash.len() == 20 => Ok(()),
        [0x0b, hash @ ..] if hash.len() == 32 => Ok(()),
        _ => Err(AddressError::Malformed),
    }
}

/// The remainder of the values as a polynomial over GF(32); 0 for an intact address.
fn polymod(values: impl Iterator<Item = u8>) -> u64 {
    const GENERATOR: [u64; 5] = [
        0x98_f2bc_8e61,
        0x79_b76d_99e2,
        0xf3_3e5f_b3c4,
        0xae_2eab_e2a8,
        0x1e_4f43_e470,
    ];
    let remainder = values.fold(1, |remainder: u64, value| {
        let top = remainder >> 35;
        let shifted = ((remainder & 0x07_ffff_ffff) << 5) ^ u64::from(value);
        let reduce = |sum, (bit, term)| if top >> bit & 1 == 1 { sum ^ term } else { sum };
        GENERATOR.iter().enumerate().fold(shifted, reduce)
    });
    remainder ^ 1
}

/// Groups of five bits as bytes; `None` if what is left over is a whole group or not zero.
fn bytes(groups: &[u8]) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for group in groups {
        bits = bits << 5 | u32::from(*group);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("eight bits were kept"));
        }
    }
    let left_over = bits & ((1 << count) - 1);
    (count < 5 && left_over == 0).then_some(bytes)
}

/// Writes the hash of a key.
#[cfg(feature = "deposit-keys")]
pub(super) fn of_key_hash(hash: &[u8], network: Network) -> String {
    let groups = [0x00].iter().chain(hash).copied().bytes_to_fes();
    let groups: Vec<u8> = groups.map(Fe32::to_u8).collect();
    write(prefix(network), &groups)
}

/// Writes groups of five bits with their checksum.
#[cfg(any(test, feature = "deposit-keys"))]
fn write(prefix: &str, groups: &[u8]) -> String {
    let template = prefix
        .bytes()
        .map(|char| char & 0x1f)
        .chain([0])
        .chain(groups.iter().copied())
        .chain([0; CHECKSUM]);
    let sum = polymod(template);
    let checksum = (0..CHECKSUM)
        .rev()
        .map(|place| u8::try_from(sum >> (5 * place) & 0x1f).expect("five bits were kept"));
    let char = |group: u8| char::from(ALPHABET[usize::from(group)]);
    let payload = groups.iter().copied().chain(checksum).map(char);
    format!("{prefix}:{}", payload.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version byte and a hash of zeros, as groups.
    fn groups(version: u8, hash_bytes: usize) -> Vec<u8> {
        let bits = 8 * (1 + hash_bytes);
        let mut groups = vec![0; bits.div_ceil(5)];
        (groups[0], groups[1]) = (version >> 3, version << 2 & 0x1f);
        groups
    }

    fn checked(groups: &[u8]) -> Result<(), AddressError> {
        check(&write("bitcoincash", groups), Network::Main)
    }

    #[test]
    fn the_version_byte_and_the_hash_must_agree() {
        for (version, hash_bytes) in [(0x00, 20), (0x08, 20), (0x0b, 32)] {
            assert_eq!(checked(&groups(version, hash_bytes)), Ok(()), "{version}");
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
            let result = checked(&groups(version, hash_bytes));
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
        *left_over.last_mut().unwrap() = 1;
        assert_eq!(checked(&left_over), Err(AddressError::Malformed));
        let mut whole_group = groups(0x00, 20);
        whole_group.push(0);
        assert_eq!(checked(&whole_group), Err(AddressError::Malformed));
    }
}
