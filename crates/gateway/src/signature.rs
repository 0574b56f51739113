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

impl Method {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
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
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        tests: Vec<Vector>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Vector {
        tc_id: u32,
        key: String,
        msg: String,
        tag: String,
        tag_size: usize,
        result: String,
    }

    /// Checks every vector of a file and returns how many are valid and how many are not.
    #[track_caller]
    fn check(file: &str) -> (usize, usize) {
        let vectors: Vectors = serde_json::from_str(file).unwrap();
        let mut counts = (0, 0);
        for vector in vectors.tests {
            let [key, message] = [&vector.key, &vector.msg].map(|text| hex::decode(text).unwrap());
            let digits = hex::encode(hmac_sha384(&key, &[&message]));
            let same = digits[..vector.tag_size / 4] == vector.tag;
            match vector.result.as_str() {
                "valid" => counts.0 += 1,
                "invalid" => counts.1 += 1,
                other => panic!("unknown result {other}"),
            }
            assert_eq!(same, vector.result == "valid", "test {}", vector.tc_id);
        }
        counts
    }

    #[test]
    fn every_case_of_rfc_4231_is_met() {
        assert_eq!(
            check(include_str!("../vectors/rfc4231_hmac_sha384.json")),
            (7, 0)
        );
    }

    #[test]
    fn wycheproof_tags_are_met_and_modified_ones_are_not() {
        let (valid, invalid) = check(include_str!("../vectors/wycheproof_hmac_sha384.json"));
        assert_eq!(valid + invalid, 36);
        assert!(
            valid >= 14 && invalid >= 20,
            "{valid} valid, {invalid} invalid"
        );
    }

    fn signed(path: &str, body: Option<&[u8]>) -> Signature {
        sign(
            &SecretString::from("test_secret"),
            Nonce::from_second(1_700_000_000),
            path,
            body,
        )
    }

    // The two responses were computed with two independent programs.
    #[test]
    fn a_get_signs_its_path_with_the_query() {
        assert_eq!(
            signed("/invoice?id=inv_1", None).as_str(),
            "08d1927a3668f9fc40259475a21fbd9f7b8927ac3fef83c42c96d145b03ad37a\
         78d0f5effdeeae0db50d7be6cca9fd7e"
        );
    }

    #[test]
    fn a_post_signs_the_bytes_of_its_body_too() {
        assert_eq!(
            signed(
                "/invoice",
                Some(br#"{"conversion_id":"c1","amount":"10.00"}"#)
            )
            .as_str(),
            "cfdd5018ab61c3176e81923efb7746c3ea0c5c2ec80b7d63239b1c425283a85c\
         dc401f11962fb9d1e456dbba94018ae5"
        );
    }

    #[test]
    fn a_signature_is_not_printed() {
        assert_eq!(
            format!("{:?}", signed("/prices", None)),
            "Signature([redacted])"
        );
    }

    const BODY: Option<&[u8]> = Some(b"{}");

    fn signed_as(signing: Signing, method: Method) -> Signature {
        let secret = SecretString::from("test_secret");
        signing.sign(&secret, Nonce::from_second(1), method, "/settings", BODY)
    }

    fn plain(body: Option<&[u8]>) -> Signature {
        sign(
            &SecretString::from("test_secret"),
            Nonce::from_second(1),
            "/settings",
            body,
        )
    }

    #[test]
    fn only_a_post_signs_its_body_by_default() {
        let standard = Signing::default();
        assert_eq!(signed_as(standard, Method::Get), plain(None));
        assert_eq!(signed_as(standard, Method::Post), plain(BODY));
        assert_eq!(signed_as(standard, Method::Put), plain(None));
        let with_body = Signing {
            put_body: PutBody::Signed,
        };
        assert_eq!(signed_as(with_body, Method::Put), plain(BODY));
        assert_eq!(signed_as(with_body, Method::Get), plain(None));
    }
}
