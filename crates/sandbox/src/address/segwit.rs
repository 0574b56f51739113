//! Bech32 with witness version 0 (BIP-173). Bitcoin, Litecoin.

use bech32::{Hrp, segwit};

use super::KeyHash;

/// The pay-to-witness-public-key-hash address under a chain's human-readable part.
pub(crate) fn p2wpkh(hrp: &str, hash: &KeyHash) -> String {
    let hrp = Hrp::parse(hrp).expect("a chain's human-readable part is valid");
    segwit::encode_v0(hrp, hash).expect("20 bytes are a program of version 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_first_key_is_that_of_bip_173() {
        let hash = hex::decode("751e76e8199196d454941c45d1b3a323f1433bd6").unwrap();
        assert_eq!(
            p2wpkh("tb", &hash.try_into().unwrap()),
            "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
        );
    }
}
