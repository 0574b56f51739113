//! Addresses of Ethereum and of the chains made after it: `0x` and 40 hexadecimal digits, their case a checksum.
//!
//! Source: EIP-55.

use sha3::{Digest as _, Keccak256};

use super::AddressError;

pub(super) fn check(address: &str) -> Result<(), AddressError> {
    let digits = address.strip_prefix("0x").ok_or(AddressError::Malformed)?;
    if digits.len() != 40 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(AddressError::Malformed);
    }
    let lower = digits.to_ascii_lowercase();
    // In one case alone it carries no checksum.
    if digits == lower || digits == digits.to_ascii_uppercase() || digits == checksummed(&lower) {
        Ok(())
    } else {
        Err(AddressError::Checksum)
    }
}

/// The digits with every letter a capital whose place in the hash of all of them holds 8 or more.
fn checksummed(lower: &str) -> String {
    let hash = hex::encode(Keccak256::digest(lower.as_bytes()));
    let cased = |(digit, hash): (char, char)| match hash {
        '0'..='7' => digit,
        _ => digit.to_ascii_uppercase(),
    };
    lower.chars().zip(hash.chars()).map(cased).collect()
}
