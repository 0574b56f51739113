//! CashAddr, Bitcoin Cash's own address format.
//!
//! Source: the CashAddr specification, reference.cash/protocol/blockchain/encoding/cashaddr.

use super::KeyHash;

const CHARSET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// Version byte: pay to public key hash, 160 bits.
const P2PKH_160: u8 = 0;

/// `prefix:payload` for the hash of a public key.
pub(crate) fn cashaddr_p2pkh(prefix: &str, hash: &KeyHash) -> String {
    cashaddr(prefix, P2PKH_160, hash)
}

fn cashaddr(prefix: &str, version: u8, hash: &KeyHash) -> String {
    let payload = groups_of_five(core::iter::once(version).chain(hash.iter().copied()));
    let checksum = checksum(prefix, &payload);
    let letters = payload
        .into_iter()
        .chain((0..8).rev().map(|group| five_bits(checksum >> (5 * group))))
        .map(|value| char::from(CHARSET[usize::from(value)]));
    format!("{prefix}:{}", letters.collect::<String>())
}

fn groups_of_five(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let (mut groups, mut buffer, mut bits) = (Vec::new(), 0_u64, 0);
    for byte in bytes {
        buffer = (buffer << 8) | u64::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            groups.push(five_bits(buffer >> bits));
        }
        buffer &= (1 << bits) - 1;
    }
    if bits > 0 {
        groups.push(five_bits(buffer << (5 - bits)));
    }
    groups
}

fn five_bits(value: u64) -> u8 {
    u8::try_from(value & 31).expect("five bits fit a byte")
}

fn checksum(prefix: &str, payload: &[u8]) -> u64 {
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
        .chain(payload.iter().copied())
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

    // Source: the specification's "Larger test vectors", 20 bytes.
    const HASH: &str = "f5bf48b397dae70be82b3cca4793f8eb2b6cdac9";

    fn hash() -> KeyHash {
        hex::decode(HASH).unwrap().try_into().unwrap()
    }

    #[test]
    fn the_specifications_examples_come_out() {
        assert_eq!(
            cashaddr("bitcoincash", 0, &hash()),
            "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2"
        );
        assert_eq!(
            cashaddr("bchtest", 1 << 3, &hash()),
            "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t"
        );
    }

    #[test]
    fn a_key_hash_of_the_test_network_begins_with_q() {
        assert!(cashaddr_p2pkh("bchtest", &hash()).starts_with("bchtest:q"));
    }
}
