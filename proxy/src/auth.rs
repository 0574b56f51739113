//! Authentication: tokens of clients and staff, signed order tokens, store keys, operators.

pub(crate) mod operator;
pub(crate) mod order_token;
pub(crate) mod token;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

pub(crate) fn is_secret(expected: &SecretString, given: &str) -> bool {
    is_same(expected.expose_secret(), given)
}

/// Compares by digest and in constant time: the time reveals nothing, not even the length.
pub(crate) fn is_same(expected: &str, given: &str) -> bool {
    let expected = Sha256::digest(expected.as_bytes());
    let given = Sha256::digest(given.as_bytes());
    expected.as_slice().ct_eq(given.as_slice()).into()
}

pub(crate) fn mac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}
