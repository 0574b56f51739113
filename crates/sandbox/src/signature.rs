//! Checks a signature, with lines that share nothing with those who sign.
//!
//! Source: payment-service.md, "Signature"; the known answers below were computed with two independent programs.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha384;

use crate::ApiSecret;

/// The text that must have been signed: `/api/`, the nonce, the path with its query as sent, the body as sent.
///
/// `Assumed:` the path begins with a slash and is the one below the base address.
pub(crate) fn signed_message(nonce: &str, path_and_query: &str, body: &[u8]) -> Vec<u8> {
    [b"/api/", nonce.as_bytes(), path_and_query.as_bytes(), body].concat()
}

/// Whether `signature` is the lower-case hexadecimal HMAC-SHA384 of the message. Takes as long for a wrong one.
pub(crate) fn is_signed(secret: &ApiSecret, message: &[u8], signature: &str) -> bool {
    let lower_case = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !signature.bytes().all(lower_case) {
        return false;
    }
    let Ok(digest) = hex::decode(signature) else {
        return false;
    };
    Hmac::<Sha384>::new_from_slice(secret.expose().as_bytes())
        .expect("HMAC takes a key of any length")
        .chain_update(message)
        .verify_slice(&digest)
        .is_ok()
}

/// The signature of a message, as it should have been.
pub(crate) fn sign(secret: &ApiSecret, message: &[u8]) -> String {
    let mac = Hmac::<Sha384>::new_from_slice(secret.expose().as_bytes())
        .expect("HMAC takes a key of any length")
        .chain_update(message);
    hex::encode(mac.finalize().into_bytes())
}

/// Whether JSON text has no blanks between its tokens.
///
/// The specification signs "compact JSON text". `Assumed:` the service writes the text anew from what it parsed, so
/// that a body with blanks would never match. Disproved by the test environment accepting one.
pub(crate) fn is_compact(json: &[u8]) -> bool {
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b' ' | b'\t' | b'\n' | b'\r' if !in_text => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_GET: &str = "08d1927a3668f9fc40259475a21fbd9f7b8927ac3fef83c42c96d145b03ad37a78d0f5effdeeae0db50d7be6cca9fd7e";
    const OF_POST: &str = "cfdd5018ab61c3176e81923efb7746c3ea0c5c2ec80b7d63239b1c425283a85cdc401f11962fb9d1e456dbba94018ae5";
    const BODY: &[u8] = br#"{"conversion_id":"c1","amount":"10.00"}"#;

    fn accepts(path: &str, body: &[u8], signature: &str) -> bool {
        let message = signed_message("1700000000", path, body);
        is_signed(&"test_secret".into(), &message, signature)
    }

    #[test]
    fn the_known_answers_are_accepted() {
        assert!(accepts("/invoice?id=inv_1", b"", OF_GET));
        assert!(accepts("/invoice", BODY, OF_POST));
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(!accepts("/invoice?id=inv_2", b"", OF_GET));
        assert!(!accepts("/invoice", b"{}", OF_POST));
        assert!(!accepts("/invoice", BODY, OF_GET));
        assert!(!accepts("/invoice", BODY, ""));
        assert!(!accepts("/invoice", BODY, &OF_POST[..94]));
        assert!(!accepts("/invoice", BODY, &OF_POST.to_uppercase()));
        let message = signed_message("1700000000", "/invoice", BODY);
        assert!(!is_signed(&"other_secret".into(), &message, OF_POST));
    }

    #[test]
    fn blanks_count_outside_of_texts_alone() {
        assert!(is_compact(br#"{"a b":"c \" d\\","e":[1,2]}"#));
        assert!(!is_compact(br#"{"a": "b"}"#));
        assert!(!is_compact(b"{}\n"));
        assert!(!is_compact(br#"{"a":"b\\" }"#));
    }
}
