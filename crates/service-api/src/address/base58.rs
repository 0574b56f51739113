//! `Base58Check`: a version byte, a 20-byte hash and a checksum.

use bs58::decode::Error;

use super::AddressError;

/// Shortest and longest text that a version byte, 20 bytes and a checksum are written as.
const LENGTHS: core::ops::RangeInclusive<usize> = 26..=35;

pub(super) fn check(address: &str, versions: &[u8]) -> Result<(), AddressError> {
    if !LENGTHS.contains(&address.len()) {
        return Err(AddressError::Malformed);
    }
    let payload = bs58::decode(address).with_check(None).into_vec();
    match payload.as_deref() {
        Ok([version, hash @ ..]) if hash.len() == 20 => {
            if versions.contains(version) {
                Ok(())
            } else {
                Err(AddressError::Foreign)
            }
        }
        Err(Error::InvalidChecksum { .. }) => Err(AddressError::Checksum),
        Ok(_) | Err(_) => Err(AddressError::Malformed),
    }
}
