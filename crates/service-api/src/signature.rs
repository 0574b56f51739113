//! The signature over a request: HMAC-SHA384 under the API secret.
//!
//! Source: payment-service.md, "Signature". Known answers: `vectors/` (RFC 4231, Wycheproof).

use core::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha384;

use crate::Nonce;

/// The header `signature`: 96 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(String);

impl Signature {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With its nonce it opens one request for as long as the service accepts the nonce.
        f.write_str("Signature([redacted])")
    }
}

/// Signs `"/api/" + nonce + path_and_query + body`, over exactly the bytes given.
///
/// `path_and_query` is the endpoint's own path with its query as sent: it begins with a slash and leaves out the path
/// of the base address. `Assumed:` a 401 for a base address that ends in `/api` would disprove it.
pub fn sign(
    secret: &SecretString,
    nonce: Nonce,
    path_and_query: &str,
    body: Option<&[u8]>,
) -> Signature {
    let nonce = nonce.to_string();
    let message = [
        b"/api/",
        nonce.as_bytes(),
        path_and_query.as_bytes(),
        body.unwrap_or_default(),
    ];
    Signature(hex::encode(hmac_sha384(
        secret.expose_secret().as_bytes(),
        &message,
    )))
}

/// The code of the parts joined.
fn hmac_sha384(key: &[u8], message: &[&[u8]]) -> [u8; 48] {
    let mut mac = Hmac::<Sha384>::new_from_slice(key).expect("HMAC takes a key of any length");
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests;
