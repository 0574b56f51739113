//! Hexadecimal addresses with the checksum in their letters' case (EIP-55). Ethereum, BNB Chain.

use sha3::{Digest as _, Keccak256};

use super::KeyHash;

/// `0x…` in mixed case.
pub(crate) fn checksummed(account: &KeyHash) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_eip_55_come_out() {
        for address in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            let account = hex::decode(&address[2..]).unwrap();
            assert_eq!(checksummed(&account.try_into().unwrap()), address);
        }
    }
}
