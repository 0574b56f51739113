//! Addresses written from scripts and public keys.

use bech32::segwit;
use bech32::{Fe32, Hrp};
use florin_money::Asset;
use miniscript::bitcoin::{PublicKey, Script};
use sha3::{Digest as _, Keccak256};

use super::{cashaddr, evm_checksummed, prefixes};
use crate::Network;

/// The address of a script of Bitcoin's family; `None` for a script that has none on the asset's chain.
pub(crate) fn of_script(asset: Asset, network: Network, script: &Script) -> Option<String> {
    let bytes = script.as_bytes();
    if asset == Asset::BCH {
        let hash = script.is_p2pkh().then(|| bytes.get(3..23))??;
        return Some(cashaddr::of_key_hash(hash, network));
    }
    let (versions, hrp) = prefixes(asset, network)?;
    match script.witness_version() {
        Some(version) => {
            let version = Fe32::try_from(version.to_num()).ok()?;
            let hrp = Hrp::parse(hrp?).ok()?;
            segwit::encode(hrp, version, bytes.get(2..)?).ok()
        }
        None if script.is_p2pkh() => Some(base58(*versions.first()?, bytes.get(3..23)?)),
        None if script.is_p2sh() => Some(base58(*versions.get(1)?, bytes.get(2..22)?)),
        None => None,
    }
}

/// Source: EIP-55.
pub(crate) fn of_evm_key(key: PublicKey) -> String {
    let digits = hex::encode(account(key));
    format!("0x{}", evm_checksummed(&digits))
}

/// Source: developers.tron.network, "Account address format".
pub(crate) fn of_tron_key(key: PublicKey) -> String {
    base58(0x41, &account(key))
}

/// The last 20 bytes of the hash of the key's coordinates. Source: the Yellow Paper of Ethereum, appendix F.
fn account(key: PublicKey) -> [u8; 20] {
    let [_, coordinates @ ..] = key.inner.serialize_uncompressed();
    let hash: [u8; 32] = Keccak256::digest(coordinates).into();
    *hash.last_chunk().expect("a hash is longer")
}

fn base58(version: u8, hash: &[u8]) -> String {
    bs58::encode([&[version], hash].concat())
        .with_check()
        .into_string()
}
