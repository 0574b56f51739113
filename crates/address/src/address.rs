//! Addresses of an asset on its network, with an intact checksum.
//!
//! An address that was cut, mistyped or belongs to another coin costs the customer their money, so
//! every deposit address is checked before a customer sees it. What cannot be checked: that the
//! gateway owns it.
//!
//! Some networks share their addresses. Ethereum and BNB Chain do, on main and test networks alike; so do Tron's networks.
//! The test networks of Bitcoin and Litecoin share `m…` and `n…`, those of Bitcoin and Dogecoin `2…`, and each regtest
//! network has the Base58 addresses of its test network, but Dogecoin's has those of Bitcoin.

mod cashaddr;
#[cfg(feature = "deposit-keys")]
mod encode;

use bech32::primitives::decode::SegwitHrpstringError;
use bech32::segwit;
use florin_money::Asset;
use sha3::{Digest as _, Keccak256};

pub(crate) use self::cashaddr::prefix as cashaddr_prefix;
#[cfg(feature = "deposit-keys")]
pub(crate) use self::encode::{of_evm_key, of_script, of_tron_key};
use crate::{AddressError, Network};

/// Checks that `address` is an intact address of `asset` on `network`.
///
/// # Errors
/// [`AddressError`]; it never contains the address.
pub fn check(asset: Asset, address: &str, network: Network) -> Result<(), AddressError> {
    match asset {
        Asset::BCH => cashaddr::check(address, network),
        Asset::ETH | Asset::USDTERC20 | Asset::BNB => check_evm(address),
        _ => {
            let prefixes = prefixes(asset, network);
            let (versions, hrp) = prefixes.ok_or(AddressError::NoRules)?;
            if is_segwit(address) {
                check_segwit(address, hrp)
            } else {
                check_base58(address, versions)
            }
        }
    }
}

/// Returns `true` if two texts are the same address of an asset, where `one` is intact. Ignores the
/// case of hexadecimal digits and of bech32, and the prefix of a CashAddr.
pub(crate) fn same(asset: Asset, one: &str, other: &str) -> bool {
    let one_case = other == other.to_lowercase() || other == other.to_uppercase();
    match asset {
        Asset::ETH | Asset::USDTERC20 | Asset::BNB => one.eq_ignore_ascii_case(other),
        Asset::BCH => {
            one_case && cashaddr::payload(one).eq_ignore_ascii_case(cashaddr::payload(other))
        }
        _ if is_segwit(one) => one_case && one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}

/// Version bytes of `Base58Check`, of a key's hash and then of a script's, and the human-readable part of segwit addresses.
type Prefixes = (&'static [u8], Option<&'static str>);

/// `None` for a coin without such addresses.
///
/// Source: `src/kernel/chainparams.cpp` of Bitcoin Core, `src/chainparams.cpp` of Litecoin Core and of Dogecoin Core;
/// BIP-173; developers.tron.network, "Account address format".
///
/// Litecoin's old script addresses, which begin with the `3…` and `2…` of Bitcoin's, are refused: the two coins cannot be
/// distinguished. `Assumed:` the gateway writes the present form; a refused deposit address would disprove it.
fn prefixes(asset: Asset, network: Network) -> Option<Prefixes> {
    use Network::{Main, Regtest, Test};
    Some(match (asset, network) {
        (Asset::BTC, Main) => (&[0x00, 0x05], Some("bc")),
        (Asset::BTC, Test) => (&[0x6f, 0xc4], Some("tb")),
        (Asset::BTC, Regtest) => (&[0x6f, 0xc4], Some("bcrt")),
        (Asset::LTC, Main) => (&[0x30, 0x32], Some("ltc")),
        (Asset::LTC, Test) => (&[0x6f, 0x3a], Some("tltc")),
        (Asset::LTC, Regtest) => (&[0x6f, 0x3a], Some("rltc")),
        (Asset::DOGE, Main) => (&[0x1e, 0x16], None),
        (Asset::DOGE, Test) => (&[0x71, 0xc4], None),
        (Asset::DOGE, Regtest) => (&[0x6f, 0xc4], None),
        (Asset::TRX | Asset::USDTTRC20, _) => (&[0x41], None),
        _ => return None,
    })
}

/// Shortest and longest text that a version byte, 20 bytes and a checksum are written as.
const BASE58_LENGTHS: core::ops::RangeInclusive<usize> = 26..=35;

/// `Base58Check`: a version byte, a 20-byte hash and a checksum.
fn check_base58(address: &str, versions: &[u8]) -> Result<(), AddressError> {
    if !BASE58_LENGTHS.contains(&address.len()) {
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
        Err(bs58::decode::Error::InvalidChecksum { .. }) => Err(AddressError::Checksum),
        Ok(_) | Err(_) => Err(AddressError::Malformed),
    }
}

const SEGWIT_HRPS: [&str; 6] = ["bc", "tb", "bcrt", "ltc", "tltc", "rltc"];

/// Returns `true` if a text is written as such addresses are: begins as they do, and is of one case. In Base58 an address
/// of Tron may begin with `TB1` and one of Litecoin with `LTC1`, but 34 letters of it are not of one case.
fn is_segwit(address: &str) -> bool {
    let hrp = address.rsplit_once('1').map(|(hrp, _)| hrp);
    let is_one_case = address == address.to_lowercase() || address == address.to_uppercase();
    is_one_case
        && hrp.is_some_and(|hrp| {
            SEGWIT_HRPS
                .iter()
                .any(|known| known.eq_ignore_ascii_case(hrp))
        })
}

/// Segwit addresses: bech32 for witness version 0, bech32m for the later ones.
///
/// Source: BIP-173, BIP-350; BIP-341 for version 1.
fn check_segwit(address: &str, hrp: Option<&str>) -> Result<(), AddressError> {
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

/// Addresses of Ethereum and of the chains made after it: `0x` and 40 hexadecimal digits, their case a checksum.
///
/// Source: EIP-55.
fn check_evm(address: &str) -> Result<(), AddressError> {
    let digits = address.strip_prefix("0x").ok_or(AddressError::Malformed)?;
    if digits.len() != 40 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(AddressError::Malformed);
    }
    let lower = digits.to_ascii_lowercase();
    // In one case alone it carries no checksum.
    if digits == lower || digits == digits.to_ascii_uppercase() || digits == evm_checksummed(&lower)
    {
        Ok(())
    } else {
        Err(AddressError::Checksum)
    }
}

/// The digits with every letter a capital whose place in the hash of all of them holds 8 or more.
fn evm_checksummed(lower: &str) -> String {
    let hash = hex::encode(Keccak256::digest(lower.as_bytes()));
    let cased = |(digit, hash): (char, char)| match hash {
        '0'..='7' => digit,
        _ => digit.to_ascii_uppercase(),
    };
    lower.chars().zip(hash.chars()).map(cased).collect()
}

#[cfg(test)]
mod tests;
