//! What is signed: the one place that holds what the specification leaves open about it.
//!
//! Source: payment-service.md, "Authentication". Its list of endpoints that require the signature is not shown: GET
//! /invoice does, and POST /checkout is described with the header `apikey` alone.
//!
//! `Assumed:` every endpoint accepts `apikey`, `signature` and `nonce`, so they are sent everywhere. An endpoint that
//! refuses a signature would disprove it.

use secrecy::SecretString;

use crate::{Nonce, Signature, sign};

/// The methods that the service knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Asks.
    Get,
    /// Makes or tells something.
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

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: Option<&[u8]> = Some(b"{}");

    fn signed(signing: Signing, method: Method) -> Signature {
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
    fn only_a_post_signs_its_body_unless_told_otherwise() {
        let standard = Signing::default();
        assert_eq!(signed(standard, Method::Get), plain(None));
        assert_eq!(signed(standard, Method::Post), plain(BODY));
        assert_eq!(signed(standard, Method::Put), plain(None));
        let with_body = Signing {
            put_body: PutBody::Signed,
        };
        assert_eq!(signed(with_body, Method::Put), plain(BODY));
        assert_eq!(signed(with_body, Method::Get), plain(None));
    }
}
