//! `Base58Check`: a version byte, the hash, four bytes of checksum. Dogecoin, Tron.

use super::KeyHash;

/// The address of a key's hash under a chain's version byte.
pub(crate) fn base58check(version: u8, hash: &KeyHash) -> String {
    bs58::encode(hash).with_check_version(version).into_string()
}

/// Plain base58 without a checksum: Solana.
pub(crate) fn base58(key: &[u8; 32]) -> String {
    bs58::encode(key).into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(hex: &str) -> KeyHash {
        hex::decode(hex).unwrap().try_into().unwrap()
    }

    #[test]
    fn a_bitcoin_address_of_the_first_key_is_the_published_one() {
        // Private key 1: the hash is that of BIP-173's examples.
        let hash = hash("751e76e8199196d454941c45d1b3a323f1433bd6");
        assert_eq!(base58check(0, &hash), "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH");
    }

    #[test]
    fn a_tron_address_is_the_published_one() {
        // The contract of Tether on Tron.
        let hash = hash("a614f803b6fd780986a42c78ec9c7f77e6ded13c");
        assert_eq!(
            base58check(0x41, &hash),
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
        );
    }
}
