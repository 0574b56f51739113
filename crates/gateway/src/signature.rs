//! The signature over a request: HMAC-SHA384 under the API secret.
//!
//! Source: payment-service.md, "Authentication" and "Signature". Known answers: `vectors/` (RFC 4231, Wycheproof).
//!
//! The specification does not list the endpoints that require the signature: GET /invoice does, and POST /checkout is
//! described with the header `apikey` alone. `Assumed:` every endpoint accepts `apikey`, `signature` and `nonce`, so they
//! are sent everywhere. An endpoint that refuses a signature would disprove it.

use core::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha384;

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
        // With its nonce it opens one request for as long as the gateway accepts the nonce.
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

/// HTTP methods of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates something.
    Post,
    /// Changes something.
    Put,
}

/// Whether a PUT signs its body.
///
/// The specification adds the body "for POST requests only". `Assumed:` that a PUT is therefore signed like a GET; a
/// 401 with `INVALID_SIGNATURE` for a PUT would disprove it, and the operator then changes this setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PutBody {
    /// Like a GET: the body is no part of the message.
    #[default]
    Unsigned,
    /// Like a POST.
    Signed,
}

/// How requests are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signing {
    /// Whether a PUT signs its body.
    pub put_body: PutBody,
}

impl Signing {
    /// The signature of a request; `body` is what is sent, whether it is signed or not.
    pub fn sign(
        self,
        secret: &SecretString,
        nonce: Nonce,
        method: Method,
        path_and_query: &str,
        body: Option<&[u8]>,
    ) -> Signature {
        let signed = match (method, self.put_body) {
            (Method::Get, _) | (Method::Put, PutBody::Unsigned) => None,
            (Method::Post, _) | (Method::Put, PutBody::Signed) => body,
        };
        sign(secret, nonce, path_and_query, signed)
    }
}

/// The header `nonce`: Unix seconds, written in decimal.
///
/// Source: payment-service.md, "Headers". How far it may be from the gateway's clock is not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nonce(i64);

impl Nonce {
    /// The nonce of a second.
    pub fn from_second(second: i64) -> Self {
        Self(second)
    }

    /// Its second.
    #[cfg(feature = "client")]
    pub(crate) fn second(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests;
