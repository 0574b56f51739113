//! Segwit addresses: bech32 for witness version 0, bech32m for the later ones.
//!
//! Source: BIP-173, BIP-350; BIP-341 for version 1.

use bech32::primitives::decode::SegwitHrpstringError;
use bech32::segwit;

use super::AddressError;

/// The human-readable parts of the coins that have such addresses.
const HRPS: [&str; 4] = ["bc", "tb", "ltc", "tltc"];

/// Returns `true` if a text is written as such addresses are: begins as they do, and is of one case. In Base58 an address
/// of Tron may begin with `TB1` and one of Litecoin with `LTC1`, but 34 letters of it are not of one case.
pub(super) fn claims(address: &str) -> bool {
    let hrp = address.rsplit_once('1').map(|(hrp, _)| hrp);
    let is_one_case = address == address.to_lowercase() || address == address.to_uppercase();
    is_one_case && hrp.is_some_and(|hrp| HRPS.iter().any(|known| known.eq_ignore_ascii_case(hrp)))
}

pub(super) fn check(address: &str, hrp: Option<&str>) -> Result<(), AddressError> {
    let (found, version, program) = segwit::decode(address).map_err(|error| match error.0 {
        SegwitHrpstringError::Checksum(_) => AddressError::Checksum,
        _ => AddressError::Malformed,
    })?;
    if hrp.is_none_or(|hrp| found.to_lowercase() != hrp) {
        return Err(AddressError::Foreign);
    }
    match (version.to_u8(), program.len()) {
        (0, 20 | 32) | (1, 32) => Ok(()),
        // BIP-141 and BIP-341 leave the others to later rules: until then anyone may spend what is paid to them.
        _ => Err(AddressError::Unowned),
    }
}
