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

/// Signs `"/api/" + nonce + path_and_query + body`, over exactly the bytes given: the header `signature`, 96 lower-case
/// hexadecimal digits. With its nonce it opens one request for as long as the gateway accepts the nonce.
///
/// `path_and_query` is the endpoint's own path with its query as sent: it begins with a slash and leaves out the path
/// of the base address. `Assumed:` a 401 for a base address that ends in `/api` would disprove it.
pub fn sign(
    secret: &SecretString,
    nonce: Nonce,
    path_and_query: &str,
    body: Option<&[u8]>,
) -> SecretString {
    let nonce = nonce.to_string();
    let message = [
        b"/api/",
        nonce.as_bytes(),
        path_and_query.as_bytes(),
        body.unwrap_or_default(),
    ];
    let code = hmac_sha384(secret.expose_secret().as_bytes(), &message);
    SecretString::from(hex::encode(code))
}

fn hmac_sha384(key: &[u8], message: &[&[u8]]) -> [u8; 48] {
    let mut mac = Hmac::<Sha384>::new_from_slice(key).expect("HMAC takes a key of any length");
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
}

impl Method {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    /// Returns `true` if the signature covers the body.
    ///
    /// The specification adds the body "for POST requests only". `Assumed:` that a PUT is therefore signed like a GET; a
    /// 401 with `INVALID_SIGNATURE` for a PUT would disprove it, and the operator then sets `sign_put_body`.
    #[cfg(feature = "client")]
    pub(crate) fn signs_body(self, sign_put_body: bool) -> bool {
        match self {
            Self::Get => false,
            Self::Post => true,
            Self::Put => sign_put_body,
        }
    }
}

/// The header `nonce`: Unix seconds, written in decimal.
///
/// Source: payment-service.md, "Headers". How far it may be from the gateway's clock is not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nonce(i64);

impl Nonce {
    pub fn from_second(second: i64) -> Self {
        Self(second)
    }

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
mod tests {
    use serde_json::Value;

    use super::*;

    /// Checks every vector of a file and returns how many there are, and how many are valid.
    #[track_caller]
    fn check(file: &str) -> (usize, usize) {
        let file: Value = serde_json::from_str(file).unwrap();
        let vectors = file["tests"].as_array().unwrap();
        let mut valid = 0;
        for vector in vectors {
            let text = |name: &str| vector[name].as_str().unwrap();
            let [key, message] = ["key", "msg"].map(|name| hex::decode(text(name)).unwrap());
            let is_valid = text("result") == "valid";
            let digits = hex::encode(hmac_sha384(&key, &[&message]));
            assert_eq!(digits.starts_with(text("tag")), is_valid, "{vector}");
            valid += usize::from(is_valid);
        }
        (vectors.len(), valid)
    }

    #[test]
    fn published_vectors_are_met_and_modified_tags_are_not() {
        let rfc_4231 = include_str!("../vectors/rfc4231_hmac_sha384.json");
        assert_eq!(check(rfc_4231), (7, 7));
        let wycheproof = include_str!("../vectors/wycheproof_hmac_sha384.json");
        assert_eq!(check(wycheproof), (36, 16));
    }

    // The two signatures were computed with two independent programs.
    #[test]
    fn path_with_query_and_body_are_signed() {
        let of_get = "08d1927a3668f9fc40259475a21fbd9f7b8927ac3fef83c42c96d145b03ad37a\
                      78d0f5effdeeae0db50d7be6cca9fd7e";
        let of_post = "cfdd5018ab61c3176e81923efb7746c3ea0c5c2ec80b7d63239b1c425283a85c\
                       dc401f11962fb9d1e456dbba94018ae5";
        let body = br#"{"conversion_id":"c1","amount":"10.00"}"#;
        for (path, body, expected) in [
            ("/invoice?id=inv_1", None, of_get),
            ("/invoice", Some(&body[..]), of_post),
        ] {
            let secret = SecretString::from("test_secret");
            let signature = sign(&secret, Nonce::from_second(1_700_000_000), path, body);
            assert_eq!(signature.expose_secret(), expected, "{path}");
        }
    }

    #[cfg(feature = "client")]
    #[test]
    fn a_post_signs_its_body_and_a_put_when_it_is_set() {
        for (method, expected) in [
            (Method::Get, [false, false]),
            (Method::Post, [true, true]),
            (Method::Put, [false, true]),
        ] {
            let signed = [false, true].map(|is_set| method.signs_body(is_set));
            assert_eq!(signed, expected, "{method:?}");
        }
    }
}
